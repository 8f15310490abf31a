/** What lists show of a day: filtered requests, live ones, caches, and models without a price. */
import type { EventMessage } from '../../../server/contract/events.ts';
import type { RequestFilterInput } from '../../../server/contract/queries.ts';
import { fitsFilter } from '../../../server/contract/request-filter.ts';
import type { RequestView } from '../../../server/contract/request-views.ts';
import type { Day } from './compare-ledger.ts';
import { type Differences, partsOf, sumOfRows, unpricedIn } from './sums.ts';

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
    { outcome: 'failed' },
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
  for (const [outcome, sum] of [
    ['failed', counted.errors],
    ['refused', counted.refused],
  ] as const) {
    const { requests } = await sluice.gateway.query({ type: 'request-count', filter: { outcome } });
    differences.expect(`requests whose outcome is ${outcome}`, requests, sum);
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
