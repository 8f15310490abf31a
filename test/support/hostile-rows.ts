/** Rows with values that no database takes as they are, in any column and at any depth of their JSON. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { configSchema } from '../../server/contract/config.ts';
import type { RequestRecord } from '../../server/contract/ledger.ts';
import { openLocalStore } from '../../server/store/local-store.ts';
import type { BegunRow } from '../../server/store/rules/rows.ts';
import { noon } from '../server/store/contract/store-subject.ts';
import {
  finishedRow,
  rescuedRow,
  sessionMark,
  shadowed,
  silent,
  startedRow,
  temporaryFolder,
} from '../server/store/sqlite/records.ts';
import { pick, randomNumbers } from './random-numbers.ts';

// A data folder with rows as earlier versions stored them.

const log = { ...silent, error() {} };
const settings = () => configSchema.parse({ version: 1 }).settings;

/** As earlier versions stored what clients and upstreams had chosen. */
function makeHostile(dataDir: string): void {
  const file = new DatabaseSync(join(dataDir, 'ledger.sqlite'));
  file.exec(String.raw`
    UPDATE requests SET client_retries = 1.5 WHERE id = 'req_1';
    UPDATE requests SET client_retries = 9007199254740994 WHERE id = 'req_2';
    UPDATE requests SET usage = json_set(usage, '$.images', 2.5), model_asked = 'm' || char(0) || 'x' WHERE id = 'req_3';
    UPDATE requests SET shadow_of = replace(shadow_of, 'gpt-x', 'm\u0000x') WHERE id = 'req_4';
    UPDATE requests SET attempts = replace(replace(attempts, '"b"', '"m\ud800x"'), 'it broke', 'it \u0000 broke');
    UPDATE usage_cells SET images = images + 2.5, name = 'gpt' || char(0) WHERE dimension = 'model' AND name = 'a';
    UPDATE sessions SET name = 'my' || char(0) || 'run';
  `);
  file.prepare("UPDATE usage_cells SET name = ? WHERE dimension = 'model' AND name = 'b'").run('gpt\ufffd');
  file.close();
}

/** Six requests; the caller removes the folder. */
export async function hostileFolder(): Promise<string> {
  const dataDir = temporaryFolder();
  const store = openLocalStore({ dataDir, log, settings });
  for (let index = 0; index < 6; index++)
    store.ledger.finished(
      fullRow(`req_${index}`, { startedAt: noon + index, ...(index % 2 === 1 && { shadowOf: null }) }),
    );
  await store.close();
  makeHostile(dataDir);
  return dataDir;
}

const longText = 'k'.repeat(1024 * 1024);

export const hostileNumbers: readonly number[] = [
  ...[
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    1e308,
    -1e308,
    1e10,
    2 ** 31,
    2 ** 53 + 2,
    2 ** 63,
  ],
  ...[-0, 1.5, 2.5, 0.1, -1, -1.5, Number.MIN_VALUE],
];

export const hostileTexts: readonly string[] = [
  ...['\0', 'm\0x', '\ud800', 'm\udc00x', '\udc00\ud800', '\ud83d\ud83d\ude00', '\\u0000', '\\ud800', '{"a":"\0"}'],
  ...['', '"', '\\', '{', ',', 'NULL', "'; --", '\u2028', '\ufeff', '\u{1f600}', 'الله', '模型', 'a\nb\tc', '\x1b[31m'],
  ...[longText, `${longText}\0`, `${'é'.repeat(511)}\u{1f600}`, '\ud800'.repeat(5_000), '世'.repeat(5_000)],
  ...[incompressible(9_000)],
];

/** One that an index cannot shorten. */
function incompressible(length: number): string {
  const random = randomNumbers(11);
  return Array.from({ length }, () => String.fromCharCode(0x4e00 + Math.floor(random() * 20_000))).join('');
}

/** Sluice chooses these values from a closed set, or they identify and place the row. */
const ownMembers = new Set([
  ...['id', 'startedAt', 'outcome', 'capability', 'stream', 'step', 'hasFailed', 'usageCertainty', 'captured'],
  ...['cassette', 'sameAnswer', 'cause', 'failure', 'code', 'result', 'books'],
]);

type Path = readonly (string | number)[];

/** The members of a row that clients or upstreams may have a part in, at every depth. */
export function hostileMembers(row: unknown, path: Path = []): Path[] {
  if (typeof row === 'string' || typeof row === 'number') return [path];
  if (typeof row !== 'object' || row === null) return [];
  return Object.entries(row).flatMap(([name, value]) => {
    const isOwn = ownMembers.has(name) && !(name === 'id' && path[0] === 'session');
    return isOwn ? [] : hostileMembers(value, [...path, name]);
  });
}

/** A copy of the row with another value of the member. */
export function withMember<Row>(row: Row, [name, ...path]: Path, value: (before: unknown) => unknown): Row {
  if (name === undefined) return value(row) as Row;
  const copy = (Array.isArray(row) ? [...row] : { ...row }) as Record<string | number, unknown>;
  copy[name] = withMember(copy[name], path, value);
  return copy as Row;
}

const usage = {
  ...{ inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, cacheWriteTokens: 9, cacheWriteOneHourTokens: 4 },
  ...{ reasoningTokens: 5, audioInputTokens: 3, audioOutputTokens: 2, imageInputTokens: 1, imageOutputTokens: 1 },
  ...{ seconds: 1.5, characters: 7, images: 1 },
};

/** Has a value in every column, and in every member of its JSON. */
export function fullRow(id: string, more: Partial<RequestRecord> = {}): RequestRecord {
  const tools = [
    { name: 'read_file', bytes: 120, hasFailed: false },
    { name: 'search', bytes: 7, hasFailed: true },
  ];
  return rescuedRow(id, {
    usage,
    costUsd: 0.5,
    errorCode: 'upstream_error',
    connectMs: 3.5,
    clientRetries: 1,
    session: sessionMark('ses_1', { name: 'work', thread: 't1', step: 'prompt', tools }),
    shadowOf: shadowed,
    cached: { result: 'hit', savedUsd: 0.25, savedUsage: usage },
    fault: 'slow',
    dropped: [{ code: 'no-equal', field: 'top_k', times: 1 }],
    emulated: [{ code: 'moved-media', field: 'messages[].content[]', times: 60 }],
    ...more,
    attempts: rescuedRow(id).attempts.map((attempt) => ({
      ...attempt,
      usage,
      error: 'it broke',
      connectMs: 1,
      firstByteMs: 2,
      firstContentMs: 3,
      longestGapMs: 4,
      totalMs: 5,
      upstreamRequestId: 'up_1',
      costUsd: 0.1,
    })),
  });
}

/** Each has a few hostile values. */
export function hostileRows(count: number, { seed, startedAt }: { seed: number; startedAt: number }): RequestRecord[] {
  const random = randomNumbers(seed);
  return Array.from({ length: count }, (_, index) => {
    const base = { startedAt: startedAt + index };
    const id = `req_${index}`;
    const shadowOf = random() < 0.2 ? shadowed : null;
    let row = pick([fullRow(id, { ...base, shadowOf }), rescuedRow(id, base), finishedRow(id, base)], random);
    for (let left = 1 + Math.floor(random() * 4); left > 0; left--) row = withHostileValue(row, random);
    return row;
  });
}

function withHostileValue(row: RequestRecord, random: () => number): RequestRecord {
  return withMember(row, pick(hostileMembers(row), random), (before) =>
    typeof before === 'number' ? pick(hostileNumbers, random) : pick(hostileTexts, random),
  );
}

/** A running request with a reservation. */
export function fullBegunRow(id: string, startedAt: number): BegunRow {
  const { session, shadowOf } = fullRow(id);
  return { ...startedRow(id, { startedAt, session, shadowOf }), reserved: { usage, costUsd: 0.5 } };
}
