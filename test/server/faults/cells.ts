/**
 * A case of the fault matrices: one request through one gateway, to a primary and a fallback that play scripted faults.
 * All cases of a file run concurrently through the same gateway. Each has its own providers and its own model, so that
 * failures in one do not affect another.
 */

import { expect } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import type { RequestView } from '../../../server/contract/request-views.ts';
import { slownessOfMachine } from '../../support/cpu-work.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type FaultUpstream,
  type Lane,
  type Play,
  type Received,
  receive,
  type SeenCall,
  startFaultUpstream,
} from '../../support/fault-upstream.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { calls, type OpenAiCall, requestFor, video } from '../../support/openai-calls.ts';
import { closedPort } from '../../support/ports.ts';
import { json } from '../../support/upstream.ts';

// A gateway with two upstreams, for sequences of several requests.

export interface Pair {
  primary: Lane;
  fallback: Lane;
  gateway: TestGateway;
  ask(call: OpenAiCall): Promise<Received & { id: string; provider: string | null; attempts: number }>;
  stop(): Promise<void>;
}

type Policy = NonNullable<NonNullable<ConfigInput['groups']>[number]['policy']>;

export async function startPair(policy: Policy): Promise<Pair> {
  const upstream: FaultUpstream = await startFaultUpstream();
  const [primary, fallback] = [upstream.lane('primary'), upstream.lane('fallback')];
  const provider = (id: string, { baseUrl }: Lane) => ({
    id,
    baseUrl,
    credentials: [{ id: 'c1' }],
    models: ['gpt-x'],
  });
  const gateway = await startGateway({
    config: {
      providers: [provider('primary', primary), provider('fallback', fallback)],
      groups: [{ id: 'default', policy }],
    },
    secrets: { 'provider/primary/c1': 'secret-of-primary', 'provider/fallback/c1': 'secret-of-fallback' },
  });
  return {
    primary,
    fallback,
    gateway,
    async ask(call) {
      const { path, init } = requestFor(call, 'gpt-x');
      const response = await gateway.fetch(path, { ...init, signal: AbortSignal.timeout(60_000) });
      const { headers } = response;
      return {
        ...(await receive(response)),
        id: headers.get('x-sluice-request-id') ?? '',
        provider: headers.get('x-sluice-provider'),
        attempts: Number(headers.get('x-sluice-attempts')),
      };
    },
    async stop() {
      await gateway.stop();
      await upstream.stop();
    },
  };
}

export function callNamed(name: string): OpenAiCall {
  const call = calls.find((each) => each.name === name);
  if (!call) throw new Error(`There is no call "${name}".`);
  return call;
}

/** Expects exactly OpenAI's error format. */
export function expectErrorShape({ headers, body }: Observed, where: string): void {
  expect(headers.get('content-type'), where).toMatch(/^application\/json/);
  const { error, ...rest } = JSON.parse(body.toString());
  expect(rest, where).toEqual({});
  expect(error, where).toEqual({
    message: expect.stringMatching(/./),
    type: expect.stringMatching(/./),
    param: error.param === null ? null : expect.any(String),
    code: error.code === null ? null : expect.any(String),
  });
}

/** A port that refuses connections, because nothing listens there. */
export const refuses = 'refuses the connection';

export interface Cell {
  call: OpenAiCall;
  primary: readonly [Play, ...Play[]] | typeof refuses;
  /** If absent, there is only the primary. */
  fallback?: readonly [Play, ...Play[]] | typeof refuses;
}

/** Whether the fault is only detected by a timeout. */
export function isSlow(plays: Cell['primary']): boolean {
  return plays !== refuses && plays.some((play) => play.isSlow);
}

/** What the caller received, and what the upstreams saw. */
export interface Observed extends Received {
  headers: Headers;
  primary: readonly SeenCall[];
  fallback: readonly SeenCall[];
  row: RequestView;
}

export const policy = {
  retries: 2,
  fallbacks: 1,
  // On a busy machine an answer may be delayed for any time. An upstream that does not play silence must not look
  // silent.
  budgetMs: 120_000,
  timeouts: {},
};

/** On a busy machine written bytes arrive later, so the limits of silence are longer there. */
const pace = Math.min(3, slownessOfMachine());
const silenceMs = Math.round(3_000 * pace);

/** Timeouts for upstreams that play silence. */
export const limits = {
  connectMs: silenceMs,
  firstByteMs: silenceMs,
  firstContentMs: silenceMs,
  idleMs: silenceMs,
  totalMs: Math.round(8_000 * pace),
};

/** The longest that an answer may take: all timeouts of four attempts in succession, times three for a busy machine. */
const boundMs = 3 * 4 * limits.totalMs;

/** No comment before the answer, because it would commit a stream to status 200. */
const keepAliveCommentMs = boundMs;

const parallel = 32;
/** Few enough that none waits long for its turn, because the timeouts apply to waiting too. */
const parallelVideos = 4;

export class CellRun {
  readonly #upstream: FaultUpstream;
  readonly #gateway: TestGateway;
  readonly #cells: readonly Cell[];
  readonly #results: readonly Promise<Observed>[];
  readonly #told = new Set<number>();

  private constructor(upstream: FaultUpstream, gateway: TestGateway, cells: readonly Cell[]) {
    this.#upstream = upstream;
    this.#gateway = gateway;
    this.#cells = cells;
    const videos = inTurn(cells, parallelVideos, (cell, index) => this.#makeVideo(cell, index));
    const areMade = Promise.allSettled(videos);
    this.#results = inTurn(cells, parallel, async (cell, index) => {
      await areMade;
      return this.#run(cell, index, await videos[index]);
    });
    for (const result of this.#results) result.catch(() => {});
  }

  /** Starts all cells, a limited number at a time. */
  static async start(cells: readonly Cell[]): Promise<CellRun> {
    const upstream = await startFaultUpstream();
    const refusedPort = await closedPort();
    const providers = cells.flatMap((cell, index) => providersOf(cell, index, upstream, refusedPort));
    const gateway = await startGateway({
      config: { providers, groups: [{ id: 'default', policy }], settings: { keepAliveCommentMs } },
      secrets: Object.fromEntries(providers.map(({ id }) => [`provider/${id}/c1`, `secret-of-${id}`])),
    });
    return new CellRun(upstream, gateway, cells);
  }

  /** The result of the cell at this index. For the second attempt of a test, the cell is run again. */
  async observed(index: number): Promise<Observed> {
    const [cell, result] = [this.#cells[index], this.#results[index]];
    if (!cell || !result) throw new Error(`There is no cell ${index}.`);
    if (this.#told.has(index)) return this.#runAgain(cell, index);
    this.#told.add(index);
    return result;
  }

  get gateway(): TestGateway {
    return this.#gateway;
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.#results);
    await this.#gateway.stop();
    await this.#upstream.stop();
  }

  async #runAgain(cell: Cell, index: number): Promise<Observed> {
    const ids = cell.fallback ? [`p${index}`, `f${index}`] : [`p${index}`];
    for (const id of ids) {
      await this.#gateway.gateway.execute({ type: 'provider.reset-health', id });
      this.#upstream.lane(id).forget();
    }
    return this.#run(cell, index, await this.#makeVideo(cell, index));
  }

  async #run({ call, primary, fallback }: Cell, index: number, videoId = ''): Promise<Observed> {
    const [first, second] = [this.#upstream.lane(`p${index}`), this.#upstream.lane(`f${index}`)];
    const before = first.seen.length;
    if (primary !== refuses) first.plays(...primary);
    if (fallback && fallback !== refuses) second.plays(...fallback);
    const { path, init } = requestFor(call, modelOf(index), videoId);
    const response = await this.#gateway.fetch(path, { ...init, signal: AbortSignal.timeout(boundMs) });
    const received = await receive(response);
    const row = await this.#gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    const seen = () => [first.seen.slice(before), second.seen] as const;
    // Every attempt that the gateway gave up must be closed.
    await eventually(() => seen().every((calls) => calls.every(({ state }) => state !== 'open')));
    const [primarySeen, fallbackSeen] = seen();
    const { headers } = response;
    return { ...received, headers, primary: primarySeen, fallback: fallbackSeen, row };
  }

  /** Creates a job that the primary owns, if the call is about one. */
  async #makeVideo({ call, primary }: Cell, index: number): Promise<string> {
    const id = `video_${index}`;
    if (!call.isPinned || primary === refuses) return id;
    this.#upstream.lane(`p${index}`).plays({ name: 'makes a video', act: ({ response }) => json(response, video(id)) });
    const form = new FormData();
    form.set('model', modelOf(index));
    form.set('prompt', 'A cat');
    const response = await this.#gateway.fetch('/videos', { method: 'POST', body: form });
    if (!response.ok) throw new Error(`No video was made: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
    return id;
  }
}

/** Runs the work for each cell, this many at a time. */
function inTurn<Result>(
  cells: readonly Cell[],
  atATime: number,
  work: (cell: Cell, index: number) => Promise<Result>,
): Promise<Result>[] {
  const lines: Promise<unknown>[] = Array.from({ length: atATime }, () => Promise.resolve());
  return cells.map((cell, index) => {
    const before = lines[index % atATime] ?? Promise.resolve();
    const result = before.then(() => work(cell, index));
    lines[index % atATime] = result.catch(() => {});
    return result;
  });
}

const modelOf = (index: number) => `model-${index}`;

function providersOf(
  { primary, fallback }: Cell,
  index: number,
  upstream: FaultUpstream,
  refusedPort: number,
): NonNullable<ConfigInput['providers']> {
  const provider = (id: string, plays: Cell['primary']) => ({
    id,
    timeouts: isSlow(plays) ? limits : {},
    baseUrl: plays === refuses ? `http://127.0.0.1:${refusedPort}/${id}/v1` : upstream.lane(id).baseUrl,
    credentials: [{ id: 'c1' }],
    models: [modelOf(index)],
  });
  const first = provider(`p${index}`, primary);
  return fallback ? [first, provider(`f${index}`, fallback)] : [first];
}
