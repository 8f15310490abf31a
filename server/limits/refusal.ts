import type { Budget } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import type { Limited, LimitMeter } from '../contract/limits.ts';
import type { Clocks } from './account.ts';
import { type Counted, type Exceeded, findSpent } from './meters.ts';
import { formatDuration } from './rate-headers.ts';

/** The error for a reached limit: whose it is, its usage, when it resets, and how to change it. */
export function refusal(
  limited: Limited,
  { meter, waitMs }: Exceeded,
  { headers, nowMs }: { headers: Record<string, string>; nowMs: number },
): GatewayError {
  const owner = `${limited.scope} "${limited.name}"`;
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
export function unknownSpending({ scope, name }: Limited): GatewayError {
  return new GatewayError(
    'storage_unavailable',
    `The amount that ${scope} "${name}" has spent of its hard budget cannot be read now, neither from the ledger nor from the budgets' file. Sluice retries every few seconds; its log says why.`,
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
  const verb = scope === 'key' ? `sluice key limit ${id}` : `sluice group put ${id} --limit`;
  return `change it in Sluice under ${scope === 'key' ? 'Keys' : 'Groups'} or with "${verb} …".`;
}
