/**
 * The fuzz targets with inputs of a new seed: `npm run fuzz`. (`node test/run.ts fuzz`, as `.ci/run` has it, tries the same few
 * thousand on every machine.)
 *
 *   --minutes N   in all (default 10)
 *   --seed N      of the inputs; by default another one each time
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
