import { describe, expect, test } from 'vitest';
import { runWithModule } from './run-with-module.ts';

/**
 * Allocates until the young generation has its full size, pauses until V8 would shrink it, has it shrunk, and allocates
 * again. Prints its sizes in MB: full, shrunk, and after a second and a half of work.
 */
const pause = `
const { getHeapSpaceStatistics } = require('node:v8');
const youngMb = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 1024 / 1024;
// By processor time: on a busy machine less is allocated in the same time.
const cpuMs = () => process.threadCpuUsage().user / 1_000;
const allocateFor = async (ms) => {
  let kept = [];
  for (const start = cpuMs(); cpuMs() - start < ms;) {
    for (let index = 0; index < 60_000; index++) kept.push({ index, pair: [index, index] });
    if (kept.length > 200_000) kept = [];
    await new Promise((resolve) => setImmediate(resolve));
  }
  return youngMb();
};
const full = await allocateFor(600);
// V8 judges by what was allocated in the last five seconds.
await new Promise((resolve) => setTimeout(resolve, 5_500));
let shrunk = full, garbage;
for (let attempt = 0; attempt < 15 && shrunk > 4; attempt++) {
  for (let index = 0; index < 1_000; index++) garbage = { index };
  await new Promise((resolve) => setTimeout(resolve, 100));
  gc({ type: 'minor' });
  shrunk = youngMb();
}
console.log(JSON.stringify([full, shrunk, await allocateFor(1_500)]));
process.exit();`;

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

/** How far V8 lets it grow by itself; before version 13, that of Node 24, no further than Sluice does. */
const ownGrowthMb = Number.parseInt(process.versions.v8, 10) < 13 ? 32 : 96;

async function printedBy(source: string): Promise<unknown> {
  return JSON.parse(await runWithModule('v8-settings.ts', source, ['--expose-gc']));
}

describe('the young generation of objects', () => {
  test('stays within a step of 32 MB where it is bounded, and grows as far as V8 lets it where it is not', async () => {
    expect(await printedBy(`exported.limitYoungGeneration(); ${allocate}`)).toBeLessThanOrEqual(64);
    expect(await printedBy(allocate)).toBeGreaterThanOrEqual(ownGrowthMb);
  });

  test('grows again once that is taken back', async () => {
    expect(await printedBy(`exported.limitYoungGeneration()(); ${allocate}`)).toBeGreaterThanOrEqual(ownGrowthMb);
  });

  test('grows again at once when requests come after a pause, in which V8 shrinks it', async () => {
    const [full, shrunk, again] = (await printedBy(`exported.limitYoungGeneration(); ${pause}`)) as number[];
    expect(full).toBeGreaterThanOrEqual(32);
    expect(shrunk).toBeLessThanOrEqual(4);
    expect(again).toBeGreaterThanOrEqual(32);
  });
});
