/**
 * Mixed load with faults for as long as wanted, while checking that the program's resources do not grow:
 * `npm run soak`.
 *
 *   --minutes N   duration (default 3)
 *   --rate N      most requests per second (default 100)
 *   --seed N      seed of the calls and faults
 *   --kills N     instead: kill -9 under load this many times, and check what is left each time (test/e2e/restart.test.ts)
 *
 * Exits with 1 if an answer was wrong, a request hung, or memory, sockets or files grew.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { ConfigInput } from '../../server/contract/config.ts';
import { startFaultUpstream } from '../support/fault-upstream.ts';
import { checkout } from '../support/program.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { askOnce, byChance, type LoadCounts } from './load.ts';
import { type Measure, type SoakedProgram, startSoaked } from './program.ts';
import { growth, line } from './report.ts';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    rate: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    kills: { type: 'string' },
  },
});

if (options.kills) {
  const vitest = join(checkout, 'node_modules/.bin/vitest');
  const env = { ...process.env, SLUICE_TEST_KILLS: options.kills };
  const { status } = spawnSync(vitest, ['run', 'test/e2e/restart.test.ts'], { cwd: checkout, env, stdio: 'inherit' });
  process.exit(status ?? 1);
}

const key = 'sk-soak-0123456789';
const models = ['model-0', 'model-1', 'model-2', 'model-3'];
const parallel = 32;
const measures = 12;
/** Longer than every limit of the program. */
const hangMs = 30_000;

const random = randomNumbers(Number(options.seed));
const upstream = await startFaultUpstream();
const lanes = ['p0', 'p1', 'p2'].map((id) => ({ id, lane: upstream.lane(id) }));
for (const [index, { lane }] of lanes.entries()) lane.plays(byChance([0.4, 0.2, 0.1][index] ?? 0, random));
const config: ConfigInput = {
  version: 1,
  providers: lanes.map(({ id, lane }) => ({ id, baseUrl: lane.baseUrl, models })),
  groups: [
    {
      id: 'default',
      policy: {
        retries: 2,
        fallbacks: 1,
        budgetMs: 10_000,
        timeouts: { connectMs: 1_000, firstByteMs: 500, firstContentMs: 500, idleMs: 500, totalMs: 5_000 },
      },
    },
  ],
  keys: [{ id: 'soak', group: 'default', secret: 'env:SOAK_KEY' }],
};
const program = await startSoaked(config, { SOAK_KEY: key });
const counts: LoadCounts = { whole: 0, failed: 0, left: 0, wrong: [], hung: [] };
const total = () => counts.whole + counts.failed + counts.left + counts.wrong.length + counts.hung.length;

try {
  const held = await soak(program);
  const grown = growth(held);
  for (const sample of [...new Set([...counts.wrong, ...counts.hung])].slice(0, 20)) console.log(`  ${sample}`);
  console.log(
    `\n${total()} requests: ${counts.whole} whole, ${counts.failed} failed and told so, ${counts.left} left by the caller, ` +
      `${counts.wrong.length} wrong, ${counts.hung.length} hung. ${grown.length > 0 ? `Grew: ${grown.join('; ')}.` : 'All is flat.'}`,
  );
  process.exitCode = grown.length + counts.wrong.length + counts.hung.length > 0 ? 1 : 0;
} finally {
  const code = await program.end();
  if (code !== 0) console.log(`Sluice ended with ${code}.`);
  program.remove();
  await upstream.stop();
}

/** Runs the load in equal parts, and measures the idle program after each. */
async function soak(soaked: SoakedProgram): Promise<Measure[]> {
  const partMs = (Number(options.minutes) * 60_000) / measures;
  const held: Measure[] = [];
  for (let part = 0; part < measures; part++) {
    const endMs = performance.now() + partMs;
    await Promise.all(Array.from({ length: parallel }, () => askUntil(soaked, endMs)));
    // The upstream's record of calls is not needed here and would grow.
    for (const { lane } of lanes) lane.forget();
    const measure = await settled(soaked);
    held.push(measure);
    console.log(line(((part + 1) * partMs) / 60_000, total(), measure));
  }
  return held;
}

async function askUntil({ baseUrl }: SoakedProgram, endMs: number): Promise<void> {
  const everyMs = (1_000 * parallel) / Number(options.rate);
  while (performance.now() < endMs) {
    const rest = setTimeout(everyMs);
    await askOnce({ baseUrl, key, models, random, counts, limitMs: hangMs });
    await rest;
  }
}

/** The ledger may lag 100 ms, and a caller's disconnect takes time to propagate. */
async function settled(soaked: SoakedProgram): Promise<Measure> {
  const deadline = performance.now() + 5_000;
  for (;;) {
    const measure = await soaked.measure();
    const isIdle = measure.ledgerPending === 0 && measure.ledgerRunning === 0 && measure.spooledFiles === 0;
    if (isIdle || performance.now() > deadline) return measure;
    await setTimeout(100);
  }
}
