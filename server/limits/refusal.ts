/** What clients are told of limits: headers with what is left, and refusals. */
import { isRefused } from '../contract/count.ts';
import { GatewayError } from '../contract/errors.ts';
import type { RequestRecord } from '../contract/ledger.ts';
import type { Budget } from '../contract/limit-settings.ts';
import type { Limited, LimitMeter, LimitScope } from '../contract/limits.ts';
import { refusalsListedPerMinute } from '../contract/request-views.ts';
import { minuteMs } from '../contract/units.ts';
import type { Clocks } from './account.ts';
import { type Counted, type Exceeded, findSpent } from './meters.ts';

/** The error for a reached limit: whose it is, its usage, when it resets, and how to change it. */
export function refusal(
  limited: Limited,
  { meter, waitMs }: Exceeded,
  { headers, nowMs }: { headers: Record<string, string>; nowMs: number },
): GatewayError {
  const owner = nameOf(limited);
  if (meter.budget && waitMs === null) {
    const opens = meter.resetsAt === null ? 'It does not reset by itself' : describeReset(meter.resetsAt, nowMs);
    const message = `The budget of ${owner} is spent: ${describeUsed(meter)} of ${describeBudget(meter.budget)}. ${opens}; ${describeChange(limited)}`;
    return new GatewayError('budget_spent', message, { headers });
  }
  const wait = waitMs ?? 0;
  const reason = meter.budget
    ? `The rest of the budget of ${owner} (${describeBudget(meter.budget)}) is reserved by running requests`
    : `Rate limit reached for ${owner}: ${describeRate(meter)}`;
  const message = `${reason}. Please try again in ${formatDuration(wait)}. To allow more, ${describeChange(limited)}`;
  return new GatewayError(meter.kind === 'tokens' ? 'token_limit_reached' : 'request_limit_reached', message, {
    headers: { ...headers, 'retry-after-ms': String(Math.ceil(wait)) },
    retryAfterSeconds: Math.ceil(wait / 1_000),
  });
}

/** The error codes of refusals over a limit, of a key, its group, its person or the machine. */
const limitCodes: readonly (string | null)[] = ['rate_limit_exceeded', 'insufficient_quota', 'slow_down'];

/** Recognises refusals over a limit that repeat, since a client in a loop can cause any number of them. */
export class LimitRefusals {
  #minute = 0;
  /** How many there were of each key and reason in this minute. */
  readonly #known = new Map<string, number>();

  /** Whether as many as are listed were refused before, in the same minute, for the same key and reason. */
  isRepeated(record: RequestRecord): boolean {
    const { errorCode, keyId, attempts, startedAt } = record;
    if (!isRefused(record) || attempts.length > 0 || !limitCodes.includes(errorCode)) return false;
    const minute = Math.floor(startedAt / minuteMs);
    if (minute > this.#minute) {
      this.#minute = minute;
      this.#known.clear();
    }
    const name = `${errorCode} ${keyId}`;
    const before = this.#known.get(name) ?? 0;
    this.#known.set(name, before + 1);
    return before >= refusalsListedPerMinute;
  }
}

/** Throws the refusal for the first of them whose hard budget is spent. */
export function refuseIfSpent(
  subjects: readonly { limited: Limited; counted: Counted }[],
  { wallMs }: Pick<Clocks, 'wallMs'>,
): void {
  for (const { limited, counted } of subjects) {
    const spent = findSpent(counted, limited.limits);
    if (spent) throw refusal(limited, spent, { headers: {}, nowMs: wallMs() });
  }
}

/** While the amount spent is unknown, a hard budget blocks all requests. */
export function unknownSpending(limited: Limited): GatewayError {
  return new GatewayError(
    'storage_unavailable',
    `The amount that ${nameOf(limited)} has spent of its hard budget cannot be read now, neither from the ledger nor from the budgets' file. Sluice retries every few seconds; its log says why.`,
  );
}

function describeRate({ kind, amount, used }: LimitMeter): string {
  if (kind === 'concurrent') return `${amount} at the same time, ${used} running`;
  return `${amount} ${kind} per minute, used ${used}`;
}

function describeUsed({ budget, used: amount }: LimitMeter): string {
  return budget?.unit === 'usd' ? `$${amount.toFixed(4)}` : String(amount);
}

function describeBudget({ unit, amount, per }: Budget): string {
  const quantity = unit === 'usd' ? `$${amount}` : `${amount} tokens`;
  return per === 'total' ? `${quantity} in total` : `${quantity} a ${per}`;
}

function describeReset(atMs: number, nowMs: number): string {
  const local = new Date(atMs - new Date(atMs).getTimezoneOffset() * 60_000).toISOString();
  return `It resets on ${local.slice(0, 16).replace('T', ' ')}, in ${formatDuration(atMs - nowMs)}`;
}

function describeChange({ scope, id }: Limited): string {
  const { place, verb } = places[scope];
  return `change it in Sluice under ${place} or with "sluice ${verb(id)} …".`;
}

const places: Record<LimitScope, { place: string; verb(id: string): string }> = {
  key: { place: 'Keys', verb: (id) => `key limit ${id}` },
  group: { place: 'Groups', verb: (id) => `group put ${id} --limit` },
  person: { place: 'People', verb: (id) => `people limit ${id}` },
};

/** As errors name it. The configuration does not know the names of people. */
export function nameOf({ scope, name }: Pick<Limited, 'scope' | 'name'>): string {
  return scope === 'person' ? 'the person who owns this key' : `${scope} "${name}"`;
}

/** OpenAI's rate limit headers, for the limits per minute with the least left. `reset`: the time until usage is zero. */
export function rateHeaders(meters: readonly LimitMeter[], nowMs: number): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const kind of ['requests', 'tokens'] as const) {
    const tightest = meters.filter((meter) => meter.kind === kind).sort((a, b) => leftOf(a) - leftOf(b))[0];
    if (!tightest) continue;
    headers[`x-ratelimit-limit-${kind}`] = String(tightest.amount);
    headers[`x-ratelimit-remaining-${kind}`] = String(leftOf(tightest));
    headers[`x-ratelimit-reset-${kind}`] = formatDuration(Math.max(0, (tightest.resetsAt ?? nowMs) - nowMs));
  }
  return headers;
}

function leftOf({ amount, used }: LimitMeter): number {
  return Math.max(0, Math.floor(amount - used));
}

/** In OpenAI's format: `0s`, `120ms`, `7.66s`, `6m0s`, `1h2m0s`. */
export function formatDuration(spanMs: number): string {
  if (spanMs > 0 && spanMs < 1_000) return `${Math.ceil(spanMs)}ms`;
  if (spanMs < 60_000) return `${Number((spanMs / 1_000).toFixed(3))}s`;
  const seconds = Math.ceil(spanMs / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  return `${hours > 0 ? `${hours}h` : ''}${minutes}m${seconds % 60}s`;
}
