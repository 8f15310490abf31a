/** The phases of a round and their figures. Every gateway runs each phase; the order rotates. */
import { desktopPhase } from './desktop-phase.ts';
import type { GatewayName } from './launches.ts';
import type { Job } from './load.ts';
import { type Bench, measure, targets, turned } from './measuring.ts';
import type { Address } from './payloads.ts';
import { forgetPeak, peakMb } from './proc.ts';
import { quantile } from './samples.ts';
import { full, paced } from './stream-phases.ts';
import { translatedPhase } from './translated-phase.ts';
import { windowPhase } from './window-phase.ts';

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
