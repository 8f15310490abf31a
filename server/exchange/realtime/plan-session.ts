/** Plans a realtime session: by the model in its URL, or at the provider that has the existing call. */

import type { Route } from '../../apis/core/api.ts';
import type { MeasuredRequest, SessionFormat } from '../../apis/core/wire.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Reserved } from '../../contract/ledger.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type { Estimate } from '../../limits/account.ts';
import type { Limiter, RateHeaders } from '../../limits/limiter.ts';
import type { PriceTable } from '../../models/price-table.ts';
import type { Member, Snapshot, Target } from '../../routing/snapshot.ts';
import type { KnownJobs } from '../../store/ports/kept-stores.ts';
import { amountsOf, type CallPlan, costOf, hasHardBudget, planCall, subjectsOf, worstUsageAt } from '../plan/plan.ts';
import { checkName, checkPassthrough, planPassthrough, pricedTargets } from '../plan/plan-route.ts';

interface SessionRequest {
  match: RouteMatch;
  format: SessionFormat;
  /** The query of the client's URL including `?`, or empty. */
  query: string;
  member: Member;
  /** Must not be forwarded. */
  secrets: readonly string[];
  snapshot: Snapshot;
}

interface PlanPorts {
  jobs: KnownJobs;
  prices: PriceTable;
}

export interface SessionPlan {
  plan: CallPlan;
  /** The session belongs to an existing call, which only one provider has. */
  isPassed: boolean;
}

/** @throws GatewayError if no provider can serve the session */
export function planSession(ports: PlanPorts, request: SessionRequest): SessionPlan {
  const { match, format, query, member, secrets, snapshot } = request;
  const { jobs } = ports;
  const parameters = new URLSearchParams(query);
  const callId = referencedCall(query, format);
  if (callId !== null) {
    checkName(format.callParameter, callId, secrets);
    const message = `Invalid URL (GET ${match.label} with ${format.callParameter}).`;
    const passthroughMatch = { names: [callId], onlyId: callId, unserved: { code: 'unknown_url', message } } as const;
    checkPassthrough({ passthroughMatch, route: match.route, ...member });
    return {
      plan: planPassthrough({
        route: match.route,
        passthroughMatch,
        referencedIds: [],
        group: member.group,
        snapshot,
        jobs,
      }),
      isPassed: true,
    };
  }
  const model = modelIn(parameters, format);
  if (model !== null) checkName('model', model, secrets);
  const fields = { model, stream: true, previousResponseId: null, store: false };
  const plan = planCall({
    match,
    conversationId: null,
    threadId: null,
    holder: null,
    fields,
    ...member,
    snapshot,
    jobs,
  });
  const ablePlan = { ...plan, targets: ableTargets(plan, match) };
  return {
    plan: pricedTargets(ports.prices, { route: match.route, ...member, body: noBody, plan: ablePlan }),
    isPassed: false,
  };
}

/** The existing call that the session belongs to; null if it is to be a new one. */
export function referencedCall(query: string, { callParameter }: SessionFormat): string | null {
  return new URLSearchParams(query).get(callParameter);
}

/** Returns the client's query with the target's model name, or without a model if that is null. */
export function queryOf(query: string, format: SessionFormat, model: string | null): string {
  const [first = 'model'] = format.modelParameters;
  const others = query
    .slice(1)
    .split('&')
    .filter((parameter) => parameter !== '' && !format.modelParameters.includes(nameOf(parameter)));
  const all = model === null ? others : [`${first}=${encodeURIComponent(model)}`, ...others];
  return all.length === 0 ? '' : `?${all.join('&')}`;
}

function nameOf(parameter: string): string {
  return new URLSearchParams(parameter).keys().next().value ?? '';
}

/** The model decides the route, so a duplicate is refused: an upstream might read the other value. */
function modelIn(parameters: URLSearchParams, { modelParameters }: SessionFormat): string | null {
  const modelNames = modelParameters.flatMap((name) => parameters.getAll(name));
  if (modelNames.length > 1) {
    throw new GatewayError('invalid_value', "The URL names 'model' twice. Send it once.", { param: 'model' });
  }
  return modelNames[0] || null;
}

function ableTargets({ model, targets }: CallPlan, { route, label }: RouteMatch): CallPlan['targets'] {
  const able = targets.filter(({ provider }) => provider.dialect.serves(route.wire.name));
  if (able.length > 0) return able;
  const ids = targets.map(({ provider }) => `"${provider.id}"`).join(', ');
  const subject = model === null ? 'a request without a model' : `"${model.slice(0, 200)}"`;
  throw new GatewayError(
    'no_healthy_provider',
    `No provider of ${subject} has ${label}: the API of ${ids} has no such sessions.`,
  );
}

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
const noBody: MeasuredRequest<string> = { size: 0, captured: null, field: () => undefined, raw: () => null };

/**
 * Applies limits to realtime sessions: the session counts as one request, and each response as a part of it.
 *
 * Admits a session; returns the rate-limit headers. Throws a GatewayError, or rejects with it, if a limit is reached.
 */
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
