import type { ServerResponse } from 'node:http';
import type { Reserved } from '../contract/ledger.ts';
import type { IncomingBody } from '../http/body/incoming-body.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { CompiledGroup, CompiledKey } from '../routing/snapshot.ts';
import type { Route } from '../wire/route.ts';
import type { PriceOf } from './accounting.ts';
import { estimateReservation } from './estimate-reservation.ts';
import type { CallPlan } from './plan.ts';

interface LimitPorts {
  limiter: Limiter;
  priceOf: PriceOf;
}

interface LimitedCall {
  requestId: string;
  route: Route;
  key: CompiledKey;
  group: CompiledGroup;
  body: IncomingBody;
  plan: CallPlan;
}

/**
 * Holds a request to the limits of its key and group, and sets the headers that tell how much is left; the upstream's do
 * not stand beside them. Throws a GatewayError if a limit is reached. A request without limits passes for nothing, and
 * reserves nothing.
 */
export function holdToLimits(ports: LimitPorts, response: ServerResponse, call: LimitedCall): Reserved | null {
  const { limiter, priceOf } = ports;
  const { key, group, route, body, plan } = call;
  if (key.limited === null && group.limited === null) return null;
  const parties = [key.limited, group.limited].filter((limited) => limited !== null);
  const usage = estimateReservation(route, body);
  const costUsd = costOf(plan, usage, priceOf);
  const estimate = { tokens: (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0), usd: costUsd ?? 0 };
  const headers = limiter.admit(call.requestId, parties, estimate);
  for (const name in headers) response.setHeader(name, headers[name] ?? '');
  return { usage, costUsd };
}

/** By the price of the target that is asked first. */
function costOf({ targets, model }: CallPlan, usage: Parameters<PriceOf>[2], priceOf: PriceOf): number | null {
  const [target] = targets;
  const name = target?.model ?? model;
  return target && name ? priceOf(target.provider.id, name, usage) : null;
}

/** Whether the client is told of limits that are Sluice's. */
export function tellsOwnLimits(response: ServerResponse): boolean {
  return response.hasHeader('x-ratelimit-limit-requests') || response.hasHeader('x-ratelimit-limit-tokens');
}
