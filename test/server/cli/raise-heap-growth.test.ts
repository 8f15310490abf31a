import { expect, test } from 'vitest';
import { runWithModule } from './run-with-module.ts';

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
const options = ['--expose-gc', '--max-semi-space-size=2', '--heap-growing-percent=20', '--no-incremental-marking'];

async function growthAfter(before: string): Promise<number> {
  return Number(await runWithModule('v8-settings.ts', `${before} ${fill}`, options));
}

test('the old generation may grow fourfold, however little V8 would allow', async () => {
  expect(await growthAfter('')).toBeLessThan(2);
  expect(await growthAfter('exported.raiseHeapGrowth();')).toBeGreaterThan(3);
});
