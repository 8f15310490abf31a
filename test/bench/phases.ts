/** The phases of a round and their figures. Every gateway runs each phase; the order rotates. */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type OpenedDesktop, openDesktop, orderer, startMain } from '../electron/open-desktop.ts';
import { eventually } from '../support/eventually.ts';
import { testKey } from '../support/gateway.ts';
import { json, startUpstream } from '../support/upstream.ts';
import type { GatewayName } from './launches.ts';
import type { Job } from './load.ts';
import {
  type Bench,
  canMeasure,
  endProcess,
  forgetPeak,
  fullConnections,
  measure,
  ownMb,
  peakMb,
  streamConnections,
  targets,
  turned,
} from './measuring.ts';
import type { Address } from './payloads.ts';
import { type Column, median, quantile } from './samples.ts';
import { translatedPhase } from './translated-phase.ts';
import { windowPhase } from './window-phase.ts';

// What the desktop costs beyond the engine, in the double of Electron: memory while its window is closed, and the delay
// of a change in its tray.

const program = join(import.meta.dirname, '../../dist/program/cli.js');
const settleMs = 1_500;

export async function desktopPhase(bench: Bench): Promise<void> {
  const upstream = await startUpstream((_request, response) => json(response, { id: 'x', choices: [] }));
  const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
  const desktop = await openDesktop({ config: { providers } });
  try {
    const baseUrl = await desktop.baseUrl();
    await ask(baseUrl);
    await closeWindow(desktop);
    if (canMeasure) {
      const withDesktopMb = await settledMb(desktop.child);
      bench.samples.add('desktop.addedMb', 'sluice', withDesktopMb - (await headlessMb(providers)));
    }
    await measureToggle(bench, desktop, baseUrl);
  } finally {
    await desktop.close();
    await upstream.stop();
  }
}

/** The engine alone. Its process loads the double too, so that the double does not count in the difference. */
async function headlessMb(providers: object[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  const config = { version: 1, providers, groups: [{ id: 'default' }], keys: [], settings: { port: 0 } };
  writeFileSync(join(dataDir, 'config.json'), JSON.stringify(config));
  const { child, output } = startMain(folder, { main: program, args: ['serve', '--json'] });
  const baseUrl = await eventually(() => /"baseUrl":"([^"]+)"/.exec(output.stdout)?.[1] ?? null);
  await ask(baseUrl);
  const usedMb = await settledMb(child);
  child.kill('SIGTERM');
  await endProcess(child);
  rmSync(folder, { recursive: true, force: true });
  return usedMb;
}

/** Closes the window after a person could have looked at it. */
async function closeWindow(desktop: OpenedDesktop): Promise<void> {
  const page = await desktop.page();
  await page.getByRole('status').getByText('Serving').waitFor();
  await desktop.order('closeWindow');
  await eventually(async () => (await desktop.state()).windows.every(({ isShown }) => !isShown));
}

/**
 * Memory in use, after a garbage collection: the window's files, sent to Chromium, leave garbage, and more in the
 * double than in Electron.
 */
async function settledMb(child: ChildProcess): Promise<number> {
  await setTimeout(settleMs);
  await orderer(child)('collectGarbage');
  return ownMb(child.pid ?? 0);
}

/** Measures the time from the click until the tray shows the change, and whether the next request is refused. */
async function measureToggle(bench: Bench, desktop: OpenedDesktop, baseUrl: string): Promise<void> {
  const beganMs = performance.now();
  await desktop.order('clickMenu', { id: 'provider:main' });
  await eventually(async () => (await isOn(desktop)) === false);
  bench.samples.add('desktop.toggleMs', 'sluice', performance.now() - beganMs);
  bench.samples.add('desktop.answeredAfterToggle', 'sluice', (await ask(baseUrl)) === 200 ? 1 : 0);
}

async function isOn(desktop: OpenedDesktop): Promise<boolean | null> {
  const { tray } = await desktop.state();
  return tray?.menu.find(({ id }) => id === 'provider:main')?.checked ?? null;
}

async function ask(baseUrl: string): Promise<number> {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-x', messages: [] }),
  });
  await response.arrayBuffer();
  return response.status;
}

// Streams: many at once at the pace of a model, and a few at full speed.

const fullMs = 1_000;

export async function paced(bench: Bench): Promise<void> {
  const firstUs = new Map<Column, number>();
  const burstUs = new Map<Column, number>();
  for (const target of await targets(bench, true, 'streams')) {
    if (target.pid) forgetPeak(target.pid);
    const connections = Math.round(streamConnections * bench.scale);
    const job = { to: target.address, request: 'paced', connections } as const;
    const { result, usedUs } = await measure(bench, target, { kind: 'streams', ...job });
    firstUs.set(target.name, median(result.firstUs));
    if (target.pid) {
      bench.samples.add('paced.cpuUs', target.name, usedUs / result.events);
      bench.samples.add('paced.peakMb', target.name, peakMb(target.pid));
    }
    const burst = await measure(bench, target, { kind: 'burst', ...job });
    burstUs.set(target.name, quantile(burst.result.firstUs, 0.99));
  }
  const added = (times: Map<Column, number>, name: Column) =>
    (times.get(name) ?? Number.NaN) - (times.get('direct') ?? Number.NaN);
  for (const name of bench.compared()) {
    bench.samples.add('paced.firstUs', name, added(firstUs, name));
    bench.samples.add('paced.burstFirstMs', name, added(burstUs, name) / 1_000);
  }
}

export async function full(bench: Bench): Promise<void> {
  for (const request of ['full-asked', 'full'] as const) {
    const durationMs = fullMs * bench.scale;
    for (const target of await targets(bench, false)) {
      const job: Job = { kind: 'loop', to: target.address, request, connections: fullConnections, durationMs };
      const { result, usedUs } = await measure(bench, target, job);
      bench.samples.add(`${request}.mbPerSecond`, target.name, result.bytes / (result.wallMs * 1_000));
      bench.samples.add(`${request}.cpuUs`, target.name, usedUs / result.events);
    }
  }
}

/** The gateways whose added latency is measured; that of the others is not of interest. */
const timed: readonly GatewayName[] = ['pipe', 'express', 'sluice'];
const plainConnections = 32;
const plainMs = 1_200;
const alternations = 1_000;
const uploads = 8;
const startsPerRound = 2;
const growthMs = 1_000;

export const phases: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  start,
  latency,
  plain,
  paced,
  full,
  translated: translatedPhase,
  upload,
  growth,
  window: windowPhase,
  desktop: desktopPhase,
};

async function start(bench: Bench): Promise<void> {
  // The very first start reads the program from disk.
  const uncounted = bench.round === 0 ? 1 : 0;
  const starts = uncounted + Math.ceil(startsPerRound * bench.scale);
  for (let number = 0; number < starts; number++) {
    for (const name of turned(bench.compared(), bench.round)) {
      const gateway = await bench.start(name);
      await gateway.stop();
      if (number < uncounted) continue;
      bench.samples.add('start.firstAnswerMs', name, gateway.firstAnswerMs);
      bench.samples.add('start.idleMb', name, gateway.idleRssMb);
    }
  }
}

async function latency(bench: Bench): Promise<void> {
  for (const name of turned(timed, bench.round)) {
    const gateway = await bench.running(name);
    const count = Math.round(alternations * bench.scale);
    const to: [Address, Address] = [{ port: bench.upstreamPort }, gateway.address];
    const { result } = await measure(bench, gateway, { kind: 'alternate', to, request: 'short', count });
    for (const [share, figure] of [[0.5, 'latency.p50Us'] as const, [0.99, 'latency.p99Us'] as const]) {
      const added = quantile(result.secondUs, share) - quantile(result.firstUs, share);
      bench.samples.add(figure, name, added);
    }
  }
}

async function plain(bench: Bench): Promise<void> {
  for (const request of ['short', 'long-question', 'long-answer'] as const) {
    const durationMs = plainMs * bench.scale;
    for (const target of await targets(bench, request === 'short')) {
      const job: Job = { kind: 'loop', to: target.address, request, connections: plainConnections, durationMs };
      const { result, usedUs } = await measure(bench, target, job);
      bench.samples.add(`plain.${request}.perSecond`, target.name, result.done / (result.wallMs / 1_000));
      if (target.name === 'direct') continue;
      bench.samples.add(`plain.${request}.cpuUs`, target.name, usedUs / result.done);
      bench.samples.add(`plain.${request}.busyPercent`, target.name, usedUs / (result.wallMs * 10));
    }
  }
}

/** Uses a new gateway, so that memory from earlier phases does not hide what uploads need. */
async function upload(bench: Bench): Promise<void> {
  for (const name of turned(bench.compared(), bench.round)) {
    const gateway = await bench.start(name);
    forgetPeak(gateway.pid);
    const ask = (count: number) =>
      measure(bench, gateway, {
        kind: 'loop',
        to: gateway.address,
        request: 'upload',
        connections: 1,
        durationMs: 20_000,
        count,
      });
    await ask(2);
    const { result, usedUs } = await ask(Math.ceil(uploads * bench.scale));
    bench.samples.add('upload.cpuMs', name, usedUs / result.done / 1_000);
    bench.samples.add('upload.growthMb', name, peakMb(gateway.pid) - gateway.idleRssMb);
    await gateway.stop();
  }
}

/** Sluice with an empty and with a large ledger, each twice per round, the second time in reverse order. */
async function growth(bench: Bench): Promise<void> {
  const usedUs: Record<string, number> = {};
  const done: Record<string, number> = {};
  for (const name of ['sluice-empty', 'sluice-full', 'sluice-full', 'sluice-empty'] as const) {
    const gateway = await bench.running(name);
    const durationMs = growthMs * bench.scale;
    const job: Job = { kind: 'loop', to: gateway.address, request: 'short', connections: plainConnections, durationMs };
    const measured = await measure(bench, gateway, job);
    usedUs[name] = (usedUs[name] ?? 0) + measured.usedUs;
    done[name] = (done[name] ?? 0) + measured.result.done;
  }
  for (const name of ['sluice-empty', 'sluice-full'] as const) {
    bench.samples.add('growth.cpuUs', name, (usedUs[name] ?? 0) / (done[name] ?? 0));
  }
}
