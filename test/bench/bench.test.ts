import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('the bench measures a phase on each gateway and prints its table', async () => {
  const json = join(folder, 'figures.json');
  const run = ['test/bench/run.ts', '--quick', '--phases', 'latency', '--program', 'server/cli.ts', '--json', json];
  const { stdout } = await promisify(execFile)(process.execPath, run, { cwd: root });
  expect(stdout).toContain('added p50, µs');
  expect(stdout).toContain('Wrong or broken answers: none.');
  const { figures, errors } = JSON.parse(readFileSync(json, 'utf8'));
  expect(errors).toEqual({});
  for (const name of ['pipe', 'express', 'sluice'])
    expect(figures['latency.p50Us'][name]).toEqual([expect.any(Number)]);
});
