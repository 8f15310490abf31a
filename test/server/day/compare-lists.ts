/** What lists show of a day: filtered requests, live ones, caches, and models without a price. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { localCalendar } from '../../../server/contract/calendar.ts';
import { outcomes } from '../../../server/contract/comparison.ts';
import type { Verdict } from '../../../server/contract/count.ts';
import type { EventMessage } from '../../../server/contract/events.ts';
import type { RequestFilterInput } from '../../../server/contract/queries.ts';
import { fitsFilter, readFilterText } from '../../../server/contract/request-filter.ts';
import type { RequestView } from '../../../server/contract/request-views.ts';
import type { TestGateway } from '../../support/gateway.ts';
import type { OtlpCollector } from '../../support/otlp-collector.ts';
import { readPrometheusText } from '../../support/prometheus-text.ts';
import { asTold, ownClients, type Told } from '../../support/usage-told.ts';
import { type Answer, secretOf } from './clients.ts';
import {
  type Day,
  type Differences,
  partsOf,
  type Sums,
  sumOf,
  sumOfRows,
  unpricedIn,
  verdictBy,
} from './compare-ledger.ts';
import type { KeyName } from './plan.ts';
import { realtimeModel } from './providers.ts';

// What the clients of a day were told: in their answers, in headers, and at `GET /v1/usage`.

/** Answers whose usage is not that of their row, and why. */
const otherUsage: Record<string, (answer: Answer, row: RequestView) => boolean> = {
  'a provider is paid once for an answer that the cache or a cassette repeats': (_, { cached, cassette }) =>
    cached?.result === 'hit' || cached?.result === 'shared' || cassette === 'replayed',
  'where a provider reports nothing, the bytes of its own API pass as they are': ({ play: { course, what } }) =>
    course === 'untold' && what.kind === 'talk' && ownClients[what.api] === what.client,
  'what only the bill estimates is told to nobody; the input that Anthropic’s API must tell is a guess on the high side':
    (_, { usageCertainty }) => usageCertainty === 'estimated',
  'a response in the background is booked once, to whoever hears of its end first, which may be Sluice itself': (
    { play },
    row,
  ) => play.what.kind === 'background' && row.usage === null,
  'a client is told of the answer that it got, its row also has the attempt that broke': (_, { attempts }) =>
    attempts.length > 1,
};

export function compareAnswers(
  differences: Differences,
  answers: readonly Answer[],
  rows: readonly RequestView[],
): void {
  compareLaterBills(differences, answers, rows);
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const answer of answers) {
    const { play, requestId, status, headers, told } = answer;
    if (requestId === null) continue;
    const row = byId.get(requestId);
    const place = `request ${play.number} (${JSON.stringify({ ...play.what, course: play.course, key: play.key })})`;
    if (!row) {
      differences.expect(place, 'answered', 'there is no such row');
      continue;
    }
    differences.expect(`the status of ${place}`, status, row.status ?? status);
    const provider = headers.get('x-sluice-provider');
    if (row.cassette !== 'replayed' && row.cached?.result !== 'hit' && !['rescued', 'reset'].includes(play.course))
      differences.expect(`x-sluice-provider of ${place}`, provider, row.provider);
    if (told === undefined || Object.values(otherUsage).some((isSo) => isSo(answer, row))) continue;
    const counted = asTold(row.usage);
    for (const name of Object.keys(told) as (keyof Told)[])
      differences.expect(`${name} told to ${place}, ${row.usageCertainty}`, told[name], counted[name]);
    if (row.usageCertainty === 'reported' && play.what.kind === 'talk') {
      for (const [name, count] of Object.entries(play.counts))
        differences.expect(`${name} reported for ${place}`, counted[name as keyof Told], count);
    }
  }
}

/** Of responses in the background and in realtime sessions, each is booked once. */
function compareLaterBills(differences: Differences, answers: readonly Answer[], rows: readonly RequestView[]): void {
  for (const [kind, model] of [
    ['background', 'gpt-background'],
    ['realtime', realtimeModel],
  ] as const) {
    const booked = sumOfRows(rows.filter(({ modelAsked }) => modelAsked === model));
    const counts = answers.flatMap(({ play, told }) => (play.what.kind === kind && told ? [play.counts] : []));
    const total = (name: 'input' | 'output') => counts.reduce((sum, each) => sum + each[name], 0);
    differences.expect(`input booked for ${kind}`, booked.inputTokens, total('input'));
    differences.expect(`output booked for ${kind}`, booked.outputTokens, total('output'));
  }
}

interface KeyUsage {
  today: Figures;
  month: Figures;
}
type Figures = Record<'requests' | 'input_tokens' | 'output_tokens' | 'cost_usd' | 'unpriced_requests', number>;

/** Resolves with the ids of the requests that ask. */
export async function compareKeyUsage(
  differences: Differences,
  sluice: TestGateway,
  rows: readonly RequestView[],
): Promise<{ requestId: string | null }[]> {
  const asked = [];
  const keys = new Set(rows.map(({ keyId }) => keyId));
  for (const key of keys as Set<KeyName>) {
    const response = await fetch(`${sluice.baseUrl}/usage`, { headers: { 'x-api-key': secretOf(key) } });
    const usage = (await response.json()) as KeyUsage;
    for (const [name, per] of [
      ['today', 'day'],
      ['month', 'month'],
    ] as const) {
      const { startMs } = localCalendar().periodOf(per, Date.now());
      const { requests, input_tokens, output_tokens, cost_usd, unpriced_requests } = usage[name];
      const told = {
        ...{ requests, inputTokens: input_tokens, outputTokens: output_tokens },
        ...{ costUsd: cost_usd, unpricedRequests: unpriced_requests },
      };
      const own = rows.filter(({ keyId, startedAt }) => keyId === key && startedAt >= startMs);
      differences.expectSums(`GET /v1/usage, ${name}, of ${key}`, told, sumOfRows(own));
    }
    asked.push({ requestId: response.headers.get('x-sluice-request-id') });
  }
  return asked;
}

// What Prometheus and OpenTelemetry are told of a day.

const tokenTypes = {
  input: 'inputTokens',
  output: 'outputTokens',
  cached_input: 'cachedInputTokens',
  cache_write: 'cacheWriteTokens',
  reasoning: 'reasoningTokens',
} as const satisfies Record<string, keyof Sums>;

type Labels = Record<string, string>;

export async function comparePrometheus(differences: Differences, { sluice, rows, folder }: Day): Promise<void> {
  const token = readFileSync(join(folder, 'admin.token'), 'utf8').trim();
  const response = await fetch(`${sluice.origin}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const families = readPrometheusText(await response.text());
  const samplesOf = (name: string) => families.get(name)?.samples ?? [];
  const readSum = (name: string, wanted: Labels) =>
    samplesOf(name)
      .filter(({ labels }) => Object.entries(wanted).every(([label, value]) => labels[label] === value))
      .reduce((sum, { value }) => sum + value, 0);
  const parts = rows.flatMap((row) => partsOf(row).map((part) => ({ ...part, group: row.groupId })));
  const series = Map.groupBy(parts, ({ group, provider, model }) => JSON.stringify([group, provider, model]));
  for (const [name, some] of series) {
    const [group, provider, model] = (JSON.parse(name) as (string | null)[]).map((label) => label ?? 'none');
    const labels = { group: group ?? '', provider: provider ?? '', model: model ?? '' };
    const sums = sumOf(some);
    for (const [type, count] of Object.entries(tokenTypes))
      differences.expect(
        `Prometheus, ${type} tokens of ${name}`,
        readSum('sluice_tokens_total', { ...labels, type }),
        sums[count],
      );
    differences.expect(`Prometheus, requests of ${name}`, readSum('sluice_requests_total', labels), sums.requests);
    differences.expect(`Prometheus, cost of ${name}`, readSum('sluice_cost_usd_total', labels), sums.costUsd);
    differences.expect(
      `Prometheus, unpriced of ${name}`,
      readSum('sluice_unpriced_requests_total', labels),
      sums.unpricedRequests,
    );
  }
  const total = sumOf(parts);
  differences.expectSums(
    'Prometheus, all series',
    { requests: readSum('sluice_requests_total', {}), costUsd: readSum('sluice_cost_usd_total', {}) },
    { ...total, unpricedRequests: 0 },
  );
  for (const [outcome, some] of Map.groupBy(rows, verdictBy))
    differences.expect(
      `Prometheus, requests that ended ${outcome}`,
      readSum('sluice_requests_total', { outcome }),
      some.length,
    );
}

export function compareTelemetry(
  differences: Differences,
  { points, spans }: OtlpCollector,
  rows: readonly RequestView[],
): void {
  const parts = rows.flatMap(partsOf);
  const sums = sumOf(parts);
  const latest = new Map(
    points
      .filter(({ metric }) => /^gen_ai\.client\.\w+\.operation\.(?:in|out)put_tokens$/.test(metric))
      .map((point) => [point.metric + JSON.stringify(Object.entries(point.attributes).toSorted()), point]),
  );
  for (const [type, count] of [
    ['input', 'inputTokens'],
    ['output', 'outputTokens'],
  ] as const) {
    const own = [...latest.values()].filter(({ metric }) => metric.endsWith(`.${type}_tokens`));
    differences.expect(
      `OpenTelemetry, ${type} tokens`,
      own.reduce((sum, point) => sum + point.sum, 0),
      sums[count],
    );
    for (const [model, some] of Map.groupBy(parts, (part) => part.model)) {
      const ofModel = own.filter(({ attributes }) => attributes['gen_ai.request.model'] === (model ?? undefined));
      differences.expect(
        `OpenTelemetry, ${type} tokens of ${model}`,
        ofModel.reduce((sum, point) => sum + point.sum, 0),
        sumOf(some)[count],
      );
    }
  }
  const attributes = {
    inputTokens: 'gen_ai.usage.input_tokens',
    outputTokens: 'gen_ai.usage.output_tokens',
    cachedInputTokens: 'gen_ai.usage.cache_read.input_tokens',
    cacheWriteTokens: 'gen_ai.usage.cache_write.input_tokens',
    reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  } as const;
  for (const [count, attribute] of Object.entries(attributes)) {
    const told = spans.reduce((sum, span) => sum + Number(span.attributes[attribute] ?? 0), 0);
    differences.expect(`OpenTelemetry, spans’ ${count}`, told, sums[count as keyof Sums]);
  }
}

export async function compareLists(differences: Differences, day: Day): Promise<void> {
  await compareFilters(differences, day);
  await compareCaches(differences, day);
  await compareUnpriced(differences, day);
}

/** The store, the live list of the window and `sluice log --follow` select the same requests. */
async function compareFilters(differences: Differences, { sluice, rows }: Day): Promise<void> {
  const valuesOf = (read: (row: RequestView) => string | null) =>
    new Set(rows.map(read).filter((each) => each !== null));
  const filters: RequestFilterInput[] = [
    ...[...valuesOf(({ keyId }) => keyId)].map((keyId) => ({ keyId })),
    ...[...valuesOf(({ groupId }) => groupId)].map((groupId) => ({ groupId })),
    ...[...valuesOf(({ modelAsked }) => modelAsked)].map((model) => ({ model })),
    ...[...valuesOf(({ modelServed }) => modelServed)].map((model) => ({ model })),
    ...[...valuesOf(({ provider }) => provider)].map((provider) => ({ provider })),
    ...['200', '404', '429', '2xx', '4xx', '5xx'].map((status) => ({ status })),
    ...outcomes.map((outcome) => ({ outcome })),
    ...['>=400', '<500'].map((status) => ({ status })),
    ...['>0', '<=0.001'].map((cost) => ({ cost })),
    ...['>20', '<=20'].map((durationMs) => ({ durationMs })),
    { firstByteMs: '<10' },
    ...['>100', '<1'].map((tokens) => ({ tokens })),
  ];
  for (const filter of filters) {
    const place = `requests with ${JSON.stringify(filter)}`;
    const { requests } = await sluice.gateway.query({ type: 'requests', filter, limit: 1_000 });
    const { requests: number } = await sluice.gateway.query({ type: 'request-count', filter });
    const found = requests.map(({ id }) => id).join(' ');
    const idsOf = (is: (row: RequestView) => boolean) =>
      rows
        .filter(is)
        .map(({ id }) => id)
        .join(' ');
    differences.expect(`the number of ${place}`, number, requests.length);
    differences.expect(
      `${place} in the window’s live list and sluice log --follow`,
      idsOf((row) => fitsFilter(row, filter)),
      found,
    );
  }
  const counted = sumOfRows(rows);
  const byVerdict = Map.groupBy(rows, verdictBy);
  for (const outcome of outcomes) {
    const count = await sluice.gateway.query({ type: 'request-count', filter: { outcome } });
    const own = byVerdict.get(outcome as Verdict) ?? [];
    const isFailed = outcome === 'failed';
    differences.expect(`requests whose outcome is ${outcome}`, count.requests, isFailed ? counted.failed : own.length);
    const all = sumOfRows(own);
    const { failed, refused } = isFailed ? { failed: counted.failed, refused: 0 } : all;
    differences.expect(`the failed and refused of them`, `${count.failed}, ${count.refused}`, `${failed}, ${refused}`);
    const written = readFilterText(`outcome:${outcome}`).filter.outcome;
    differences.expect(`what is written as outcome:${outcome}`, written, outcome);
  }
}

async function compareCaches(differences: Differences, { sluice, rows }: Day): Promise<void> {
  for (const { groupId, hits, misses, savedUsd } of await sluice.gateway.query({ type: 'caches' })) {
    const own = rows.filter((row) => row.groupId === groupId);
    const hit = own.filter(({ cached }) => cached?.result === 'hit');
    differences.expect(`hits of the cache of ${groupId}`, hits, hit.length);
    differences.expect(`misses of it`, misses, own.filter(({ cached }) => cached?.result === 'miss').length);
    differences.expect(
      `what it saved`,
      savedUsd,
      hit.reduce((sum, { cached }) => sum + (cached?.savedUsd ?? 0), 0),
    );
    const paid = own.filter(({ cached }) => cached?.result === 'miss');
    differences.expect('what the answers that it repeated had cost', savedUsd, sumOfRows(paid).costUsd);
  }
}

async function compareUnpriced(differences: Differences, { sluice, rows }: Day): Promise<void> {
  const { models } = await sluice.gateway.query({ type: 'prices' });
  const parts = rows.flatMap(partsOf).filter(({ isUnpriced }) => isUnpriced);
  const named = (list: readonly (readonly [provider: string | null, model: string | null, requests: number])[]) =>
    list
      .map((each) => each.join(' '))
      .toSorted()
      .join(', ');
  const told = models
    .filter(({ unpricedRequests }) => unpricedRequests > 0)
    .map(({ provider, model, unpricedRequests }) => [provider, model, unpricedRequests] as const);
  const counted = [...Map.groupBy(parts, ({ provider, model }) => `${provider} ${model}`).values()].map(
    (some) => [some[0]?.provider ?? null, some[0]?.model ?? null, unpricedIn(some)] as const,
  );
  differences.expect('the models without a price', named(told), named(counted));
}

/** The events of ended requests, from which the window’s live list and `sluice log --follow` are made, have the rows. */
export function compareEvents(
  differences: Differences,
  messages: readonly EventMessage[],
  rows: readonly RequestView[],
): void {
  const ended = messages.flatMap(({ event }) => (event.type === 'request-finished' ? [event.request] : []));
  differences.expect('events of ended requests', ended.length, rows.length);
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const { id, usage, usageCertainty, costUsd, outcome, status, provider } of ended) {
    const row = byId.get(id);
    const text = (of: object | undefined) => JSON.stringify(of);
    differences.expect(
      `the event of ${id}`,
      text({ usageCertainty, costUsd, outcome, status, provider }),
      row &&
        text({
          usageCertainty: row.usageCertainty,
          costUsd: row.costUsd,
          outcome: row.outcome,
          status: row.status,
          provider: row.provider,
        }),
    );
    for (const [name, amount] of Object.entries(usage ?? {}))
      differences.expect(`${name} in the event of ${id}`, amount, row?.usage?.[name as keyof typeof usage]);
  }
}
