/** The queries of the window about a day: usage, sessions, budgets. */

import { loadUsage } from '../../../renderer/components/usage/load-usage.ts';
import { sumOf as windowSumOf } from '../../../renderer/components/usage/usage-figures.ts';
import { localCalendar, localZone } from '../../../server/contract/calendar.ts';
import type { Judged, Verdict } from '../../../server/contract/count.ts';
import { isUnpriced, isUnpricedAttempt } from '../../../server/contract/count.ts';
import type { LimitMeter } from '../../../server/contract/limits.ts';
import type { RequestView, UsageStepView } from '../../../server/contract/request-views.ts';
import type { SessionSums } from '../../../server/contract/session-views.ts';
import { hourMs, minuteMs, quarterMs } from '../../../server/contract/units.ts';
import type { Store } from '../../../server/store/store.ts';
import type { TestGateway } from '../../support/gateway.ts';

// What a day's rows add up to, counted here in the plainest way, and the differences of what others say of it.

export type Sums = Record<
  | 'requests'
  | 'failed'
  | 'refused'
  | 'inputTokens'
  | 'outputTokens'
  | 'cachedInputTokens'
  | 'cacheWriteTokens'
  | 'reasoningTokens'
  | 'seconds'
  | 'characters'
  | 'images'
  | 'costUsd'
  | 'unpricedRequests',
  number
>;

/** One of several parts of a request counts its usage only, at its own target. */
type Part = Pick<RequestView, 'usage' | 'costUsd'> & {
  model: string | null;
  provider: string | null;
  /** Null in the parts that do not count as the request. */
  row: RequestView | null;
  /** Of the request that it is a part of. */
  id: string;
  isUnpriced: boolean;
};

export function partsOf(row: RequestView): Part[] {
  const { usage, costUsd, attempts, provider, modelAsked } = row;
  const answering = { row, id: row.id, provider, model: row.modelServed ?? modelAsked };
  if (attempts.length < 2) return [{ ...answering, usage, costUsd, isUnpriced: isUnpriced(row) }];
  return [
    { ...answering, usage: null, costUsd: 0, isUnpriced: false },
    ...attempts.map((attempt) => ({
      ...{ row: null, id: row.id, provider: attempt.provider, model: attempt.model ?? modelAsked },
      ...{ usage: attempt.usage, costUsd: attempt.costUsd, isUnpriced: isUnpricedAttempt(attempt) },
    })),
  ];
}

/** What became of a request, told apart here in the plainest way. */
export function verdictBy({ outcome, fault, provider, status }: Judged): Verdict {
  if (outcome === null) return 'running';
  if (outcome === 'ok' || outcome === 'client-gone') return outcome;
  if (fault !== null) return 'fault';
  return outcome === 'error' && provider === null && status !== null && status < 500 ? 'refused' : outcome;
}

/** A provider, Sluice or a break let it down; not the client itself, nor a fault that it asked for. */
const hasFailed = (row: RequestView) => ['error', 'stream-broken', 'interrupted'].includes(verdictBy(row));

export function sumOf(parts: readonly Part[]): Sums {
  const total = (read: (part: Part) => number | null | undefined) =>
    parts.reduce((sum, part) => sum + (read(part) ?? 0), 0);
  return {
    requests: total(({ row }) => Number(row !== null)),
    failed: total(({ row }) => Number(row !== null && hasFailed(row))),
    refused: total(({ row }) => Number(row !== null && verdictBy(row) === 'refused')),
    inputTokens: total(({ usage }) => usage?.inputTokens),
    outputTokens: total(({ usage }) => usage?.outputTokens),
    cachedInputTokens: total(({ usage }) => usage?.cachedInputTokens),
    cacheWriteTokens: total(({ usage }) => usage?.cacheWriteTokens),
    reasoningTokens: total(({ usage }) => usage?.reasoningTokens),
    seconds: total(({ usage }) => usage?.seconds),
    characters: total(({ usage }) => usage?.characters),
    images: total(({ usage }) => usage?.images),
    costUsd: total(({ costUsd }) => costUsd),
    unpricedRequests: unpricedIn(parts),
  };
}

/** A request whose target was asked twice is one request of unknown cost. */
export const unpricedIn = (parts: readonly Part[]) =>
  new Set(parts.filter(({ isUnpriced }) => isUnpriced).map(({ id }) => id)).size;

export const sumOfRows = (rows: readonly RequestView[]) =>
  sumOf(
    rows.map((row) => ({
      row,
      id: row.id,
      usage: row.usage,
      costUsd: row.costUsd,
      isUnpriced: isUnpriced(row),
      model: null,
      provider: null,
    })),
  );

export function sumsBy<T extends Part | RequestView>(
  items: readonly T[],
  nameOf: (item: T) => string | null,
  sum: (items: readonly T[]) => Sums,
): Map<string, Sums> {
  const groups = Map.groupBy(items, (item) => nameOf(item) ?? '');
  return new Map([...groups].map(([name, some]) => [name, sum(some)]));
}

/** The sum of doubles depends on their order in its last digits: an amount counts to a billionth. */
const toBillionth = (value: number) => Math.round(value * 1e9) / 1e9;

/** Collects the figures in which someone differs from the rows. */
export class Differences {
  readonly found: string[] = [];
  /** The number of figures compared. */
  compared = 0;

  expect(place: string, told: unknown, counted: unknown): void {
    this.compared += 1;
    const [one, other] = [told, counted].map((value) => (typeof value === 'number' ? toBillionth(value) : value));
    if (!Object.is(one, other)) this.found.push(`${place}: ${String(one)}, but the rows say ${String(other)}`);
  }

  /** Compares the figures that `told` has. An unknown cost is null, not 0. */
  expectSums(place: string, told: Partial<Record<keyof Sums, number | null>>, counted: Sums): void {
    for (const name of Object.keys(counted) as (keyof Sums)[]) {
      if (!(name in told)) continue;
      const isUnknown = name === 'costUsd' && counted.costUsd === 0 && counted.unpricedRequests > 0;
      this.expect(`${place}, ${name}`, told[name], isUnknown ? null : counted[name]);
    }
  }

  /** Compares named sums, of which neither side may have one that the other lacks. */
  expectNamed(
    place: string,
    told: readonly ({ name: string | null } & Partial<Record<keyof Sums, number | null>>)[],
    counted: ReadonlyMap<string, Sums>,
  ): void {
    const names = (list: Iterable<string>) => [...list].toSorted().join(', ');
    this.expect(`the names in ${place}`, names(told.map(({ name }) => name ?? '')), names(counted.keys()));
    for (const each of told) {
      const sums = counted.get(each.name ?? '');
      if (sums) this.expectSums(`${place} ${each.name}`, each, sums);
    }
  }
}

export interface Day {
  sluice: TestGateway;
  store: Store;
  /** Of all requests, newest first. */
  rows: readonly RequestView[];
  folder: string;
}

const zones = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu'];

/** What the rows say by each dimension. A request of several attempts has used what each of them did, at its own target. */
export function sumsOf(rows: readonly RequestView[], zone: string): Record<Dimension, Map<string, Sums>> {
  const parts = rows.flatMap(partsOf);
  const days = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
  return {
    day: sumsBy(rows, ({ startedAt }) => days.format(startedAt), sumOfRows),
    key: sumsBy(rows, ({ keyId }) => keyId, sumOfRows),
    group: sumsBy(rows, ({ groupId }) => groupId, sumOfRows),
    model: sumsBy(parts, ({ model }) => model, sumOf),
    provider: sumsBy(parts, ({ provider }) => provider, sumOf),
  };
}
export type Dimension = 'day' | 'key' | 'group' | 'model' | 'provider';
export const dimensions: readonly Dimension[] = ['day', 'key', 'group', 'model', 'provider'];

export async function compareLedger(differences: Differences, day: Day): Promise<void> {
  await compareUsage(differences, day);
  await compareSteps(differences, day);
  await compareMembers(differences, day);
  await compareWindow(differences, day);
  await compareSessions(differences, day);
  const { gateway } = day.sluice;
  const count = await gateway.query({ type: 'request-count' });
  const sums = sumOfRows(day.rows);
  const { isComplete: _, ...counted } = count;
  differences.expectSums('request-count', counted, sums);
  const { startMs: sinceMs } = localCalendar().periodOf('day', Date.now());
  const { today } = await gateway.query({ type: 'panel', sinceMs, zone: localZone() });
  const rowsToday = day.rows.filter(({ startedAt }) => startedAt >= sinceMs);
  if (today) differences.expectSums('the panel’s day', today, sumOfRows(rowsToday));
  else differences.expect('the panel’s day', 0, rowsToday.length);
}

async function compareUsage(differences: Differences, { sluice, rows }: Day): Promise<void> {
  for (const zone of zones) {
    for (const by of dimensions) {
      const told = await sluice.gateway.query({ type: 'usage', by, zone });
      differences.expectNamed(`usage by ${by} in ${zone}`, told, sumsOf(rows, zone)[by]);
    }
  }
}

/** Steps of quarters of an hour are added up from stored sums, those of a minute from rows. */
async function compareSteps(differences: Differences, { sluice, rows }: Day): Promise<void> {
  const times = rows.map(({ startedAt }) => startedAt);
  const sinceMs = Math.floor(Math.min(...times) / hourMs) * hourMs;
  const untilMs = Math.ceil((Math.max(...times) + 1) / hourMs) * hourMs;
  for (const stepMs of [hourMs, quarterMs, minuteMs]) {
    for (const by of dimensions) {
      const told = await sluice.gateway.query({ type: 'usage-over-time', by, sinceMs, untilMs, stepMs });
      const steps = Map.groupBy(rows, ({ startedAt }) => Math.floor(startedAt / stepMs) * stepMs);
      const named = (steps_: readonly UsageStepView[], name: (step: UsageStepView) => string | null) =>
        steps_.map((step) => ({ ...step, name: name(step) }));
      for (const [startMs, some] of steps) {
        const ofStep = told.filter((step) => step.startMs === startMs);
        const counted = by === 'day' ? new Map([['', sumOfRows(some)]]) : sumsOf(some, 'UTC')[by];
        const place = `usage-over-time by ${by}, ${stepMs / minuteMs} min, ${new Date(startMs).toISOString()}`;
        differences.expectNamed(
          place,
          named(ofStep, ({ name }) => (by === 'day' ? '' : name)),
          counted,
        );
      }
      differences.expect(
        `steps of usage-over-time by ${by}, ${stepMs / minuteMs} min`,
        new Set(told.map(({ startMs }) => startMs)).size,
        steps.size,
      );
    }
  }
}

/** A member sees what their keys used, a manager what their groups did. */
async function compareMembers(differences: Differences, { store, rows }: Day): Promise<void> {
  const parts = [
    { keyIds: ['budgeted', 'cached'], groupIds: [] },
    { keyIds: [], groupIds: ['remembered', 'recorded'] },
    { keyIds: ['plain'], groupIds: ['recorded'] },
  ];
  for (const within of parts) {
    const { keyIds, groupIds } = within;
    const own = rows.filter((row) => keyIds.includes(row.keyId ?? '') || groupIds.includes(row.groupId ?? ''));
    for (const by of dimensions) {
      const told = await store.ledger.summarizeUsage({ by, zone: 'Europe/Berlin', within });
      const place = `usage by ${by} of ${[...keyIds, ...groupIds].join(' and ')}`;
      differences.expectNamed(place, told, sumsOf(own, 'Europe/Berlin')[by]);
    }
    const { requests } = await store.ledger.listRequests({ limit: 1_000, within });
    differences.expect('the rows that they see', requests.length, own.length);
  }
}

/** The tiles and tables of the overview. */
async function compareWindow(differences: Differences, { sluice, rows }: Day): Promise<void> {
  const query = ((question: Parameters<typeof sluice.gateway.query>[0]) =>
    sluice.gateway.query(question)) as Parameters<typeof loadUsage>[0];
  for (const by of ['key', 'group', 'model', 'provider'] as const) {
    const shown = await loadUsage(query, { range: 'day', by, metric: 'cost' }, Date.now());
    const total = windowSumOf(shown.total);
    const counted = sumOfRows(rows);
    differences.expectSums(`the overview’s tiles, ${by}`, total, counted);
    differences.expectNamed(`the overview by ${by}`, shown.byName, sumsOf(rows, 'UTC')[by]);
    for (const name of shown.leaders) {
      const steps = shown.leaderSteps.filter((step) => step.name === name);
      const sums = sumsOf(rows, 'UTC')[by].get(name ?? '');
      if (sums) differences.expectSums(`the overview’s series of ${by} ${name}`, windowSumOf(steps), sums);
    }
  }
}

async function compareSessions(differences: Differences, { sluice, rows }: Day): Promise<void> {
  const { sessions } = await sluice.gateway.query({ type: 'sessions', limit: 200 });
  const byId = Map.groupBy(
    rows.filter(({ session }) => session !== null),
    ({ session }) => session?.id ?? '',
  );
  differences.expect('sessions', sessions.length, byId.size);
  for (const listed of sessions) {
    const own = byId.get(listed.id) ?? [];
    const counted = sumOfRows(own);
    const { session, turns, requests } = await sluice.gateway.query({ type: 'session', id: listed.id });
    const place = `session ${listed.id}`;
    const hasCost = own.some(({ costUsd }) => costUsd !== null);
    for (const [where, told] of [
      [`the list’s ${place}`, listed],
      [place, session],
      [`turns of ${place}`, sumOfTurns(turns)],
    ] as const) {
      const { costUsd, ...figures } = told;
      differences.expectSums(where, figures as Partial<Sums>, counted);
      differences.expect(`${where}, costUsd`, costUsd, hasCost ? counted.costUsd : null);
    }
    differences.expect(`budgetUsedUsd of ${place}`, session.budgetUsedUsd, counted.costUsd);
    const rowsById = new Map(own.map((row) => [row.id, row]));
    for (const { id, inputTokens, outputTokens, costUsd, verdict } of requests) {
      const row = rowsById.get(id);
      differences.expect(`verdict of ${id}`, verdict, row && verdictBy(row));
      differences.expect(`input of ${id}`, inputTokens, row?.usage?.inputTokens ?? null);
      differences.expect(`output of ${id}`, outputTokens, row?.usage?.outputTokens ?? null);
      differences.expect(`cost of ${id}`, costUsd, row?.costUsd);
    }
  }
}

function sumOfTurns(turns: readonly SessionSums[]) {
  const total = (
    name:
      | 'requests'
      | 'failed'
      | 'refused'
      | 'inputTokens'
      | 'outputTokens'
      | 'cachedInputTokens'
      | 'cacheWriteTokens'
      | 'unpricedRequests',
  ) => turns.reduce((sum, turn) => sum + turn[name], 0);
  const costs = turns.map(({ costUsd }) => costUsd).filter((cost) => cost !== null);
  return {
    ...{
      requests: total('requests'),
      failed: total('failed'),
      refused: total('refused'),
      unpricedRequests: total('unpricedRequests'),
    },
    ...{ inputTokens: total('inputTokens'), outputTokens: total('outputTokens') },
    ...{ cachedInputTokens: total('cachedInputTokens'), cacheWriteTokens: total('cacheWriteTokens') },
    costUsd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
  };
}

/** Budgets in the window, and at the keys themselves. */
export async function compareMeters(
  differences: Differences,
  where: string,
  { sluice, rows }: Pick<Day, 'sluice' | 'rows'>,
): Promise<void> {
  const keys = await sluice.gateway.query({ type: 'keys' });
  const groups = await sluice.gateway.query({ type: 'groups' });
  const subjects = [
    ...keys.map(({ id, limitUse }) => ({ id, limitUse, own: rows.filter(({ keyId }) => keyId === id) })),
    ...groups.map(({ id, limitUse }) => ({ id, limitUse, own: rows.filter(({ groupId }) => groupId === id) })),
  ];
  for (const { id, limitUse, own } of subjects) {
    for (const meter of limitUse) compareMeter(differences, `${where}, ${id}`, { meter, own });
  }
}

function compareMeter(
  differences: Differences,
  place: string,
  { meter: { kind, budget, used, unpriced }, own }: { meter: LimitMeter; own: readonly RequestView[] },
): void {
  if (kind !== 'budget' || budget === null) return;
  const startMs = budget.per === 'total' ? 0 : localCalendar().periodOf(budget.per, Date.now()).startMs;
  const counted = sumOfRows(own.filter(({ startedAt }) => startedAt >= startMs));
  const isMoney = budget.unit === 'usd';
  const what = `${place}, budget of ${budget.unit} per ${budget.per}`;
  differences.expect(what, used, isMoney ? counted.costUsd : counted.inputTokens + counted.outputTokens);
  if (isMoney && budget.per !== 'total') differences.expect(`${what}, unpriced`, unpriced, counted.unpricedRequests);
}
