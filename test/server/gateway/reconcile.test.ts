/**
 * Compares the ledger with the upstream's own accounts, for thousands of requests through a real gateway: all routes,
 * plain and streamed, with failures, retries, fallbacks, rescues, hedges and clients that disconnect. The ledger must
 * contain the usage that the upstream reported to the last token, assigned to the right key and model, and an estimate
 * for what it could not report.
 */
import http from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { estimateTokens } from '../../../server/apis/core/usage/prompt-estimate.ts';
import type { ConfigInput } from '../../../server/contract/config.ts';
import type { Usage } from '../../../server/contract/ledger.ts';
import type { RequestView } from '../../../server/contract/request-views.ts';
import { openSqliteDatabase } from '../../../server/store/sqlite/database.ts';
import { createLedgerQueries, type LedgerQueries } from '../../../server/store/sqlite/queries.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, startGateway, type TestGateway } from '../../support/gateway.ts';
import {
  addTo,
  type By,
  type Course,
  type MeteredUpstream,
  startMeteredUpstream,
  type Tally,
} from '../../support/metered-replies.ts';
import { pick, randomNumbers } from '../../support/random-numbers.ts';
import { isSweep } from '../../support/sweep.ts';

/** More requests add only numbers, not new situations. */
const requests = isSweep ? 10_000 : 2_500;
const concurrency = 50;
const seed = 20_261_120;
const question = 'What did the keeper of the lighthouse learn, and how long did it take him?';

const providers = ['p0', 'p1', 'p2', 'p3'];
const models = ['m-a', 'm-b', 'm-c'];
const groups = {
  stop: { onClientGone: 'stop' },
  drain: { onClientGone: 'drain' },
  // Longer than a call takes on a busy machine, because an abandoned call may have reported usage that Sluice did not
  // read.
  hedge: { hedgeAfterMs: 5_000 },
} as const;
type Group = keyof typeof groups;
const keys: Record<string, Group> = { k1: 'stop', k2: 'stop', k3: 'drain', k4: 'drain', k5: 'hedge', k6: 'hedge' };
const prices = { input: 2, cachedInput: 0.5, output: 8, second: 0.001, characters: 15, image: 0.04 };

let upstream: MeteredUpstream;
let gateway: TestGateway;
let ledger: LedgerQueries;
let close: () => void;
const agent = new http.Agent({ keepAlive: true, maxSockets: concurrency });

beforeAll(async () => {
  upstream = await startMeteredUpstream();
  gateway = await startGateway({ config: configuration(upstream.origin) });
  const database = openSqliteDatabase(join(gateway.folder, 'ledger.sqlite'));
  ledger = createLedgerQueries(database);
  close = () => database.close();
});
afterAll(async () => {
  agent.destroy();
  close();
  await gateway.stop();
  await upstream.stop();
});

function configuration(origin: string): Partial<ConfigInput> {
  return {
    providers: providers.map((id) => ({ id, baseUrl: `${origin}/${id}/v1`, models })),
    // Each model falls back to the others, at other providers.
    aliases: models.map((model, at) => ({
      name: `any-${at}`,
      targets: providers.map((_, step) => ({
        provider: providers[(at + step) % providers.length] ?? '',
        model: models[(at + step) % models.length] ?? model,
        priority: step,
      })),
    })),
    groups: Object.entries(groups).map(([id, policy]) => ({ id, policy: { ...policy, retries: 2, fallbacks: 3 } })),
    keys: Object.entries(keys).map(([id, group]) => ({ id, group, hash: hashOf(secretOf(id)) })),
    settings: { prices: Object.fromEntries(models.map((model) => [model, prices])) },
  };
}

const secretOf = (key: string) => `sk-reconcile-${key}`;

interface Ask {
  path: string;
  fields: Record<string, unknown>;
  form?: true;
}

type Make = (random: () => number) => Ask;
const messages = [{ role: 'user', content: question }];
const json =
  (path: string, fields: Record<string, unknown>): Make =>
  () => ({ path, fields });
const upload =
  (path: string, fields: Record<string, unknown>): Make =>
  () => ({ path, fields, form: true });
const asStream = { stream: true };

const texts: readonly Make[] = [
  json('/chat/completions', { messages }),
  json('/completions', { prompt: question }),
  json('/responses', { input: question, store: false }),
];
const textStreams: readonly Make[] = [
  json('/chat/completions', { messages, ...asStream }),
  json('/completions', { prompt: question, ...asStream }),
  json('/responses', { input: question, store: false, ...asStream }),
];
const others: readonly Make[] = [
  json('/embeddings', { input: question }),
  json('/moderations', { input: question }),
  json('/audio/speech', { input: question, voice: 'alloy' }),
  (random) => ({ path: '/images/generations', fields: { prompt: 'A gull', n: 1 + Math.floor(random() * 4) } }),
  upload('/images/edits', { prompt: 'A gull', n: '2', image: 'bytes' }),
  upload('/images/variations', { n: '1', image: 'bytes' }),
  upload('/audio/transcriptions', { file: 'bytes' }),
  upload('/audio/translations', { file: 'bytes' }),
  json('/videos', { prompt: 'A gull', seconds: '8' }),
];

interface Plan {
  number: number;
  key: string;
  course: Course;
  ask: Ask;
  model: string;
  /** Disconnects after the first bytes. */
  leaves: boolean;
}

function planOf(number: number, random: () => number): Plan {
  const key = pick(Object.keys(keys), random);
  const group = keys[key];
  const draw = random();
  const plan = (course: Course, makes: readonly Make[], leaves = false): Plan => {
    const aliases = models.map((_, at) => `any-${at}`);
    return { number, key, course, ask: pick(makes, random)(random), model: pick(aliases, random), leaves };
  };
  if (draw < 0.04) return plan('error', [...texts, ...textStreams, ...others]);
  if (draw < 0.05) return plan('outage', [...texts, ...textStreams, ...others]);
  if (draw < 0.06) return plan('charged-error', texts);
  if (draw < 0.08) return plan('cut', textStreams);
  if (draw < 0.12) return plan('pause', textStreams, true);
  if (draw < 0.125 && group === 'hedge') return plan('silence', [...texts, ...textStreams]);
  if (draw < 0.16) return plan('untold', [...texts, ...textStreams]);
  return plan('well', draw < 0.4 ? texts : draw < 0.7 ? textStreams : others);
}

function bodyOf({ number, key, course, ask, model }: Plan): { type: string; body: string } {
  const fields = { model, user: `${key}|${keys[key]}|${number}|${course}`, ...ask.fields };
  if (!ask.form) return { type: 'application/json', body: JSON.stringify(fields) };
  const boundary = 'x-reconcile-boundary';
  const parts = Object.entries(fields).map(([name, value]) => {
    const file = value === 'bytes' ? '; filename="a.bin"\r\ncontent-type: application/octet-stream' : '';
    return `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
  });
  return { type: `multipart/form-data; boundary=${boundary}`, body: `${parts.join('')}--${boundary}--\r\n` };
}

/** Resolves when the answer has ended in any way. */
function send(plan: Plan): Promise<void> {
  const { type, body } = bodyOf(plan);
  const headers = {
    authorization: `Bearer ${secretOf(plan.key)}`,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve) => {
    const request = http.request(`${gateway.baseUrl}${plan.ask.path}`, { method: 'POST', headers, agent });
    request.on('response', (response) => {
      response.on('data', () => {
        if (plan.leaves) request.destroy();
      });
      response.on('error', () => {});
      response.on('close', resolve);
    });
    request.on('error', () => resolve());
    request.on('close', () => {
      // In groups that stop their upstream, its end must not come first.
      if (keys[plan.key] === 'drain') upstream.goOn(plan.number);
    });
    request.end(body);
  });
}

async function sendAll(): Promise<void> {
  const random = randomNumbers(seed);
  const plans = Array.from({ length: requests }, (_, number) => planOf(number, random));
  let next = 0;
  const worker = async () => {
    for (let plan = plans[next++]; plan; plan = plans[next++]) await send(plan);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

async function allRows(): Promise<RequestView[]> {
  const rows: RequestView[] = [];
  for (let before: number | undefined; ; ) {
    const page = await ledger.listRequests({ limit: 1_000, ...(before !== undefined && { before }) });
    rows.push(...page.requests);
    if (page.next === null) return rows;
    before = page.next;
  }
}

type Attempt = RequestView['attempts'][number];
const quantities = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'seconds', 'characters', 'images'] as const;
const dimensions = ['provider', 'model', 'key', 'group'] as const;

function tallyOf(rows: readonly RequestView[], counts: (attempt: Attempt) => boolean) {
  const tallies: Record<By, Map<string, Tally>> = {
    provider: new Map(),
    model: new Map(),
    key: new Map(),
    group: new Map(),
  };
  for (const row of rows) {
    for (const attempt of row.attempts.filter(counts)) {
      const usage: Usage = attempt.usage ?? {};
      addTo(tallies.provider, attempt.provider, usage);
      addTo(tallies.model, attempt.model ?? '', usage);
      addTo(tallies.key, row.keyId ?? '', usage);
      addTo(tallies.group, row.groupId ?? '', usage);
    }
  }
  return tallies;
}

const sortedEntries = (tallies: Map<string, Tally>) => [...tallies].sort(([a], [b]) => a.localeCompare(b));
const isText = (row: RequestView) => ['chat', 'completions', 'responses'].includes(row.capability ?? '');

let rows: RequestView[];
beforeAll(async () => {
  await sendAll();
  // Drained upstreams end after their clients have disconnected.
  rows = await eventually(async () => {
    const found = await allRows();
    return found.length >= requests && found.every(({ outcome }) => outcome !== null) ? found : null;
  });
}, 180_000);

test('each request has exactly one row', () => {
  expect(rows).toHaveLength(requests);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(requests);
});

test('usage that the upstream reported is in the ledger to the last token, with the right owner', () => {
  // Estimates of text are compared separately. Estimates for pictures, speech and videos follow from the request
  // itself.
  const isTextEstimate = new Set(
    rows.filter(isText).flatMap((row) => row.attempts.filter(({ usageCertainty }) => usageCertainty === 'estimated')),
  );
  const counts = (attempt: Attempt) => !isTextEstimate.has(attempt) && attempt.status !== null && !isUncharged(attempt);
  const told = tallyOf(rows, counts);
  for (const by of dimensions) expect(sortedEntries(told[by]), by).toEqual(sortedEntries(upstream.told[by]));
});

const isUncharged = ({ usage, failure }: Attempt) => usage === null && failure !== null;

test('what could not be reported is estimated from the text that went in and out', () => {
  const estimates = rows
    .filter(isText)
    .flatMap(({ attempts }) => attempts.filter(({ usageCertainty }) => usageCertainty === 'estimated'));
  expect(estimates.length).toBeGreaterThan(requests * 0.03);
  const prompt = estimateTokens(question);
  for (const { usage } of estimates) {
    expect(usage?.inputTokens).toBeGreaterThanOrEqual(prompt);
    expect(usage?.inputTokens).toBeLessThanOrEqual(prompt + 4);
  }
  const output = estimates.reduce((sum, { usage }) => sum + (usage?.outputTokens ?? 0), 0);
  expect(Math.abs(output / upstream.untoldPieces - 1)).toBeLessThan(0.1);
});

test('the sums of the ledger are those of its rows', async () => {
  const all = tallyOf(rows, () => true);
  for (const by of dimensions) {
    const summary = await ledger.summarizeUsage({ by });
    expect(
      summary.reduce((sum, row) => sum + row.requests, 0),
      by,
    ).toBe(requests);
    for (const row of summary) {
      const tally = all[by].get(row.name ?? '');
      for (const quantity of quantities)
        expect(row[quantity], `${by} ${row.name} ${quantity}`).toBe(tally?.[quantity] ?? 0);
    }
  }
});

test('the costs are those of what was used, of each attempt and of each request', () => {
  for (const row of rows) {
    const costs = row.attempts.map(({ costUsd }) => costUsd);
    if (row.costUsd === null) expect(costs, row.id).toContain(null);
    else
      expect(row.costUsd, row.id).toBeCloseTo(
        costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
        12,
      );
    for (const { usage, costUsd, failure } of row.attempts) {
      if (usage === null && failure === 'lost') expect(costUsd, row.id).toBeNull();
      else if (usage === null && failure !== null && failure !== 'client-gone') expect(costUsd, row.id).toBe(0);
      if (isText(row) && usage?.outputTokens !== undefined) {
        const { inputTokens = 0, cachedInputTokens = 0, outputTokens } = usage;
        const fresh = inputTokens - cachedInputTokens;
        const cost =
          (fresh * prices.input + cachedInputTokens * prices.cachedInput + outputTokens * prices.output) / 1e6;
        expect(costUsd, row.id).toBeCloseTo(cost, 12);
      }
    }
  }
});

test('all ways for a request to end were among them', () => {
  const causes = new Set(rows.flatMap(({ attempts }) => attempts.map(({ cause }) => cause)));
  for (const cause of ['first', 'retry', 'fallback', 'hedge', 'rescue'] as const) expect(causes).toContain(cause);
  const certainties = new Set(rows.map(({ usageCertainty }) => usageCertainty));
  for (const certainty of ['reported', 'estimated', 'none'] as const) expect(certainties).toContain(certainty);
  expect(rows.filter(({ outcome }) => outcome === 'client-gone').length).toBeGreaterThan(requests * 0.02);
});
