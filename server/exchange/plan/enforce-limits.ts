import type { ServerResponse } from 'node:http';
import type { Route } from '../../apis/core/api.ts';
import type { MeasuredRequest } from '../../apis/core/wire.ts';
import type { Reserved, Usage } from '../../contract/ledger.ts';
import type { Limited } from '../../contract/limits.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import { noCharge } from '../../limits/account.ts';
import type { Limiter, RateHeaders } from '../../limits/limiter.ts';
import type { PriceTable } from '../../models/price-table.ts';
import type { CompiledGroup, CompiledKey, Target } from '../../routing/snapshot.ts';
import type { Amounts } from '../../store/sqlite/usage-history.ts';
import type { CallPlan } from './plan.ts';

/** The most input that a stored object adds to a request to its provider; null if that is unknown. */
export type SizeAt = (id: string, providerId: string) => number | null;

interface LimitPorts {
  limiter: Limiter;
  prices: PriceTable;
}

export interface LimitedCall {
  requestId: string;
  route: Route;
  key: CompiledKey;
  group: CompiledGroup;
  body: MeasuredRequest<string>;
  plan: CallPlan;
  /** Of the stored objects that the body refers to; absent: all are unknown. */
  sizeAt?: SizeAt;
}

/**
 * Checks a request against the limits of its key and group, and sets rate-limit headers in place of the upstream's.
 * Throws a GatewayError, or rejects with it, if a limit is reached. Reserves nothing, and returns null, for a request
 * without limits.
 */
export function enforceLimits(
  ports: LimitPorts,
  response: ServerResponse,
  call: LimitedCall,
): MaybePromise<Reserved | null> {
  const subjects = subjectsOf(call);
  if (subjects.length === 0) return null;
  if (!isPaid(call.route)) {
    return reservedWhenAdmitted(response, ports.limiter.admit(call.requestId, subjects, noCharge), {
      usage: {},
      costUsd: 0,
    });
  }
  const likely = likelyReserved(ports.prices, call);
  const most = subjects.some((subject) => hasHardBudget(subject)) ? mostReserved(ports.prices, call) : likely;
  const estimate = { likely: amountsOf(likely), most: times(amountsOf(most), attemptsAtOnce(call)) };
  return reservedWhenAdmitted(response, ports.limiter.admit(call.requestId, subjects, estimate), most);
}

/** A hedged request asks a second target while the first still works, and both are paid. */
function attemptsAtOnce({ group, plan }: LimitedCall): number {
  return group.policy.hedgeAfterMs > 0 && plan.targets.length > 1 ? 2 : 1;
}

const times = ({ usd, tokens }: Amounts, count: number): Amounts => ({ usd: usd * count, tokens: tokens * count });

function reservedWhenAdmitted(
  response: ServerResponse,
  admitted: MaybePromise<RateHeaders>,
  reserved: Reserved,
): MaybePromise<Reserved> {
  if (admitted instanceof Promise) return admitted.then((headers) => reservedWhenAdmitted(response, headers, reserved));
  setHeaders(response, admitted);
  return reserved;
}

/** Whether a call of the route can cost money. */
export function isPaid({ method, model, job, isFree, session }: Route): boolean {
  return (method === 'POST' || session !== null) && !isFree && (model !== 'none' || job?.behaviour === 'creates-from');
}

function setHeaders(response: ServerResponse, headers: RateHeaders): void {
  for (const name in headers) response.setHeader(name, headers[name] ?? '');
}

/** Whether the cost of a request has to be known. */
export function hasHardDollarBudget({ key, group }: Pick<LimitedCall, 'key' | 'group'>): boolean {
  return subjectsOf({ key, group }).some((subject) => hasHardBudget(subject, 'usd'));
}

/** The key, owner or group with a hard budget; null if there is none. */
export function hardBudgetOf(call: Pick<LimitedCall, 'key' | 'group'>): Limited | null {
  return subjectsOf(call).find((subject) => hasHardBudget(subject)) ?? null;
}

export function subjectsOf({ key, group }: Pick<LimitedCall, 'key' | 'group'>): Limited[] {
  return [key.limited, key.person, group.limited].filter((limited) => limited !== null);
}

export function hasHardBudget({ limits }: Limited, unit?: 'usd'): boolean {
  return limits.budgets.some((budget) => budget.hard && (unit === undefined || budget.unit === unit));
}

/** Priced for the first target. */
function likelyReserved(prices: PriceTable, call: LimitedCall): Reserved {
  const usage = call.route.wire.usage.likely(call.body);
  const [target] = call.plan.targets;
  return { usage, costUsd: target ? costOf(prices, target, call.plan, usage) : null };
}

/** The maximum over all targets, since any of them may answer. */
function mostReserved(prices: PriceTable, call: LimitedCall): Reserved {
  const { plan } = call;
  const most: Reserved = { usage: {}, costUsd: null };
  for (const target of plan.targets) {
    const usage = worstUsageAt(prices, target, call);
    const costUsd = mostCostOf(prices, target, call, usage);
    if (tokensOf(usage) >= tokensOf(most.usage)) most.usage = usage;
    if (costUsd !== null) most.costUsd = Math.max(costUsd, most.costUsd ?? 0);
  }
  return most;
}

/** On the dearest terms that the request allows. */
function mostCostOf(
  prices: PriceTable,
  target: Target,
  { route, body, plan }: Pick<LimitedCall, 'route' | 'body' | 'plan'>,
  usage: Usage,
): number | null {
  const name = target.model ?? plan.model;
  if (name === null) return null;
  return prices.most(target.provider.id, name, usage, route.wire.usage.asks?.(body) ?? null)?.costUsd ?? null;
}

/** The most that a request can use at one of its targets. */
export function worstUsageAt(
  prices: PriceTable,
  target: Target,
  { route, body, plan, sizeAt }: Pick<LimitedCall, 'route' | 'body' | 'plan' | 'sizeAt'>,
): Usage {
  const name = target.model ?? plan.model;
  const { id, models } = target.provider;
  const bounds = {
    outputTokens: name === null ? null : prices.maxOutput(id, name),
    contextTokens: (name !== null && models.get(name)?.contextTokens) || null,
  };
  return route.wire.usage.worst(body, bounds, (objectId) => sizeAt?.(objectId, id) ?? null);
}

export function costOf(prices: PriceTable, target: Target, { model }: CallPlan, usage: Usage): number | null {
  const name = target.model ?? model;
  return name === null ? null : prices.cost(target.provider.id, name, usage);
}

/** The amounts that a reservation takes from limits. */
export function amountsOf({ usage, costUsd }: Reserved): Amounts {
  return { tokens: tokensOf(usage), usd: costUsd ?? 0 };
}

function tokensOf({ inputTokens = 0, outputTokens = 0 }: Usage): number {
  return inputTokens + outputTokens;
}

/** Whether the response has rate-limit headers of Sluice's own. */
export function hasLimitHeaders(response: ServerResponse): boolean {
  return response.hasHeader('x-ratelimit-limit-requests') || response.hasHeader('x-ratelimit-limit-tokens');
}
