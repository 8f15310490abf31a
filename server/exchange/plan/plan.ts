/**
 * Determines which targets can serve a request, and whether limits let it pass. Requests about a job go to the account that
 * owns it.
 */

import type { ServerResponse } from 'node:http';
import type { Route } from '../../apis/core/api.ts';
import { isPathSegment } from '../../apis/core/requests/segments.ts';
import type { MeasuredRequest } from '../../apis/core/wire.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Reserved, Usage } from '../../contract/ledger.ts';
import type { Limited } from '../../contract/limits.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import { noCharge } from '../../limits/account.ts';
import type { Limiter, RateHeaders } from '../../limits/limiter.ts';
import type { PriceTable } from '../../models/price-table.ts';
import { mayUseAnyModel, type Resolved, resolveDefault, resolveRoute } from '../../routing/resolve.ts';
import type { CompiledGroup, CompiledKey, Snapshot, Target } from '../../routing/snapshot.ts';
import type { Job, KnownJobs } from '../../store/ports/kept-stores.ts';
import type { Amounts } from '../../store/sqlite/usage-history.ts';
import type { RequestFields } from '../request/request-body.ts';
import { isServedBy } from '../translation/request-translation.ts';

export interface CallPlan {
  /** The client's name for the model; null if none was named. */
  model: string | null;
  targets: readonly Target[];
  /** The only credential that may be used; null for any. */
  credentialId: string | null;
  /** The provider's id of the job, if it differs from the client's. */
  upstreamId?: string;
  /** The job that the request is about. */
  job?: Job;
}

interface PlanInput {
  match: RouteMatch;
  /** The conversation that the response is added to. */
  conversationId: string | null;
  /** The latest message of the thread that the request continues. */
  threadId: string | null;
  fields: RequestFields;
  group: CompiledGroup;
  key: CompiledKey;
  snapshot: Snapshot;
  jobs: KnownJobs;
  /** A file, a cache or the like that the request names beside what is being said. */
  holder: Job | null;
}

export function planCall(input: PlanInput): CallPlan {
  const { match, fields } = input;
  const { route } = match;
  if (route.job && match.id !== null) return planForJob(input, route.job.kind, match.id);
  if (fields.model === null && route.model === 'required') {
    throw new GatewayError('model_missing', 'you must provide a model parameter');
  }
  if (fields.previousResponseId !== null) return planAfterResponse(input, fields.previousResponseId);
  const inConversation = input.conversationId === null ? null : planInConversation(input, input.conversationId);
  if (inConversation) return inConversation;
  const inThread = input.threadId === null ? null : planInThread(input, input.threadId);
  if (inThread) return inThread;
  const resolved = resolve(input);
  return planNearObject(resolved, input.holder) ?? { ...resolved, credentialId: null };
}

/**
 * A file or a cache exists only in the account that made it, so that no other is asked. Null if none of the targets is at its
 * provider: what becomes of its name there is for the translation to say.
 */
function planNearObject({ model, targets }: Resolved, holder: Job | null): CallPlan | null {
  if (!holder) return null;
  const near = targets.filter(({ provider }) => provider.id === holder.providerId);
  return near.length === 0 ? null : { model, targets: near, credentialId: holder.credentialId };
}

function resolve({ match, fields, group, key }: PlanInput): Resolved {
  const { model, targets } =
    fields.model === null
      ? resolveDefault(group, key, match.route.wire.operation)
      : resolveRoute(group, key, fields.model);
  return { model, targets: addressableTargets(servingTargets(targets, match, model), model) };
}

/**
 * Excludes providers whose API lacks the operation. Conversations can use every provider, because they are translated and
 * their tokens can be estimated.
 */
function servingTargets(
  targets: readonly Target[],
  { route, label }: RouteMatch,
  modelName: string | null,
): readonly Target[] {
  const serving = targets.every((target) => isServedBy(target, route, modelName))
    ? targets
    : targets.filter((target) => isServedBy(target, route, modelName));
  const [first] = targets;
  if (serving.length > 0 || !first) return serving;
  const reason = `Provider "${first.provider.id}" cannot serve ${label}: its API (${first.provider.dialect.id}) has no equivalent.`;
  const message = `${reason} Ask for a model of a provider whose API has this route.`;
  throw new GatewayError('model_not_found', message, { param: 'model' });
}

/** Excludes models that cannot be part of a path: `.`, `..`, and names with several segments. */
function addressableTargets(targets: readonly Target[], model: string | null): readonly Target[] {
  if (targets.every(hasAddress)) return targets;
  const addressable = targets.filter(hasAddress);
  if (addressable.length > 0) return addressable;
  throw new GatewayError('model_not_found', `"${model?.slice(0, 200)}" is no name of a model.`, { param: 'model' });
}

function hasAddress({ provider, model }: Target): boolean {
  if (model === null) return true;
  return provider.dialect.putsModelInPath ? isPathSegment(model) : model !== '.' && model !== '..';
}

function planForJob(input: PlanInput, kind: keyof typeof jobNames, id: string): CallPlan {
  const job = isPathSegment(id) ? findJob(input, kind, id) : undefined;
  if (!job) {
    throw new GatewayError('job_not_found', `${jobNames[kind]} with id '${id.slice(0, 200)}' not found.`, {
      param: 'id',
    });
  }
  return { ...ownedBy(job), job, model: job.model, targets: [ownerOf(input.snapshot, job, null)] };
}

const jobNames = { video: 'Video', response: 'Response' } as const;

/** A video that was made on a passthrough path, by an edit or an extension, is remembered as an object. */
function findJob({ jobs, group }: PlanInput, kind: keyof typeof jobNames, id: string): Job | undefined {
  return jobs.find(kind, id, group.id) ?? (kind === 'video' ? jobs.find('object', id, group.id) : undefined);
}

/** A conversation continues where its earlier responses are stored. */
function planAfterResponse(input: PlanInput, previousId: string): CallPlan {
  const targets = namedTargets(input);
  const job = input.jobs.find('response', previousId, input.group.id);
  if (!job) {
    throw new GatewayError(
      'previous_response_not_found',
      `Previous response with id '${previousId.slice(0, 200)}' not found.`,
      {
        param: 'previous_response_id',
      },
    );
  }
  return planAtOwner(input, targets, job, 'previous response');
}

/**
 * A conversation created through Sluice exists only at its owner. Returns null for any other, whose provider is unknown.
 */
function planInConversation(input: PlanInput, id: string): CallPlan | null {
  const job = isPathSegment(id) ? input.jobs.findAny(id, input.group.id) : undefined;
  if (job === undefined) return null;
  if (job !== 'foreign') return planAtOwner(input, namedTargets(input), job, 'conversation');
  throw new GatewayError('job_not_found', `Conversation with id '${id.slice(0, 200)}' not found.`, {
    param: 'conversation',
  });
}

/**
 * A thread begun through Sluice exists only in the account that has its latest message; if that cannot be asked, Anthropic's
 * SDKs send the whole conversation in a new one. Returns null for any other thread, whose account is unknown.
 */
function planInThread(input: PlanInput, messageId: string): CallPlan | null {
  const { group, snapshot, jobs } = input;
  const job = isPathSegment(messageId) ? jobs.findAny(messageId, group.id) : undefined;
  if (job === undefined) return null;
  const mayAsk =
    job !== 'foreign' &&
    group.providers.some(({ provider }) => provider.id === job.providerId) &&
    snapshot.providers.get(job.providerId)?.unusable === null;
  if (mayAsk) return planAtOwner(input, namedTargets(input), job, 'thread');
  throw new GatewayError('thread_not_found', `No thread with message '${messageId.slice(0, 200)}'.`, {
    param: 'thread',
  });
}

/** Null if the owner may choose the model itself. */
function namedTargets(input: PlanInput): readonly Target[] | null {
  return isModelOpen(input) ? null : resolve(input).targets;
}

/** `objectName` belongs to the owner of `job`. */
function planAtOwner(input: PlanInput, targets: readonly Target[] | null, job: Job, objectName: string): CallPlan {
  if (!input.group.providers.some(({ provider }) => provider.id === job.providerId)) {
    throw new GatewayError(
      'no_healthy_provider',
      `The ${objectName} belongs to provider "${job.providerId}", which group "${input.group.id}" may not use.`,
    );
  }
  const target = targets?.find((candidate) => candidate.provider.id === job.providerId);
  const { model } = input.fields;
  if (!target && targets?.some((candidate) => candidate.model === model)) {
    throw new GatewayError(
      'model_not_found',
      `The ${objectName} is at provider "${job.providerId}", which has no model "${model}". Use one of its models, or begin without the ${objectName}.`,
      { param: 'model' },
    );
  }
  // An alias of another target has no meaning to the owner.
  const ownModel = targets ? job.model : model;
  const owner = target ?? ownerOf(input.snapshot, job, ownModel);
  if (!input.group.mayAsk(owner)) {
    throw new GatewayError(
      'model_not_found',
      `The ${objectName} was made with "${owner.model}", which group "${input.group.id}" may not use.`,
      { param: 'model' },
    );
  }
  return { ...ownedBy(job), model, targets: [owner] };
}

export const ownedBy = ({ credentialId, upstreamId }: Job) => ({ credentialId, ...(upstreamId && { upstreamId }) });

/** The owner of the previous response may choose the model itself. */
function isModelOpen({ match, fields, group, key }: PlanInput): boolean {
  return fields.model === null && !group.defaults[match.route.wire.operation] && mayUseAnyModel(group, key);
}

export function ownerOf(snapshot: Snapshot, job: Job, model: string | null): Target {
  const provider = snapshot.providers.get(job.providerId);
  if (!provider) {
    throw new GatewayError(
      'no_healthy_provider',
      `This ${job.kind} belongs to provider "${job.providerId}", which is no longer configured.`,
    );
  }
  if (provider.unusable) {
    throw new GatewayError(
      'no_healthy_provider',
      `This ${job.kind} belongs to provider "${provider.id}": ${provider.unusable}.`,
    );
  }
  return { provider, model, priority: 0, weight: 1 };
}

// Within which limits: what a request reserves of those of its key, person and group, or why it is refused.

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
