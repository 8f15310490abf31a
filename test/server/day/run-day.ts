/** Runs a day of traffic, and compares what everyone says of it with the rows of the ledger. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { localCalendar } from '../../../server/contract/calendar.ts';
import type { ConfigInput } from '../../../server/contract/config.ts';
import type { RequestView } from '../../../server/contract/request-views.ts';
import { minuteMs } from '../../../server/contract/units.ts';
import type { Store } from '../../../server/store/store.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, type TestGateway, type TestPorts } from '../../support/gateway.ts';
import { startOtlpCollector } from '../../support/otlp-collector.ts';
import type { Api } from '../../support/usage-told.ts';
import { usageUpstreams } from '../../support/usage-upstreams.ts';
import type { Json } from '../apis/translation/translating.ts';
import { gatherEvents } from '../control/control-gateway.ts';
import { type Answer, secretOf, send } from './clients.ts';
import { compareLedger, compareMeters, type Day, Differences } from './compare-ledger.ts';
import {
  compareAnswers,
  compareEvents,
  compareKeyUsage,
  compareLists,
  comparePrometheus,
  compareTelemetry,
} from './compare-lists.ts';
import { compareCommandLine, compareExports } from './compare-texts.ts';
import { type Batch, type KeyName, planDay } from './plan.ts';
import {
  halfPricedModel,
  pricedAtFirst,
  realtimeModel,
  rescuedModel,
  startProviders,
  unpricedAtSecond,
  unpricedModel,
} from './providers.ts';

// What a provider used for an answer, and how each API reports that.

/** Input includes what was read from and written to the cache, output includes reasoning. */
export interface Counts {
  input: number;
  cached: number;
  written: number;
  output: number;
  reasoning: number;
}

export const responsesUsage = (counts: Counts) => openai('input', 'output', counts);

function openai(input: string, output: string, counts: Counts): Json {
  return {
    [`${input}_tokens`]: counts.input,
    [`${input}_tokens_details`]: { cached_tokens: counts.cached, cache_write_tokens: counts.written },
    [`${output}_tokens`]: counts.output,
    [`${output}_tokens_details`]: { reasoning_tokens: counts.reasoning },
    total_tokens: counts.input + counts.output,
  };
}

const chat = (counts: Counts) => openai('prompt', 'completion', counts);
const claude = ({ input, cached, written, output, reasoning }: Counts) => ({
  input_tokens: input - cached - written,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: written,
  output_tokens: output,
  output_tokens_details: { thinking_tokens: reasoning },
});
const gemini = ({ input, cached, output, reasoning }: Counts) => ({
  promptTokenCount: input,
  cachedContentTokenCount: cached,
  candidatesTokenCount: output - reasoning,
  thoughtsTokenCount: reasoning,
  totalTokenCount: input + output,
});
const converse = ({ input, cached, written, output }: Counts) => ({
  inputTokens: input - cached - written,
  cacheReadInputTokens: cached,
  cacheWriteInputTokens: written,
  outputTokens: output,
  totalTokens: input + output,
});

export const usageObjects: Record<Api, (counts: Counts) => Json> = {
  chat,
  responses: responsesUsage,
  anthropic: claude,
  gemini,
  converse,
  'invoke-model': claude,
  'vertex-claude': claude,
  'vertex-gemini': gemini,
};

/** What an API cannot say is 0 wherever it is shown. */
export function sayable(api: Api, counts: Counts): Counts {
  if (api === 'converse') return { ...counts, reasoning: 0 };
  return api === 'gemini' || api === 'vertex-gemini' ? { ...counts, written: 0 } : counts;
}

export const realtimeUsage = ({ input, cached, output }: Counts) => ({
  total_tokens: input + output,
  input_tokens: input,
  output_tokens: output,
  input_token_details: { text_tokens: input, audio_tokens: 0, cached_tokens: cached },
  output_token_details: { text_tokens: output, audio_tokens: 0 },
});

/** Starts a gateway on the same store each time. `folder`: its data folder. */
export type StartStore = (options: {
  folder: string;
  config: ConfigInput;
  secrets: Record<string, string>;
  ports: (openStore: TestPorts['openStore']) => TestPorts;
}) => Promise<TestGateway>;

export const fixedSeeds = [1, 20_261_128];
export const randomSeed = Math.floor(Math.random() * 2 ** 31);

const budget = (unit: 'usd' | 'tokens', amount: number, per: 'day' | 'week' | 'month' | 'total', hard = false) => ({
  ...{ unit, amount, per, hard },
});

const price = { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 };
const prices = {
  ...Object.fromEntries(
    [...Object.values(usageUpstreams).map(({ model }) => model), rescuedModel, pricedAtFirst].map((m) => [m, price]),
  ),
  [realtimeModel]: price,
  'gpt-background': { input: 2, output: 8 },
  embedder: { input: 0.1 },
  moderator: { request: 0.001 },
  painter: { image: 0.04 },
  transcriber: { minute: 0.006 },
};

function configOf(folder: string, providers: ConfigInput['providers'], endpoint: string): ConfigInput {
  const key = (id: KeyName, group: string, more: object = {}) => ({ id, group, hash: hashOf(secretOf(id)), ...more });
  const policy = { retries: 1, fallbacks: 1 };
  return {
    version: 1,
    providers,
    aliases: [
      {
        name: halfPricedModel,
        targets: [
          { provider: 'first', model: pricedAtFirst },
          { provider: 'second', model: unpricedAtSecond, priority: 1 },
        ],
      },
    ],
    groups: [
      {
        ...{ id: 'default', policy, unpriced: 'allow' as const },
        limits: { budgets: [budget('usd', 1_000, 'day'), budget('tokens', 1e9, 'week')] },
      },
      { id: 'remembered', policy, cache: {} },
      { id: 'recorded', policy, cassette: { mode: 'replay-or-record' as const, folder: join(folder, 'cassette') } },
    ],
    keys: [
      key('plain', 'default', { faults: true }),
      key('budgeted', 'default', {
        limits: { budgets: [budget('usd', 500, 'month'), budget('tokens', 1e8, 'day'), budget('usd', 900, 'total')] },
      }),
      key('cached', 'remembered', { limits: { budgets: [budget('usd', 500, 'day')] } }),
      key('limited', 'default', { limits: { requestsPerMinute: 2 } }),
      key('replayed', 'recorded', { limits: { budgets: [budget('tokens', 1e9, 'day')] } }),
      key('spent', 'default', { limits: { budgets: [budget('usd', 0.000_001, 'total', true)] } }),
    ],
    settings: { prices, metrics: 'on', telemetry: { endpoint, protocol: 'http/json' } } as ConfigInput['settings'],
  };
}

/** Resolves with the differences that were found. The clock must be taken over: it begins shortly before midnight. */
export async function runDay(seed: number, start: StartStore): Promise<Differences> {
  const day = planDay(seed);
  const plays = day.flatMap((batch) => batch.plays);
  const textNumbers = plays.map((play) => [play.repeats ?? play.number, play] as const);
  const providers = await startProviders(new Map(textNumbers.toReversed()));
  const collector = await startOtlpCollector();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-day-'));
  const config = configOf(folder, providers.config, collector.origin);
  let store: Store | undefined;
  const ports = (openStore: TestPorts['openStore']): TestPorts => ({
    openStore: async (options) => {
      if (!openStore) throw new Error('unreachable');
      store = await openStore(options);
      return store;
    },
  });
  const open = () => start({ folder, config, secrets: providers.secrets, ports });
  const differences = new Differences();
  const begunMs = localCalendar().periodOf('day', Date.now()).startMs - 40 * minuteMs;
  vi.setSystemTime(begunMs);
  let sluice = await open();
  const events = gatherEvents(sluice.gateway);
  try {
    const answers = await sendAll(sluice, day);
    const beforeAsking = await rowsOf(sluice, answers);
    const asked = await compareKeyUsage(differences, sluice, beforeAsking);
    const rows = await rowsOf(sluice, [...answers, ...asked]);
    if (!store) throw new Error('The store was not opened.');
    expectAllKinds(rows);
    compareAnswers(differences, answers, rows);
    compareEvents(differences, events.messages, rows);
    await compareRunning(differences, { sluice, store, rows, folder });
    await sluice.stop();
    compareTelemetry(differences, collector, rows);
    sluice = await open();
    await compareMeters(differences, 'the gateway after its restart', { sluice, rows });
    expect(differences.compared).toBeGreaterThan(2_000);
    return differences;
  } finally {
    await sluice.stop();
    await providers.stop();
    await collector.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function sendAll(sluice: TestGateway, day: readonly Batch[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const { plays, minutesAfter } of day) {
    const [first, second] = [false, true].map((isSecond) => plays.filter((play) => 'repeats' in play === isSecond));
    for (const together of [first ?? [], second ?? []]) {
      // A recording answers once the cassette has been opened anew.
      await sluice.gateway.execute({ type: 'cassette.rewind' });
      answers.push(...(await Promise.all(together.map((play) => send(sluice, play)))).flat());
      await rowsOf(sluice, answers);
    }
    vi.setSystemTime(Date.now() + minutesAfter * minuteMs);
  }
  return answers;
}

async function compareRunning(differences: Differences, counted: Day): Promise<void> {
  await compareLedger(differences, counted);
  await compareLists(differences, counted);
  await compareMeters(differences, 'the running gateway', counted);
  await compareExports(differences, counted);
  await compareCommandLine(differences, counted);
  await comparePrometheus(differences, counted);
}

/** Whether the day had what it was planned for, so that no comparison is empty. */
function expectAllKinds(rows: readonly RequestView[]): void {
  const kinds: Record<string, (row: RequestView) => boolean> = {
    'a cached answer': ({ cached }) => cached?.result === 'hit',
    'a replayed answer': ({ cassette }) => cassette === 'replayed',
    'a rescued stream': ({ attempts, outcome }) => outcome === 'ok' && attempts.some(({ cause }) => cause === 'rescue'),
    'a cost that is known in part': ({ attempts, costUsd }) =>
      costUsd !== null && attempts.some((attempt) => attempt.costUsd === null && attempt.usage !== null),
    'a target that was asked twice': ({ attempts: [first, second] }) =>
      first?.model === unpricedModel && second?.model === unpricedModel,
    'an unknown cost': ({ costUsd }) => costUsd === null,
    'an estimate': ({ usageCertainty }) => usageCertainty === 'estimated',
    'a client that left': ({ outcome }) => outcome === 'client-gone',
    'a fault on purpose': ({ fault }) => fault !== null,
    'an error of a provider': ({ outcome, provider }) => outcome === 'error' && provider !== null,
    'a failed connection': ({ outcome, errorCode }) => outcome === 'error' && errorCode === 'upstream_unreachable',
    'a stream that was cut off': ({ outcome }) => outcome === 'stream-broken',
    'an unknown model': ({ status, provider }) => status === 404 && provider === null,
    'a reached limit': ({ status, provider, fault }) => status === 429 && provider === null && fault === null,
    'a bill for the background': ({ modelAsked, usage }) => modelAsked === 'gpt-background' && usage !== null,
    'a response of a realtime session': ({ capability, usage }) => capability === 'realtime' && usage !== null,
    images: ({ usage }) => (usage?.images ?? 0) > 0,
    sound: ({ usage }) => (usage?.seconds ?? 0) > 0,
  };
  for (const [kind, is] of Object.entries(kinds)) expect(rows.some(is), `${kind} among the rows`).toBe(true);
}

/** All rows, newest first, once those of these answers are written and none is of a running request. */
function rowsOf({ gateway }: TestGateway, answers: readonly Pick<Answer, 'requestId'>[]): Promise<RequestView[]> {
  return eventually(async () => {
    const { requests } = await gateway.query({ type: 'requests', limit: 1_000 });
    const ids = new Set(requests.filter(({ outcome }) => outcome !== null).map(({ id }) => id));
    const isComplete = answers.every(({ requestId }) => requestId === null || ids.has(requestId));
    return isComplete && ids.size === requests.length ? requests : null;
  });
}
