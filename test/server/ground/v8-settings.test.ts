import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { checkout } from '../../support/program.ts';

const run = promisify(execFile);
const settings = JSON.stringify(join(checkout, 'server/ground/fast-paths.ts'));

/**
 * Runs source text in a Node of its own, because V8's settings hold for a whole process. The text may use `await`, and
 * what the settings export as `exported`. Returns what it prints.
 */
async function printedBy(source: string, nodeOptions: readonly string[] = ['--expose-gc']): Promise<string> {
  const whole = `(async () => { const exported = await import(${settings}); ${source} })()`;
  const { stdout } = await run(process.execPath, [...nodeOptions, '-e', whole]);
  return stdout;
}

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

describe('the young generation of objects', () => {
  test('stays within a step of 32 MB where it is bounded, and grows as far as V8 lets it where it is not', async () => {
    expect(Number(await printedBy(`exported.limitYoungGeneration(); ${allocate}`))).toBeLessThanOrEqual(64);
    expect(Number(await printedBy(allocate))).toBeGreaterThanOrEqual(ownGrowthMb);
  });

  test('grows again once that is taken back', async () => {
    expect(Number(await printedBy(`exported.limitYoungGeneration()(); ${allocate}`))).toBeGreaterThanOrEqual(
      ownGrowthMb,
    );
  });

  test('grows again at once when requests come after a pause, in which V8 shrinks it', async () => {
    const [full, shrunk, again] = JSON.parse(await printedBy(`exported.limitYoungGeneration(); ${pause}`)) as number[];
    expect(full).toBeGreaterThanOrEqual(32);
    expect(shrunk).toBeLessThanOrEqual(4);
    expect(again).toBeGreaterThanOrEqual(32);
  });
});

/** Keeps 20 MB alive and allocates more. Prints how far the old generation grows before it is collected, as a factor. */
const fill = `
const { getHeapSpaceStatistics } = require('node:v8');
const oldMb = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size / 1024 / 1024;
globalThis.live = Array.from({ length: 200_000 }, (_, index) => ({ index, pair: [index] }));
gc();
gc();
const liveMb = oldMb();
let largestMb = liveMb, kept = [];
for (let round = 0; round < 20_000; round++) {
  for (let index = 0; index < 2_000; index++) kept.push({ index, pair: [index, index] });
  if (kept.length > 60_000) kept = kept.slice(30_000);
  const nowMb = oldMb();
  if (nowMb < largestMb - 2) break;
  largestMb = Math.max(largestMb, nowMb);
  await new Promise((resolve) => setTimeout(resolve));
}
console.log(largestMb / liveMb);
process.exit();`;

/**
 * V8's own factor depends on how busy the machine is, so it is fixed at the little that V8 allows after a pause.
 * Incremental marking would let the heap grow further while it runs, by an amount that varies.
 */
const growthOptions = [
  '--expose-gc',
  '--max-semi-space-size=2',
  '--heap-growing-percent=20',
  '--no-incremental-marking',
];

async function growthAfter(before: string): Promise<number> {
  return Number(await printedBy(`${before} ${fill}`, growthOptions));
}

test('the old generation may grow fourfold, however little V8 would allow', async () => {
  expect(await growthAfter('')).toBeLessThan(2);
  expect(await growthAfter('exported.raiseHeapGrowth();')).toBeGreaterThan(3);
});
