import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { checkout } from '../../support/program.ts';

const run = promisify(execFile);

/** Allocates objects of which half survive a collection. Prints the largest size of the young generation in MB. */
const allocate = `
const { getHeapSpaceStatistics } = require('node:v8');
let kept = [], largest = 0;
for (let round = 0; round < 120; round++) {
  for (let index = 0; index < 60_000; index++) kept.push({ round, pair: [round, index] });
  if (kept.length > 400_000) kept = kept.slice(200_000);
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  largest = Math.max(largest, young.space_size / 1024 / 1024);
  await new Promise((resolve) => setImmediate(resolve));
}
console.log(largest);
process.exit();`;

async function largestMb(before: string): Promise<number> {
  const program = join(checkout, 'server/cli/bound-young-generation.ts');
  const source = `(async () => { const { boundYoungGeneration } = await import(${JSON.stringify(program)}); ${before} ${allocate} })()`;
  const { stdout } = await run(process.execPath, ['-e', source]);
  return Number(stdout);
}

describe('the young generation of objects', () => {
  test('stays within a step of 32 MB where it is bounded, and grows far beyond where it is not', async () => {
    expect(await largestMb('boundYoungGeneration();')).toBeLessThanOrEqual(64);
    expect(await largestMb('')).toBeGreaterThanOrEqual(96);
  });

  test('grows again once that is taken back', async () => {
    expect(await largestMb('boundYoungGeneration()();')).toBeGreaterThanOrEqual(96);
  });
});
