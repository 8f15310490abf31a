/**
 * Runs one target with mutated inputs, after those inputs that have failed before. The same seed produces the same
 * inputs. Failing inputs are stored in `seeds/`, to be committed with the fix. `.ci/run` runs each target for a few
 * seconds, `npm run fuzz` for longer.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pick, randomNumbers } from '../support/random-numbers.ts';
import { mutate } from './mutate.ts';

interface FuzzTarget {
  name: string;
  /** Valid inputs, from which the mutated ones are made. */
  corpus: readonly Buffer[];
  /** Rejects if the program mishandled the input. */
  run(input: Buffer): Promise<void>;
}

interface FuzzReport {
  runs: number;
  /** Each failure with the name of the file that contains the input. */
  failures: string[];
}

const minutes = Number(process.env.SLUICE_FUZZ_MINUTES ?? 0);
const seed = Number(process.env.SLUICE_FUZZ_SEED ?? 1);
/** Time for one target. */
const budgetMs = minutes > 0 ? (minutes * 60_000) / 4 : 12_000;
/** The limit in `.ci/run`, so that every machine tries the same inputs. */
const mostRuns = minutes > 0 ? Number.POSITIVE_INFINITY : 3_000;
/** Also on slow machines, because fewer runs would show nothing. */
const leastRuns = 400;
/**
 * For the test of one target: its budget, or the time for the minimum of runs on a busy machine, plus the final check
 * for leftovers.
 */
export const timeoutMs = 3 * budgetMs + 120_000;
const parallel = 16;
const enough = 5;

export async function fuzz(target: FuzzTarget): Promise<FuzzReport> {
  const report: FuzzReport = { runs: 0, failures: [] };
  const folder = join(import.meta.dirname, 'seeds', target.name);
  for (const input of keptInputs(folder)) await check(target, input, folder, report);
  const random = randomNumbers(seed);
  const deadline = Date.now() + budgetMs;
  const isLate = () => Date.now() > deadline && report.runs >= leastRuns;
  const isOver = () => isLate() || report.runs >= mostRuns || report.failures.length >= enough;
  const line = async () => {
    while (!isOver()) await check(target, mutate(pick(target.corpus, random), target.corpus, random), folder, report);
  };
  await Promise.all(Array.from({ length: parallel }, line));
  return report;
}

function keptInputs(folder: string): Buffer[] {
  mkdirSync(folder, { recursive: true });
  return readdirSync(folder).map((name) => readFileSync(join(folder, name)));
}

async function check(target: FuzzTarget, input: Buffer, folder: string, report: FuzzReport): Promise<void> {
  report.runs++;
  try {
    await target.run(input);
  } catch (error) {
    const name = `${createHash('sha256').update(input).digest('hex').slice(0, 12)}.bin`;
    writeFileSync(join(folder, name), input);
    report.failures.push(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
  }
}
