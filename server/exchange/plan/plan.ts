/** Determines which targets can serve a request. Requests about a job go to the account that owns it. */

import { isPathSegment } from '../../apis/core/requests/segments.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import { mayUseAnyModel, type Resolved, resolveDefault, resolveRoute } from '../../routing/resolve.ts';
import type { CompiledGroup, CompiledKey, Snapshot, Target } from '../../routing/snapshot.ts';
import type { Job, KnownJobs } from '../../store/ports/job-store.ts';
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
