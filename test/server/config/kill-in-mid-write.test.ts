import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { configSchema } from '../../../server/contract/config.ts';
import { prepareDataFolder, removeLeftovers } from '../../../server/data-folder/claim-folder.ts';
import { isSweep } from '../../support/sweep.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-config-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Each kill hits another moment; a sweep tries many. */
const kills = isSweep ? 20 : 4;

/**
 * Runs the loop until it has begun a few commits, kills it after a random delay, and resolves with the last mark that
 * it began.
 */
async function commitAndKill(path: string): Promise<number> {
  const script = join(import.meta.dirname, 'commit-loop.ts');
  const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  const begun = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (piece) => {
      output += piece;
      if (output.split('\n').length > 2) resolve();
    });
    child.on('exit', (code) => reject(new Error(`the loop ended by itself: ${code}`)));
  });
  await begun;
  const closed = new Promise((resolve) => child.on('close', resolve));
  // The delay hits a different moment each time; it does not wait for a condition.
  await wait(Math.random() * 40);
  child.kill('SIGKILL');
  await closed;
  return Number(output.trimEnd().split('\n').at(-1));
}

test(`kill -9 in mid-write loses no configuration, ${kills} times`, async () => {
  const path = join(folder, 'config.json');
  let least = 0;
  for (let round = 0; round < kills; round++) {
    const lastBegun = await commitAndKill(path);
    const { port, allowedHosts } = configSchema.parse(JSON.parse(await readFile(path, 'utf8'))).settings;
    // All commits before the interrupted one are stored, and the interrupted one is stored completely or not at all.
    expect([lastBegun - 1, lastBegun]).toContain(port);
    expect(port).toBeGreaterThan(least);
    expect(allowedHosts).toHaveLength(2_000);
    expect(allowedHosts.every((host) => host.startsWith(`host-${port}-`))).toBe(true);
    least = port;
  }
  removeLeftovers(prepareDataFolder(folder));
  expect((await readdir(folder)).sort()).toEqual(['config.backup.json', 'config.json', 'logs', 'tmp']);
});
