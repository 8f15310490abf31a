/** Plans a realtime session: by the model in its URL, or at the provider that has the existing call. */

import type { SessionFormat } from '../../apis/core/wire.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { PriceTable } from '../../models/price-table.ts';
import type { Member, Snapshot } from '../../routing/snapshot.ts';
import type { KnownJobs } from '../../store/ports/job-store.ts';
import { type CallPlan, planCall } from '../plan/plan.ts';
import { checkPassthrough, planPassthrough } from '../plan/plan-passthrough.ts';
import { checkName } from '../plan/plan-route.ts';
import { pricedTargets } from '../plan/priced-targets.ts';
import { noBody } from './admit-response.ts';

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
