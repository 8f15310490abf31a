/**
 * Runs one target with mutated inputs, those first that once failed. The same seed brings the same inputs; what fails is
 * kept in `seeds/`, to be committed with its repair. In `.ci/run` for a few seconds a target, by `npm run fuzz` longer.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pick, randomNumbers } from '../support/random-numbers.ts';
import { mutate } from './mutate.ts';

interface FuzzTarget {
  name: string;
  /** Right inputs, which the mutated ones are made of. */
  corpus: readonly Buffer[];
  /** Rejects if the program did with it what it must never do. */
  run(input: Buffer): Promise<void>;
}

interface FuzzReport {
  runs: number;
  /** What failed, with the file that holds the input. */
  failures: string[];
}

const minutes = Number(process.env.SLUICE_FUZZ_MINUTES ?? 0);
const seed = Number(process.env.SLUICE_FUZZ_SEED ?? 1);
/** Of one target. */
const budgetMs = minutes > 0 ? (minutes * 60_000) / 4 : 12_000;
/** In `.ci/run` no more than this, so that every machine sees the same inputs. */
const mostRuns = minutes > 0 ? Number.POSITIVE_INFINITY : 3_000;
/** However slow the machine is: fewer would show nothing. */
const leastRuns = 400;
/** For a test of one target: its budget, or what the least runs take on a busy machine, and then what is left is looked for. */
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
