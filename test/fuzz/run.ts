/**
 * Runs the fuzz targets with inputs from a new seed: `npm run fuzz`. (`node test/run.ts fuzz`, as in `.ci/run`, tries
 * the same few thousand inputs on every machine.)
 *
 *   --minutes N   total duration (default 10)
 *   --seed N      seed of the inputs; by default a different one each time
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string', default: String(Date.now()) } },
});
const root = join(import.meta.dirname, '../..');
console.log(`Seed ${options.seed}. What fails is kept in test/fuzz/seeds.`);
const { status } = spawnSync(join(root, 'node_modules/.bin/vitest'), ['run', 'test/fuzz'], {
  cwd: root,
  env: { ...process.env, SLUICE_FUZZ_MINUTES: options.minutes, SLUICE_FUZZ_SEED: options.seed },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
