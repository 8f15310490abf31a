import type { Budget } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import type { Limited, LimitMeter } from '../contract/limits.ts';
import type { Exceeded } from './meters.ts';
import { formatSpan } from './rate-headers.ts';

/** What a client is told that comes over a limit: whose it is, what was used, when it opens again and where to change it. */
export function refusal(
  limited: Limited,
  { meter, waitMs }: Exceeded,
  { headers, nowMs }: { headers: Record<string, string>; nowMs: number },
): GatewayError {
  const who = `${limited.scope} "${limited.name}"`;
  if (meter.budget && waitMs === null) {
    const opens = meter.resetsAt === null ? 'It does not open again by itself' : opensAgain(meter.resetsAt, nowMs);
    const message = `The budget of ${who} is spent: ${used(meter)} of ${describeBudget(meter.budget)}. ${opens}; ${change(limited)}`;
    return new GatewayError('budget_spent', message, { headers });
  }
  const wait = waitMs ?? 0;
  const reached = meter.budget
    ? `What is left of the budget of ${who} (${describeBudget(meter.budget)}) may be needed by the requests that run now`
    : `Rate limit reached for ${who}: ${describeRate(meter)}`;
  const message = `${reached}. Please try again in ${formatSpan(wait)}. To allow more, ${change(limited)}`;
  return new GatewayError(meter.kind === 'tokens' ? 'token_limit_reached' : 'request_limit_reached', message, {
    headers: { ...headers, 'retry-after-ms': String(Math.ceil(wait)) },
    retryAfterSeconds: Math.ceil(wait / 1_000),
  });
}

/** A hard budget lets nothing pass while nobody can tell what was spent of it. */
export function unknownSpending({ scope, name }: Limited): GatewayError {
  return new GatewayError(
    'storage_unavailable',
    `What ${scope} "${name}" has spent of its hard budget cannot be read now: neither the ledger nor the sums kept beside it can be. Sluice tries again every few seconds; its log says why.`,
  );
}

function describeRate({ kind, amount, used }: LimitMeter): string {
  if (kind === 'concurrent') return `${amount} at the same time, ${used} run now`;
  return `${amount} ${kind} per minute, used ${used} in the last one`;
}

function used({ budget, used: amount }: LimitMeter): string {
  return budget?.unit === 'usd' ? `$${amount.toFixed(4)}` : String(amount);
}

function describeBudget({ unit, amount, per }: Budget): string {
  const what = unit === 'usd' ? `$${amount}` : `${amount} tokens`;
  return per === 'total' ? `${what} in total` : `${what} a ${per}`;
}

function opensAgain(atMs: number, nowMs: number): string {
  const local = new Date(atMs - new Date(atMs).getTimezoneOffset() * 60_000).toISOString();
  return `It opens again on ${local.slice(0, 16).replace('T', ' ')}, in ${formatSpan(atMs - nowMs)}`;
}

function change({ scope, id }: Limited): string {
  const verb = scope === 'key' ? `sluice key limit ${id}` : `sluice group put ${id} --limit`;
  return `change it in Sluice under ${scope === 'key' ? 'Keys' : 'Groups'} or with "${verb} …".`;
}
