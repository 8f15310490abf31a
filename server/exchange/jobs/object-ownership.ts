/** Tracks the owners of objects that requests create at a provider, so that later requests reach the same account. */

import type { KeptAnswer, Wire } from '../../apis/core/wire.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { isPathSegment } from '../../providers/path-segment.ts';
import type { UpstreamCredential } from '../../providers/upstream.ts';
import type { CompiledGroup, Target } from '../../routing/snapshot.ts';
import type { JobStore } from '../../store/ports/job-store.ts';
import type { Job } from '../../store/rules/job.ts';
import type { Accounting } from '../../usage/add-up.ts';
import type { RequestTrace } from '../record/exchange-trace.ts';
import type { UpstreamResponseObserver } from '../record/response-taps.ts';
import { notedText } from '../redact/redact-credential.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { RequestBody } from '../request/request-body.ts';
import { createJobObserver, type StoredIdLocation } from './job-observer.ts';
import { createObjectObserver } from './passthrough-object-observer.ts';

type Owner = Omit<Job, 'kind' | 'id' | 'createdAt'>;

interface Recipient {
  target: Target;
  credential: UpstreamCredential | null;
}

export interface CreationContext {
  jobs: JobStore;
  trace: RequestTrace;
  recipient: Recipient;
}

function ownerOf({ trace, recipient: { target, credential } }: CreationContext, group: CompiledGroup): Owner {
  const model = target.model ?? trace.model;
  return {
    groupId: group.id,
    keyId: trace.key?.id ?? '',
    providerId: target.provider.id,
    credentialId: credential?.id ?? null,
    model: model !== null && notedText(model, trace.secrets, model.length) === model ? model : null,
  };
}

/**
 * Watches a response for an object that it created or deleted, and updates the object's owner. Null if the route
 * creates and deletes nothing.
 */
export function createOwnershipObserver(
  method: string,
  call: OutgoingCall,
  context: CreationContext,
): UpstreamResponseObserver | null {
  const { match, body, group } = call;
  const stored = storedIdLocation(match.route.wire, body);
  if (!match.passthrough && !match.route.job && !stored) return null;
  const { jobs, trace } = context;
  const owner = ownerOf(context, group);
  if (match.passthrough) {
    const { names, onlyId, objectMember } = match.passthrough;
    const requestIds = [...names, ...(body.referencedIds ?? [])];
    return createObjectObserver(jobs, {
      method,
      requestIds,
      onlyId,
      objectMember,
      owner,
      size: () => uploadedSize(method, call),
    });
  }
  return createJobObserver(jobs, {
    match,
    store: body.fields.store,
    stored,
    owner,
    created: (job) => {
      trace.createdJob = job;
    },
    deleted: (job) => {
      trace.deletedJob = job;
    },
  });
}

/**
 * The size of the file that the request uploads as a whole, a token a byte; null if it uploads none, or what was sent so
 * far may not be all of it.
 */
function uploadedSize(method: string, { match, body, headers }: OutgoingCall): number | null {
  if (method !== 'POST' || body.mayGrow) return null;
  const { path } = match.route;
  const isForm = path === '/files' && formType.test(body.contentType);
  // Gemini takes long files in parts, of which the last one is answered with the file.
  const isGeminiUpload = path === '/upload/files' && (headers['x-goog-upload-offset'] ?? '0') === '0';
  return isForm || isGeminiUpload ? body.size : null;
}

const formType = boundedPattern(/^multipart\/form-data\b/i);

/**
 * Notes how much input a response adds to a request that continues it: all that it had itself, and its answer. Only if
 * its provider has told both.
 */
export function noteSize(jobs: JobStore, job: Job, { usage, usageCertainty }: Accounting): void {
  const { inputTokens, outputTokens } = usage ?? {};
  if (job.kind !== 'response' || usageCertainty !== 'reported') return;
  if (inputTokens !== undefined && outputTokens !== undefined) jobs.noteSize(job, inputTokens + outputTokens);
}

/** A completion that the client asked to store, or a message of a thread; null for any other answer. */
function storedIdLocation({ request }: Wire, body: RequestBody): StoredIdLocation | null {
  if (request.threadOf?.(body)) return { member: 'message' };
  return request.asksToStore?.(body) ? { member: null } : null;
}

/** An id at the very beginning of an object, where all known services put it. */
const leadingId = boundedPattern(/^\s*\{\s*"id"\s*:\s*"([^"\\]{1,200})"/);
const leadingBytes = 512;

/**
 * Remembers a response of which the client got nothing, since its answer was cut after its id: it goes on, and is asked
 * for until its usage is known.
 */
export function rememberCut({ match, body, group }: OutgoingCall, context: CreationContext, answer: KeptAnswer): void {
  const { job } = match.route;
  if (match.passthrough || job?.behaviour !== 'creates' || job.kind !== 'response' || !body.fields.store) return;
  const beginning = answer.head.length > 0 ? answer.head : answer.tail;
  const id = leadingId.exec(beginning.toString('latin1', 0, leadingBytes))?.[1];
  if (id === undefined || !isPathSegment(id)) return;
  const cutJob = { ...ownerOf(context, group), kind: 'response', id, createdAt: Date.now() } as const;
  context.trace.createdJob = cutJob;
  context.jobs.remember(cutJob);
}

/**
 * Remembers a response that a second upstream completed. Both ids resolve to the second one: `id`, which the client
 * received from the first upstream, and `upstreamId`, under which the second stores the whole response.
 */
export function rememberCompleted(
  { group }: OutgoingCall,
  context: CreationContext,
  id: string,
  upstreamId: string,
): void {
  if (!isPathSegment(id) || !isPathSegment(upstreamId)) return;
  const { jobs } = context;
  const job = { ...ownerOf(context, group), kind: 'response', createdAt: Date.now() } as const;
  jobs.remember({ ...job, id: upstreamId });
  jobs.remember({ ...job, id, upstreamId });
}
