/**
 * Runs one target with mutated inputs, after those inputs that have failed before. The same seed produces the same
 * inputs. Failing inputs are stored in `seeds/`, to be committed with the fix. `.ci/run` runs each target for a few
 * seconds, `npm run fuzz` for longer.
 */

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { expect } from 'vitest';
import { openSqliteDatabase } from '../../server/store/sqlite/database.ts';
import { memoryInUse } from '../support/cpu-work.ts';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { pick, randomNumbers } from '../support/random-numbers.ts';

// A gateway that records its internal errors, and what remains of requests after they have ended.

export interface WatchedGateway extends TestGateway {
  port: number;
  /** Messages logged as errors; each is a bug in the program. */
  readonly faults: readonly string[];
  /**
   * To be called after all requests have ended. Expects no open sockets, temporary files or running requests, and no
   * more memory than before.
   */
  expectNothingLeft(): Promise<void>;
}

const errorLevel = 50;
const mayGrowMb = 40;

export async function startWatched({ ports, ...options }: TestGatewayOptions): Promise<WatchedGateway> {
  const faults: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void faults.push(line) });
  const gateway = await startGateway({ ...options, ports: { ...ports, log } });
  const before = { sockets: sockets(), heapMb: heapMb() };
  return {
    ...gateway,
    port: Number(new URL(gateway.origin).port),
    get faults() {
      return faults.filter((line) => JSON.parse(line).level >= errorLevel);
    },
    async expectNothingLeft() {
      // Allows for a few connections that are kept alive for the next request.
      await expect.poll(sockets).toBeLessThan(before.sockets + 40);
      await expect.poll(() => spooled(gateway.folder)).toEqual([]);
      await expect.poll(() => running(gateway.folder)).toBe(0);
      expect(heapMb()).toBeLessThan(before.heapMb + mayGrowMb);
    },
  };
}

function sockets(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
}

function spooled(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.upload'));
}

function running(folder: string): number {
  const database = openSqliteDatabase(join(folder, 'ledger.sqlite'));
  try {
    return Number(database.prepare('SELECT count(*) AS count FROM requests WHERE outcome IS NULL').get()?.count);
  } finally {
    database.close();
  }
}

const heapMb = () => memoryInUse().heapUsed / 1024 / 1024;

/** Random small changes to valid bytes: to the bytes themselves, to the JSON in them, and to their length fields. */

type Random = () => number;

const below = (bound: number, random: Random) => Math.floor(random() * bound);

/** Strings that parsers often mishandle. */
const tokens = [
  '\r\n',
  '\n\n',
  '\r',
  '\0',
  '"',
  '\\',
  '\\u0000',
  '\\ud800',
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  ';',
  '--',
  'null',
  'true',
  '-1',
  '0',
  '1e999',
  '99999999999999999999',
  '%00',
  '%2F',
  '../',
  '\u00e9',
  '\ufeff',
  '\u{1F30D}',
  ': ping\n\n',
  'data: ',
  'data: [DONE]\n\n',
  'event: error\n',
  'content-length: 5\r\n',
  'transfer-encoding: chunked\r\n',
  'expect: 100-continue\r\n',
  'x'.repeat(9_000),
].map((token) => Buffer.from(token));

const lone = Buffer.from([0xff]);

/** Applies one to four changes. */
function mutate(bytes: Buffer, others: readonly Buffer[], random: Random): Buffer {
  let changed = bytes;
  for (let count = 1 + below(4, random); count > 0; count--) changed = pick(changes, random)(changed, others, random);
  return changed;
}

type Change = (bytes: Buffer, others: readonly Buffer[], random: Random) => Buffer;

function replace(bytes: Buffer, from: number, to: number, by: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, from), by, bytes.subarray(to)]);
}

function range({ length }: Buffer, random: Random): [number, number] {
  const from = below(length + 1, random);
  return [from, Math.min(length, from + below(40, random))];
}

const flipBit: Change = (bytes, _others, random) => {
  const copy = Buffer.from(bytes);
  const index = below(copy.length, random);
  if (copy.length > 0) copy[index] = (copy[index] ?? 0) ^ (1 << below(8, random));
  return copy;
};

const changes: readonly Change[] = [
  flipBit,
  (bytes, _others, random) => replace(bytes, ...range(bytes, random), Buffer.alloc(0)),
  (bytes, _others, random) => {
    const [from, to] = range(bytes, random);
    return replace(bytes, to, to, bytes.subarray(from, to));
  },
  (bytes, _others, random) => {
    const [at] = range(bytes, random);
    return replace(bytes, at, at, random() < 0.1 ? lone : pick(tokens, random));
  },
  (bytes, _others, random) => replace(bytes, ...range(bytes, random), pick(tokens, random)),
  (bytes, _others, random) => bytes.subarray(0, below(bytes.length + 1, random)),
  (bytes, others, random) => {
    const other = pick(others, random);
    return Buffer.concat([bytes.subarray(0, below(bytes.length, random)), other.subarray(below(other.length, random))]);
  },
  (bytes, _others, random) => changeNumber(bytes, random),
  (bytes, _others, random) => changeJson(bytes, random),
  (bytes, _others, random) => changeJson(bytes, random),
];

const numbers = ['0', '-1', '1', '65536', '2147483648', '9007199254740993', '1e400', '00', '0x10'];

function changeNumber(bytes: Buffer, random: Random): Buffer {
  const text = bytes.toString('latin1');
  const found = [...text.matchAll(/\d+/g)];
  if (found.length === 0) return bytes;
  const { index, 0: digits } = pick(found, random);
  return replace(bytes, index, index + digits.length, Buffer.from(pick(numbers, random)));
}

const values: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  'gpt-x',
  '*',
  '__proto__',
  'a\0b',
  '\ud800',
  [],
  {},
  [[[[]]]],
  { error: {} },
];

/** Changes one member of the first JSON object in the bytes. */
function changeJson(bytes: Buffer, random: Random): Buffer {
  const text = bytes.toString('latin1');
  const from = text.search(/[{[]/);
  const to = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')) + 1;
  if (from === -1 || to <= from) return bytes;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8', from, to));
    return replace(bytes, from, to, Buffer.from(JSON.stringify(changeMember(value, random)) ?? ''));
  } catch {
    return bytes;
  }
}

function changeMember(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random() < 0.15) return pick(values, random);
  const entries: [string, unknown][] = Object.entries(value);
  const index = below(entries.length, random);
  const [name, member] = entries[index] ?? ['new', null];
  const act = random();
  if (act < 0.15) entries.splice(index, 1);
  else if (act < 0.3) entries.push([pick(['model', 'stream', 'id', '__proto__', 'x', ''], random), member]);
  else entries[index] = [name, changeMember(member, random)];
  return Array.isArray(value) ? entries.map(([, each]) => each) : Object.fromEntries(entries);
}

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
