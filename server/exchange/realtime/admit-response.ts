/** Applies limits to realtime sessions: the session counts as one request, and each response as a part of it. */

import type { Route } from '../../apis/core/route.ts';
import type { MeasuredRequest } from '../../apis/core/wire.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Reserved } from '../../contract/ledger.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import type { Estimate } from '../../limits/account.ts';
import type { Limiter, RateHeaders } from '../../limits/limiter.ts';
import type { PriceTable } from '../../models/price-table.ts';
import type { Member, Target } from '../../routing/snapshot.ts';
import { amountsOf, costOf, hasHardBudget, subjectsOf, worstUsageAt } from '../plan/enforce-limits.ts';

export interface LimitPorts {
  limiter: Limiter;
  prices: PriceTable;
}

/** A response that is about to begin within a session. */
interface ResponseCall {
  /** Id of the response's own ledger row. */
  requestId: string;
  route: Route;
  target: Target;
  /** The client's name for the model; null if it named none. */
  model: string | null;
}

/** The session itself uses nothing; its responses do. It is not `free`, so that an exhausted budget still refuses it. */
const unused: Estimate = { likely: { usd: 0, tokens: 0 }, most: { usd: 0, tokens: 0 } };

/** The handshake has no body. */
export const noBody: MeasuredRequest<string> = { size: 0, captured: null, field: () => undefined, raw: () => null };

/** Admits a session; returns the rate-limit headers. Throws a GatewayError, or rejects with it, if a limit is reached. */
export function admitSession({ limiter }: LimitPorts, requestId: string, member: Member): MaybePromise<RateHeaders> {
  const subjects = subjectsOf(member);
  return subjects.length === 0 ? {} : limiter.admit(requestId, subjects, unused);
}

/**
 * Admits one response of a running session. Throws a GatewayError if a limit is reached. Returns what it reserves; null if
 * no limits apply.
 */
export function admitResponse(ports: LimitPorts, member: Member, call: ResponseCall): Reserved | null {
  const subjects = subjectsOf(member);
  if (subjects.length === 0) return null;
  const { route, target, model } = call;
  const plan = { model, targets: [target], credentialId: null };
  const withCost = (usage: Reserved['usage']) => ({ usage, costUsd: costOf(ports.prices, target, plan, usage) });
  const likely = withCost(route.wire.usage.likely(noBody));
  const isHard = subjects.some((subject) => hasHardBudget(subject));
  const most = isHard ? withCost(worstUsageAt(ports.prices, target, { route, body: noBody, plan })) : likely;
  // Not `admit`: the session's messages stay in order, so none can wait.
  const estimate = { likely: amountsOf(likely), most: amountsOf(most), isPart: true } as const;
  ports.limiter.admitAtOnce(call.requestId, subjects, estimate);
  return most;
}

/** Whether the session must end because a retry would be refused again. */
export function isPermanent(error: unknown): boolean {
  return !(error instanceof GatewayError) || error.retryAfterSeconds === null;
}
