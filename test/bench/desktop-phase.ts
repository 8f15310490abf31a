/**
 * What the desktop costs beyond the engine, in the double of Electron: memory while its window is closed, and the delay
 * of a change in its tray.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type OpenedDesktop, openDesktop, orderer, startMain } from '../electron/open-desktop.ts';
import { eventually } from '../support/eventually.ts';
import { testKey } from '../support/gateway.ts';
import { json, startUpstream } from '../support/upstream.ts';
import type { Bench } from './measuring.ts';
import { canMeasure, endProcess, ownMb } from './proc.ts';

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
