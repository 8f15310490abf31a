/** The same hostile rows in SQLite and in PostgreSQL, and every query of the contract to both. */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configSchema } from '../../../../server/contract/config.ts';
import { isObject } from '../../../../server/contract/is-object.ts';
import type { RequestRecord } from '../../../../server/contract/ledger.ts';
import type { QueryInputMap, QueryType } from '../../../../server/contract/queries.ts';
import { openLocalStore } from '../../../../server/store/local-store.ts';
import { storableRow } from '../../../../server/store/rules/storable-row.ts';
import type { Store } from '../../../../server/store/store.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { fullBegunRow, hostileRows } from '../../../support/hostile-rows.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openReplicaStore } from '../../../support/postgres-store.ts';
import { pick, randomNumbers } from '../../../support/random-numbers.ts';
import { everyAnswer } from '../contract/ledger/hostile.ts';
import { day, ended, hour, minute, noon, quarter } from '../contract/store-subject.ts';
import { capturedExchange, silent, temporaryFolder } from '../sqlite/records.ts';

/** With the second and third, two providers cost the same, but for the last digit of the sums: small ones, and large. */
const seeds = [7, 1404748553, 1142550126, Math.floor(Math.random() * 2 ** 31)];
/** Fewer in a day than the samples of a step: of more, each store takes its newest. */
const rowsPerSeed = 380;
const texts = [
  'mail user@example.com about src/translate/parse-request.ts v1.2.3-beta',
  'na\u00efve e\u0301le\u0300ve 我想了解机器学习 100% col_umn "quoted" \ud800 \0 🚀',
];

/** Most rows follow each other, some at the same time; others are late, or of a clock that was wrong. The id has the time. */
function placeOf(index: number, random: () => number): Pick<RequestRecord, 'id' | 'startedAt'> {
  const misplaced = [-minute, -hour, -3 * hour, -2 * day, -6 * day, -20 * day, 5 * hour, 3 * day];
  const startedAt = noon + Math.floor(index / 2) * minute + (random() < 0.9 ? 0 : pick(misplaced, random));
  return { id: `req_${startedAt.toString(16).padStart(12, '0')}${String(index).padStart(20, '0')}`, startedAt };
}

function rowsOf(seed: number): RequestRecord[] {
  const random = randomNumbers(seed);
  return hostileRows(rowsPerSeed, { seed, startedAt: noon }).map((row, index) => ({
    ...row,
    ...placeOf(index, random),
    keyId: pick(['k1', 'k2', row.keyId], random),
    costUsd: pick([row.costUsd, null, 0.25], random),
    totalMs: pick([row.totalMs, 100], random),
    captured: index % 40 === 0 ? 'group' : row.captured,
  }));
}

const hasNothingStored = 'Its answer has nothing of the store.';
type Questions = { readonly [T in QueryType]: readonly Omit<QueryInputMap[T], 'type'>[] | typeof hasNothingStored };

/** A query that is new in the contract does not compile until it is listed here. */
function questionsAbout(rows: readonly RequestRecord[]): Questions {
  const named = (nameOf: (row: RequestRecord) => string | null) =>
    [...new Set(rows.map(nameOf))].filter((name) => name !== null).slice(0, 25);
  const [models, clients, providers] = [
    named((row) => row.modelAsked),
    named((row) => row.client),
    named((row) => row.provider),
  ];
  const spans = [
    {},
    { sinceMs: noon, untilMs: noon + hour },
    { sinceMs: noon - 7 * day, untilMs: noon - hour },
    { sinceMs: noon + 90 * minute },
    { untilMs: noon - 10 * day },
  ];
  const filters: QueryInputMap['requests']['filter'][] = [
    ...spans,
    ...models.map((model) => ({ model })),
    ...clients.map((client) => ({ client })),
    ...providers.map((provider) => ({ provider })),
    ...(['ok', 'error', 'client-gone', 'stream-broken', 'interrupted', 'running', 'failed', 'refused'] as const).map(
      (outcome) => ({ outcome }),
    ),
    ...['200', '4xx', '5xx', '>=400', '<404'].map((status) => ({ status })),
    ...['>0.1', '<=0.25'].map((cost) => ({ cost })),
    { durationMs: '>=100', firstByteMs: '>0' },
    ...['<1', '>10'].map((tokens) => ({ tokens })),
    ...['k1', 'k2', 'other'].map((keyId) => ({ keyId, sinceMs: noon - day })),
    ...(['chat', 'embeddings'] as const).map((capability) => ({ capability })),
    ...[
      'example.com',
      'parse-request',
      'beta',
      'naive',
      'eleve',
      '机器学习',
      '习学',
      '%',
      '_',
      '"',
      'broke',
      'req_7_1',
    ].map((search) => ({ search })),
    ...[...models, ...clients].map((name) => ({ search: name.slice(0, 200) })),
  ];
  const zones = [undefined, 'Asia/Kathmandu', 'America/New_York'];
  const dimensions = ['day', 'key', 'group', 'model', 'provider'] as const;
  const steps = [
    { sinceMs: noon - 8 * day, untilMs: noon + day, stepMs: day },
    { sinceMs: noon - hour, untilMs: noon + 5 * hour, stepMs: quarter },
    { sinceMs: noon, untilMs: noon + 2 * hour, stepMs: minute },
  ];
  const overTime = dimensions.flatMap((by) =>
    steps.flatMap((step) => zones.map((zone) => ({ by, ...step, ...(zone && { zone }) }))),
  );
  const sessions = [...new Set(rows.map(({ session }) => session?.id))].filter((id) => id?.match(/^[\w-]{1,100}$/));
  return {
    requests: [
      ...filters.map((filter) => ({ filter, limit: 1_000 })),
      ...(['duration', 'cost', 'tokens', 'first-byte'] as const).flatMap((by) =>
        [true, false].map((isAscending) => ({ sort: { by, isAscending }, limit: 1_000 })),
      ),
    ],
    'request-count': filters.map((filter) => ({ filter })),
    'request-names': (['model', 'client', 'provider', 'capability', 'status'] as const).map((of) => ({ of })),
    request: rows.slice(0, 100).map(({ id }) => ({ id })),
    sessions: [
      ...spans.flatMap(({ sinceMs }) => (sinceMs === undefined ? [] : [{ filter: { sinceMs }, limit: 200 }])),
      ...[{}, { keyId: 'k1' }, { groupId: 'default' }, { running: true as const }, { stopped: true as const }].map(
        (filter) => ({ filter, limit: 200 }),
      ),
    ],
    'request-texts': [{ ids: rows.slice(0, 50).map(({ id }) => id) }],
    session: sessions.map((id) => ({ id: id ?? '' })),
    pins: [{}],
    refusals: [{}, { sinceMs: noon + hour }],
    clients: [{}],
    panel: zones.map((zone) => ({ sinceMs: noon, ...(zone && { zone }) })),
    usage: dimensions.flatMap((by) =>
      zones.flatMap((zone) => spans.map((span) => ({ by, ...span, ...(zone && { zone }) }))),
    ),
    'usage-over-time': overTime,
    'first-byte-times': overTime,
    prices: [{}],
    keys: [{}],
    'find-keys': [{}],
    status: hasNothingStored,
    providers: hasNothingStored,
    presets: hasNothingStored,
    'local-servers': hasNothingStored,
    'environment-credentials': hasNothingStored,
    'provider-test': hasNothingStored,
    groups: hasNothingStored,
    'find-groups': hasNothingStored,
    'group-preview': hasNothingStored,
    caches: hasNothingStored,
    cassettes: hasNothingStored,
    aliases: hasNothingStored,
    models: hasNothingStored,
    route: hasNothingStored,
    'connect-clients': hasNothingStored,
    'connect-preview': hasNothingStored,
    'connect-undo-preview': hasNothingStored,
    config: hasNothingStored,
    'adopt-preview': hasNothingStored,
    'import-preview': hasNothingStored,
    'team-preset-preview': hasNothingStored,
    'who-am-i': hasNothingStored,
    'join-preset': hasNothingStored,
    people: hasNothingStored,
    tokens: hasNothingStored,
    scim: hasNothingStored,
    audit: hasNothingStored,
    host: hasNothingStored,
    network: hasNothingStored,
  };
}

/** Without sequence numbers and addresses, which are a store's own. */
function comparable(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer), (name, value) =>
    ['seq', 'next', 'baseUrl'].includes(name) ? (value === null ? null : 0) : value,
  );
}

/** The answer, with the other's number wherever only the last digits differ, as of sums that were added in another order. */
function inDigitsOf(other: unknown, answer: unknown): unknown {
  if (typeof answer === 'number' && typeof other === 'number')
    return Math.abs(answer - other) <= 1e-9 * Math.max(Math.abs(answer), Math.abs(other)) ? other : answer;
  if (Array.isArray(answer) && Array.isArray(other)) return answer.map((each, index) => inDigitsOf(other[index], each));
  if (!isObject(answer) || !isObject(other)) return answer;
  return Object.fromEntries(Object.entries(answer).map(([name, each]) => [name, inDigitsOf(other[name], each)]));
}

describe.runIf(hasPostgres()).each(seeds)('the same rows in both stores, from the seed %i', (seed) => {
  const server = startPostgresInSuite();
  const folder = temporaryFolder();
  const rows = rowsOf(seed);
  const stores: Store[] = [];
  const gateways: TestGateway[] = [];

  beforeAll(async () => {
    const options = { log: { ...silent, error() {} }, settings: () => configSchema.parse({ version: 1 }).settings };
    const url = await server.createDatabase();
    stores.push(
      openLocalStore({ dataDir: folder, ...options }),
      await openReplicaStore(url, { dataDir: null, ...options }),
    );
    for (const store of stores) {
      for (const row of rows) {
        store.ledger.finished(row);
        if (row.captured !== null)
          store.ledger.capture(row.id, capturedExchange(pick(texts, randomNumbers(row.startedAt))));
      }
      const { reserved = null, ...begun } = fullBegunRow('req_running', noon);
      store.ledger.started(begun, reserved);
      for (const index of [3, 1, 2])
        store.ledger.refusals.add(
          ended('req_no', { errorCode: `invalid_${index % 2}`, startedAt: noon + index, client: `c${index}` }),
        );
      await store.ledger.flush();
      gateways.push(await startGateway({ ports: { openStore: async () => store } }));
    }
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const [type, questions] of Object.entries(questionsAbout(rows.map(storableRow)))) {
    if (questions === hasNothingStored) continue;
    test(`give equal answers to ${type}`, async () => {
      for (const question of questions) {
        const ask = ({ gateway }: TestGateway) => gateway.query({ type, ...question }).then(comparable, String);
        const [local, shared] = await Promise.all(gateways.map(ask));
        expect(inDigitsOf(local, shared), JSON.stringify(question)).toEqual(local);
      }
    });
  }

  test('give equal answers to the questions that have no query of their own', async () => {
    const [local, shared] = await Promise.all(stores.map(async ({ ledger }) => comparable(await everyAnswer(ledger))));
    expect(inDigitsOf(local, shared)).toEqual(local);
  });
});
