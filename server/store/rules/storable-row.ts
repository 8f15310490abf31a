/**
 * Makes every row of the ledger storable in SQLite and in PostgreSQL, as the same row. Clients and upstreams choose many of its
 * values: `x-stainless-retry-count: 1.5`, two and a half images, a model named "m\0x". PostgreSQL refuses such values, and a
 * batch that it refuses holds other clients' rows too. Pure.
 */
import { lostPurchaseCode } from '../../contract/errors.ts';
import type {
  AttemptRecord,
  CacheNote,
  RequestRecord,
  RequestSession,
  RequestStarted,
  Reserved,
  ShadowedRequest,
  ToolResult,
  Usage,
} from '../../contract/ledger.ts';
import type { LossNote } from '../../contract/loss-codes.ts';
import type { BegunRow, EndedRow } from './rows.ts';

/** PostgreSQL indexes names of up to 2,704 bytes; a UTF-16 unit takes at most three. */
const maxNameLength = 512;
/** The words of all errors of a request are indexed together, which PostgreSQL limits to 1 MB. */
const maxErrorLength = 2_000;
/** PostgreSQL's `integer`. */
const maxInteger = 2 ** 31 - 1;
/** No request uses a billion tokens, and the sum of nine million that claim to is still exact. */
const maxAmount = 1e9;
const maxMs = 1e15;
/** Its quarters of an hour are integers of PostgreSQL. */
const maxTimeMs = Date.UTC(9999, 11, 31);

/** Returns the value itself if it is storable. */
type Rule<Value> = (value: Value) => Value;
/** `null`: Sluice itself chooses the value. */
type Rules<T> = { readonly [Name in keyof T]-?: Rule<Exclude<T[Name], undefined>> | null };

const text =
  (maxLength: number): Rule<string> =>
  (value) =>
    storableText(value, maxLength);

const orNull =
  <Value>(rule: Rule<Value>): Rule<Value | null> =>
  (value) =>
    value === null || Number.isNaN(value) ? null : rule(value);

const amount =
  (most: number): Rule<number> =>
  (value) =>
    value > 0 && value <= most ? value : clamped(value, most);

const whole =
  (most: number): Rule<number> =>
  (value) =>
    value > 0 && value <= most && Number.isInteger(value) ? value : clamped(Math.round(value), most);

/** NaN and -0 become 0. */
const clamped = (value: number, most: number) => Math.min(Math.max(value || 0, 0), most);

const list =
  <T>(rule: Rule<T>) =>
  (values: readonly T[]): T[] =>
    values.some((value) => !Object.is(rule(value), value)) ? values.map(rule) : (values as T[]);

const record =
  <T extends object>(rules: Rules<T>): Rule<T> =>
  (given) => {
    let storable = given;
    for (const member of Object.keys(rules) as (keyof T)[]) {
      const value = storableMember(given[member], rules[member]);
      if (!Object.is(value, given[member])) storable = { ...storable, [member]: value };
    }
    return storable;
  };

/** A member without a value is optional, or was added since an earlier version wrote the row. */
function storableMember<Value>(value: Value, rule: Rule<Exclude<Value, undefined>> | null): Value {
  return rule === null || value === undefined ? value : rule(value as Exclude<Value, undefined>);
}

const name = text(maxNameLength);
const nameOrNull = orNull(name);
const count = whole(maxAmount);
const bytes = whole(Number.MAX_SAFE_INTEGER);
const integer = whole(maxInteger);
const ms = amount(maxMs);
const msOrNull = orNull(ms);
const timeMs = amount(maxTimeMs);
const costUsd = orNull(amount(maxAmount));

const usage = record<Usage>({
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: count,
  cacheWriteTokens: count,
  cacheWriteOneHourTokens: count,
  reasoningTokens: count,
  audioInputTokens: count,
  audioOutputTokens: count,
  imageInputTokens: count,
  imageOutputTokens: count,
  seconds: amount(maxAmount),
  characters: count,
  images: count,
});
const usageOrNull = orNull(usage);

const attempt = record<AttemptRecord>({
  cause: null,
  provider: name,
  credential: nameOrNull,
  model: nameOrNull,
  startedAt: timeMs,
  connectMs: msOrNull,
  firstByteMs: msOrNull,
  firstContentMs: msOrNull,
  longestGapMs: msOrNull,
  totalMs: msOrNull,
  status: orNull(integer),
  failure: null,
  error: orNull(text(maxErrorLength)),
  droppedEvents: integer,
  upstreamRequestId: nameOrNull,
  usage: usageOrNull,
  usageCertainty: null,
  costUsd,
});

const tool = record<ToolResult>({ name: nameOrNull, bytes, hasFailed: null });

const session = record<RequestSession>({
  id: name,
  name: nameOrNull,
  thread: nameOrNull,
  step: null,
  tools: list(tool),
});

const losses = list(record<LossNote>({ code: null, field: name, times: integer }));

const startedRules: Rules<RequestStarted> = {
  id: name,
  startedAt: timeMs,
  keyId: nameOrNull,
  groupId: nameOrNull,
  route: name,
  method: name,
  capability: null,
  modelAsked: nameOrNull,
  stream: null,
  session: orNull(session),
  shadowOf: orNull(
    record<ShadowedRequest>({
      id: name,
      provider: nameOrNull,
      model: nameOrNull,
      costUsd,
      firstByteMs: msOrNull,
      totalMs: ms,
      outputTokens: orNull(count),
    }),
  ),
};

const begun = record<BegunRow>({
  ...startedRules,
  reserved: orNull(record<Reserved>({ usage, costUsd })),
});

const ended = record<EndedRow>({
  ...startedRules,
  outcome: null,
  status: orNull(integer),
  errorCode: nameOrNull,
  modelServed: nameOrNull,
  provider: nameOrNull,
  credential: nameOrNull,
  queueMs: msOrNull,
  connectMs: msOrNull,
  firstByteMs: msOrNull,
  totalMs: ms,
  bytesIn: bytes,
  bytesOut: bytes,
  attempts: list(attempt),
  usage: usageOrNull,
  usageCertainty: null,
  costUsd,
  client: nameOrNull,
  clientRetries: integer,
  dropped: losses,
  emulated: losses,
  captured: null,
  cached: orNull(record<CacheNote>({ result: null, savedUsd: costUsd, savedUsage: usageOrNull })),
  fault: nameOrNull,
  cassette: null,
  sameAnswer: null,
  books: null,
  isOnlyCounted: null,
});

/** Text without NUL and without half surrogate pairs, which no JSON of PostgreSQL can hold. */
export function storableText(value: string, maxLength: number = Number.POSITIVE_INFINITY): string {
  if (value.length <= maxLength && value.isWellFormed() && !value.includes('\0')) return value;
  return value.slice(0, maxLength).toWellFormed().replaceAll('\0', '\ufffd');
}

/** A name in the form in which rows have it. */
export const storableName: Rule<string> = name;
export const storableSession: Rule<RequestSession> = session;

/** The row itself if it is storable. */
export function storableRow<Row extends BegunRow | EndedRow>(row: Row): Row {
  if (isOrdinaryRow(row)) return row;
  return ('outcome' in row ? ended(row) : begun(row)) as Row;
}

/** What remains of a row that the database refuses all the same: whose request it was, when, and what it used. */
export function bareRow<Row extends BegunRow | EndedRow>(row: Row): Row {
  const shadowOf = row.shadowOf && { ...row.shadowOf, provider: null, model: null };
  const bareStart = { ...row, route: '', method: 'POST', modelAsked: null, session: null, shadowOf };
  if (!('outcome' in row)) return bareStart;
  const unnamed: Partial<RequestRecord> = {
    // It decides whether an unknown cost is missing from the sums.
    errorCode: row.errorCode === lostPurchaseCode ? lostPurchaseCode : null,
    modelServed: null,
    credential: null,
    attempts: [],
    client: null,
    clientRetries: 0,
    dropped: [],
    emulated: [],
    cached: null,
    fault: null,
  };
  return { ...bareStart, ...unnamed };
}

type Row = BegunRow | EndedRow;

/**
 * A quick look at a row, which recognises nearly all that are storable in a fraction of a microsecond. The rules are those of
 * `storable-row.ts`, which examines every other row.
 *
 * False also for some storable rows.
 */
function isOrdinaryRow(row: Row): boolean {
  return isOrdinaryStart(row) && ('outcome' in row ? isOrdinaryEnd(row) : isOrdinaryReserve(row));
}

function isOrdinaryStart(row: RequestStarted): boolean {
  return (
    isName(row.id) &&
    isAtMost(row.startedAt, maxTimeMs) &&
    isName(row.keyId) &&
    isName(row.groupId) &&
    isName(row.route) &&
    isName(row.method) &&
    isName(row.modelAsked) &&
    isOrdinarySession(row.session) &&
    row.shadowOf === null
  );
}

function isOrdinarySession(session: RequestStarted['session']): boolean {
  if (session === null) return true;
  return isName(session.id) && isName(session.name) && isName(session.thread) && session.tools.every(isOrdinaryTool);
}

const isOrdinaryTool = ({ name, bytes }: { name: string | null; bytes: number }) => isName(name) && isInteger(bytes);

function isOrdinaryReserve({ reserved }: BegunRow): boolean {
  return !reserved || (isOrdinaryUsage(reserved.usage) && isAtMost(reserved.costUsd, maxAmount));
}

function isOrdinaryEnd(row: EndedRow): boolean {
  return (
    isInteger(row.status) &&
    isName(row.errorCode) &&
    isName(row.modelServed) &&
    isName(row.provider) &&
    isName(row.credential) &&
    isAtMost(row.queueMs, maxMs) &&
    isAtMost(row.connectMs, maxMs) &&
    isAtMost(row.firstByteMs, maxMs) &&
    isAtMost(row.totalMs, maxMs) &&
    isInteger(row.bytesIn) &&
    isInteger(row.bytesOut) &&
    isOrdinaryUsage(row.usage) &&
    isAtMost(row.costUsd, maxAmount) &&
    isName(row.client) &&
    isInteger(row.clientRetries) &&
    isName(row.fault) &&
    row.cached === null &&
    row.attempts.every(isOrdinaryAttempt) &&
    row.dropped.every(isOrdinaryLoss) &&
    row.emulated.every(isOrdinaryLoss)
  );
}

function isOrdinaryAttempt(attempt: AttemptRecord): boolean {
  return (
    isName(attempt.provider) &&
    isName(attempt.credential) &&
    isName(attempt.model) &&
    isAtMost(attempt.startedAt, maxTimeMs) &&
    isAtMost(attempt.connectMs, maxMs) &&
    isAtMost(attempt.firstByteMs, maxMs) &&
    isAtMost(attempt.firstContentMs, maxMs) &&
    isAtMost(attempt.longestGapMs, maxMs) &&
    isAtMost(attempt.totalMs, maxMs) &&
    isInteger(attempt.status) &&
    isText(attempt.error, maxErrorLength) &&
    isInteger(attempt.droppedEvents) &&
    isName(attempt.upstreamRequestId) &&
    isOrdinaryUsage(attempt.usage) &&
    isAtMost(attempt.costUsd, maxAmount)
  );
}

const isOrdinaryLoss = ({ field, times }: LossNote) => isName(field) && isInteger(times);

function isOrdinaryUsage(usage: Usage | null): boolean {
  if (usage === null) return true;
  for (const name in usage) {
    const amount = usage[name as keyof Usage] ?? Number.NaN;
    if (!(amount <= maxAmount && isInteger(amount))) return false;
  }
  return true;
}

const isAtMost = (value: number | null, most: number) => value === null || (value >= 0 && value <= most);

// Larger ones, such as the bytes of a long film, may be storable too.
const isInteger = (value: number | null) =>
  value === null || (value >= 0 && value <= maxInteger && (value | 0) === value);

const isName = (value: string | null | undefined) => isText(value, maxNameLength);

/** Most texts are so short that a loop is faster than two calls of the library. */
function isText(value: string | null | undefined, maxLength: number): boolean {
  if (value === null || value === undefined) return true;
  if (value.length > maxLength) return false;
  for (let index = 0; index < value.length; index++) {
    const unit = value.charCodeAt(index);
    if (unit === 0 || (unit & 0xf800) === 0xd800) return false;
  }
  return true;
}
