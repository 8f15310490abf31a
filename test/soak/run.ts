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
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { ConfigInput } from '../../server/contract/config.ts';
import type { StatusView } from '../../server/contract/status-views.ts';
import * as plays from '../support/fault-plays.ts';
import {
  healthy,
  isHonestFailure,
  isWhole,
  type Play,
  receive,
  startFaultUpstream,
} from '../support/fault-upstream.ts';
import { calls, type OpenAiCall, requestFor } from '../support/openai-calls.ts';
import { checkout, collectOutput, ensureBuilt, readyOf } from '../support/program.ts';
import { pick, randomNumbers } from '../support/random-numbers.ts';
import type { Held } from './heap-probe.ts';

// The built Sluice as a child process that can report the resources it holds.

/** The resources held at an idle moment. */
export interface Measure extends Held {
  descriptors: number;
  /** Uploads in transit. */
  spooledFiles: number;
  /** Rows waiting to be written. */
  ledgerPending: number;
  /** Requests that the ledger considers running. */
  ledgerRunning: number;
}

export interface SoakedProgram {
  baseUrl: string;
  measure(): Promise<Measure>;
  /** Ends the program; resolves with its exit code. */
  end(): Promise<number | null>;
  remove(): void;
}

const answerLimitMs = 10_000;

export async function startSoaked(config: ConfigInput, env: Record<string, string>): Promise<SoakedProgram> {
  await ensureBuilt();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-soak-'));
  const [configFile, dataDir] = [join(folder, 'sluice.json'), join(folder, 'data')];
  writeFileSync(configFile, JSON.stringify(config));
  const program = join(checkout, 'dist/program/cli.js');
  const flags = ['--expose-gc', '--import', join(import.meta.dirname, 'heap-probe.ts')];
  const serve = ['serve', '--json', '--port', '0', '--data-dir', dataDir, '--config', configFile];
  const child = spawn(process.execPath, [...flags, program, ...serve], {
    env: { PATH: process.env.PATH, HOME: folder, SLUICE_SECRETS: 'file', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const output = collectOutput(child);
  const ended = once(child, 'close').then(([code]): number | null => code);
  const { baseUrl } = await readyOf({ child, output, ended });
  const query = async (body: object) => {
    const token = readFileSync(join(dataDir, 'admin.token'), 'utf8').trim();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const url = `${new URL(baseUrl).origin}/control/query`;
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await response.json()).result;
  };
  return {
    baseUrl,
    async measure() {
      const status: StatusView = await query({ type: 'status' });
      const running = await query({ type: 'requests', filter: { outcome: 'running' } });
      return {
        ...(await heldBy(child)),
        descriptors: count(`/proc/${child.pid}/fd`),
        spooledFiles: count(join(dataDir, 'tmp')) - 1,
        ledgerPending: status.ledger.pending,
        ledgerRunning: running.requests.length,
      };
    },
    end() {
      child.kill('SIGTERM');
      return ended;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function heldBy(child: ChildProcess): Promise<Held> {
  const messages = on(child, 'message', { signal: AbortSignal.timeout(answerLimitMs) });
  child.send('measure');
  for await (const [message] of messages) {
    // `serve` sends its parent a string when it is ready, which waits here for the first reader.
    if (typeof message === 'object') return message;
  }
  throw new Error('The program told nothing of what it holds.');
}

/** The number of entries in a folder; NaN if there is no such folder. */
function count(folder: string): number {
  try {
    return readdirSync(folder).length;
  } catch {
    return Number.NaN;
  }
}

// Prints each measurement on one line, and detects growth.

interface Figure {
  label: string;
  of(measure: Measure): number;
  /**
   * Growth counts if it exceeds this amount and a tenth of the earlier value, because caches and pools fill in the
   * beginning.
   */
  mayGrow: number;
}

const figures: readonly Figure[] = [
  { label: 'heap MB', of: ({ heapMb }) => heapMb, mayGrow: 6 },
  { label: 'young MB', of: ({ youngMb }) => youngMb, mayGrow: Number.POSITIVE_INFINITY },
  { label: 'other RSS MB', of: ({ rssMb, youngMb }) => rssMb - youngMb, mayGrow: 30 },
  { label: 'sockets', of: ({ resources }) => resources.TCPSocketWrap ?? 0, mayGrow: 20 },
  { label: 'timers', of: ({ resources }) => resources.Timeout ?? 0, mayGrow: 20 },
  { label: 'descriptors', of: ({ descriptors }) => descriptors, mayGrow: 20 },
  { label: 'spooled files', of: ({ spooledFiles }) => spooledFiles, mayGrow: 0 },
  { label: 'ledger pending', of: ({ ledgerPending }) => ledgerPending, mayGrow: 0 },
  { label: 'ledger running', of: ({ ledgerRunning }) => ledgerRunning, mayGrow: 0 },
];

export function line(minutes: number, requests: number, measure: Measure): string {
  const cells = figures.map(({ label, of }) => `${label} ${of(measure).toFixed(label.endsWith('MB') ? 1 : 0)}`);
  return [`${minutes.toFixed(1)} min`, `${requests} requests`, ...cells].join(' | ');
}

/** Describes the figures that grew from the second quarter to the last. */
export function growth(measures: readonly Measure[]): string[] {
  const quarter = Math.max(1, Math.floor(measures.length / 4));
  const early = measures.slice(quarter, 2 * quarter);
  const late = measures.slice(-quarter);
  return figures.flatMap(({ label, of, mayGrow }) => {
    const [before, after] = [median(early.map(of)), median(late.map(of))];
    const grew = after - before;
    return grew > mayGrow && grew > before * 0.1 ? [`${label} from ${before.toFixed(1)} to ${after.toFixed(1)}`] : [];
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

// Mixed load: random calls of all kinds, some callers that disconnect early, and upstreams that fail in every way.

const faults: readonly Play[] = [
  plays.resetBeforeHeaders,
  plays.resetAfterHeaders,
  plays.hangUp,
  plays.notHttp,
  plays.silence,
  plays.headersThenSilence,
  plays.slowFirstByte(100),
  plays.drip(5, 50),
  plays.stallAt({ share: 0.5 }),
  plays.cutAt({ share: 0.5 }),
  plays.cutAt({ bytes: 1 }),
  plays.cutAt({ bytes: -8 }),
  plays.tooLongLength,
  plays.errorInBody,
  plays.rateLimit(),
  plays.status(500),
  plays.status(503),
  plays.status(529),
  plays.status(400, { code: 'context_length_exceeded' }),
  plays.htmlPage,
  plays.emptyBody,
  plays.damagedGzip,
  plays.redirectLoop,
];

/** Plays a random fault, or none, for each call. */
export function byChance(shareOfFaults: number, random: () => number): Play {
  return {
    name: 'by chance',
    act(scene) {
      const play = random() < shareOfFaults ? faults[Math.floor(random() * faults.length)] : undefined;
      scene.call.played = (play ?? healthy).name;
      return (play ?? healthy).act(scene);
    },
  };
}

export interface LoadCounts {
  whole: number;
  /** Failures that were reported correctly. */
  failed: number;
  /** The caller disconnected. */
  left: number;
  /** Answers that were neither complete nor reported as failed, with their calls. Each is a defect. */
  wrong: string[];
  /** Calls without an end within the limit. Each is a defect. */
  hung: string[];
}

interface LoadOptions {
  baseUrl: string;
  key: string;
  models: readonly string[];
  random: () => number;
  counts: LoadCounts;
  /** A call that takes longer counts as hung. */
  limitMs: number;
}

const shareOfLeaving = 0.05;

/** Makes one random call and reads it to its end. */
export async function askOnce(options: LoadOptions): Promise<void> {
  const { random, counts, models, baseUrl, key, limitMs } = options;
  const call = pick(calls, random);
  const { path, init } = requestFor(call, pick(models, random), 'video_made');
  const headers = { ...init.headers, authorization: `Bearer ${key}` };
  const leaving = random() < shareOfLeaving ? AbortSignal.timeout(Math.floor(random() * 100)) : null;
  const limit = AbortSignal.timeout(limitMs);
  const signal = leaving ? AbortSignal.any([leaving, limit]) : limit;
  try {
    const received = await receive(await fetch(baseUrl + path, { ...init, headers, signal }));
    if (limit.aborted) counts.hung.push(call.name);
    else if (leaving?.aborted) counts.left++;
    else if (isWhole(call, received) || isWholeVideo(call, received.status)) counts.whole++;
    else if (isHonestFailure(call, received)) counts.failed++;
    else counts.wrong.push(`${call.name}: ${received.status} ${received.body.toString('latin1', 0, 200)}`);
  } catch (error) {
    if (leaving?.aborted) counts.left++;
    else if (limit.aborted) counts.hung.push(call.name);
    else counts.wrong.push(`${call.name}: ${error}`);
  }
}

/** Any 200 to a query about a video is right, because only the provider that owns a job knows its state. */
const isWholeVideo = ({ path }: OpenAiCall, status: number) => path.includes(':id') && status === 200;

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
