/** Tracks the owners of objects that requests create at a provider, so that later requests reach the same account. */

import { isPathSegment } from '../../apis/core/requests/segments.ts';
import { framingOf } from '../../apis/core/sse-framing.ts';
import type { Framing } from '../../apis/core/stream-format.ts';
import type { KeptAnswer, Wire } from '../../apis/core/wire.ts';
import { JsonNames } from '../../apis/json/json-names.ts';
import { fieldValue, findMember, peekJson } from '../../apis/json/json-peek.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import { isObject } from '../../contract/is-object.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type { UpstreamCredential } from '../../providers/upstream.ts';
import type { CompiledGroup, Target } from '../../routing/snapshot.ts';
import type { Job, JobKind, JobStore } from '../../store/ports/kept-stores.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import type { Accounting, RequestTrace } from '../record/exchange-trace.ts';
import { endsInBrace, isSuccess, type UpstreamResponseObserver } from '../record/response-taps.ts';
import { notedText } from '../redact/redact-credential.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { RequestBody } from '../request/request-body.ts';

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

interface StoredIdLocation {
  /** The member of an event that contains its id; null: the top level. */
  member: string | null;
}

interface JobContext {
  match: RouteMatch;
  /** False if the client asked for the response not to be stored. */
  store: boolean;
  /** Set for an answer that the provider stores only because the client asked for it. */
  stored: StoredIdLocation | null;
  owner: Omit<Job, 'kind' | 'id' | 'createdAt'>;
  created(job: Job): void;
  /** Called with the job as it was, including what it still owed. */
  deleted(job: Job): void;
}

/**
 * JSON responses up to this size are parsed as a whole: they contain many ids, and only the one at the top level counts.
 */
const wholeBytes = 256 * 1024;
/** How much of a stream or a larger response is searched; the id stands near the beginning. */
const searchedBytes = 64 * 1024;
/** The response is searched after each of its first pieces, then each time its length has doubled. */
const eagerSearches = 16;
const idName = new JsonNames(['id']);

/**
 * For routes that create or delete a job: records its owner as soon as the id passes, before the client can use it. Null
 * for all other routes.
 */
export function createJobObserver(jobs: JobStore, context: JobContext): UpstreamResponseObserver | null {
  const { route, id } = context.match;
  const { job } = route;
  const keep = (kind: JobKind, newId: string): MaybePromise<void> => {
    // Later requests put the id into their path.
    if (!isPathSegment(newId)) return;
    const newJob = { ...context.owner, kind, id: newId, createdAt: Date.now() };
    if (kind !== 'object') context.created(newJob);
    // A video costs money, so it is stored durably before the client learns its id.
    return jobs.remember(newJob, { durable: kind === 'video' });
  };
  if (!job && context.stored)
    return new NewJobObserver(framingOf(route), context.stored.member, (newId) => keep('object', newId));
  if (!job || job.behaviour === 'uses') return null;
  const { kind } = job;
  if (job.behaviour === 'deletes') {
    return {
      begin(status) {
        if (id === null || !isSuccess(status)) return;
        const { groupId } = context.owner;
        const owingJob = jobs.settle({ kind, id, groupId });
        if (owingJob) context.deleted(owingJob);
        jobs.forget(kind, id, groupId);
      },
      take() {},
    };
  }
  if (kind === 'response' && !context.store) return null;
  return new NewJobObserver(framingOf(route), 'response', (newId) => keep(kind, newId));
}

class NewJobObserver implements UpstreamResponseObserver {
  readonly #framing: Framing;
  /** The member of an event that contains the id; null: the top level. */
  readonly #memberName: string | null;
  readonly #onFound: (id: string) => MaybePromise<void>;
  #isWatching = false;
  #isStream = false;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #searches = 0;
  #searchedUpTo = 0;

  constructor(framing: Framing, memberName: string | null, onFound: (id: string) => MaybePromise<void>) {
    this.#framing = framing;
    this.#memberName = memberName;
    this.#onFound = onFound;
  }

  begin(status: number, contentType: string): void {
    this.#isWatching = isSuccess(status);
    this.#isStream = this.#framing.isStream(contentType);
  }

  take(chunk: Buffer): MaybePromise<void> {
    if (!this.#isWatching) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const isLast = this.#bytes > (this.#isStream ? searchedBytes : wholeBytes);
    const id = isLast || this.#isDue() ? this.#findId(chunk) : undefined;
    this.#isWatching = id === undefined && !isLast;
    if (!this.#isWatching) this.#chunks = [];
    return id === undefined ? undefined : this.#onFound(id);
  }

  #isDue(): boolean {
    return this.#searches < eagerSearches || this.#bytes >= 2 * this.#searchedUpTo;
  }

  #findId(latest: Buffer): string | undefined {
    const isBeginning = this.#isStream || this.#bytes > wholeBytes;
    if (!isBeginning && !endsInBrace(latest)) return undefined;
    this.#searches++;
    this.#searchedUpTo = this.#bytes;
    const bytes = Buffer.concat(this.#chunks);
    if (!isBeginning) return topLevelId(bytes);
    return firstId(bytes.toString('latin1', 0, searchedBytes), this.#isStream ? this.#memberName : null);
  }
}

function firstId(text: string, memberName: string | null): string | undefined {
  const from = memberName === null ? 0 : findMember(text, memberName, beginsObject)?.end;
  return from === undefined ? undefined : findMember(text, 'id', isShortText, from)?.value;
}

const beginsObject = boundedPattern(/^\s*:\s*\{/);
const isShortText = boundedPattern(/^\s*:\s*"([^"\\]{1,200})"/);

function topLevelId(json: Buffer): string | undefined {
  const peek = peekJson(json, idName);
  const field = peek.ok ? peek.fields.get('id') : undefined;
  try {
    const id = field && fieldValue(json, field);
    return typeof id === 'string' && id !== '' && id.length <= 200 ? id : undefined;
  } catch {
    return undefined;
  }
}

interface ObjectContext {
  method: string;
  /** All ids in the request's path and body. */
  requestIds: readonly string[];
  /** The only id in the path; null if there are several or none. */
  onlyId: string | null;
  /** The member of the answer that names a new object; null if none is remembered. */
  objectMember: 'id' | 'name' | null;
  owner: Omit<Job, 'kind' | 'id' | 'createdAt'>;
  /** The size of the file that the request uploads; null if it uploads none, or its size is unknown. */
  size(): number | null;
}

/** Maximum length of a response that describes one new object; anything longer is a list or a file. */
const maxBytes = 256 * 1024;

/** `file` holds the file that a completed upload became. */
const names = new JsonNames(['id', 'name', 'file']);

/** For passthrough requests: records the owner of each new object before the client learns its id. */
export function createObjectObserver(jobs: JobStore, context: ObjectContext): UpstreamResponseObserver | null {
  const { method, onlyId, owner } = context;
  if (context.objectMember === null) return null;
  if (method === 'POST' || method === 'PUT') return new ObjectObserver(jobs, context, context.objectMember);
  if (method !== 'DELETE' || onlyId === null) return null;
  return {
    begin(status) {
      if (isSuccess(status)) jobs.forget('object', onlyId, owner.groupId);
    },
    take() {},
  };
}

class ObjectObserver implements UpstreamResponseObserver {
  readonly #jobs: JobStore;
  readonly #context: ObjectContext;
  readonly #objectMember: 'id' | 'name';
  /** Null if nothing is searched for. */
  #chunks: Buffer[] | null = null;
  #bytes = 0;
  #searches = 0;
  #searchedUpTo = 0;
  /** NaN if there is no `content-length`. */
  #length = Number.NaN;

  constructor(jobs: JobStore, context: ObjectContext, objectMember: 'id' | 'name') {
    this.#jobs = jobs;
    this.#objectMember = objectMember;
    this.#context = context;
  }

  begin(status: number, contentType: string, headers: ResponseHeaders): void {
    this.#length = Number(headers['content-length'] ?? Number.NaN);
    this.#chunks = isSuccess(status) && contentType.startsWith('application/json') ? [] : null;
  }

  take(chunk: Buffer): MaybePromise<void> {
    if (!this.#chunks) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > maxBytes) this.#chunks = null;
    else if (this.#isDue && endsInBrace(chunk)) return this.#findIds(Buffer.concat(this.#chunks));
  }

  get #isDue(): boolean {
    return this.#searches < eagerSearches || this.#bytes >= 2 * this.#searchedUpTo || this.#bytes === this.#length;
  }

  #findIds(json: Buffer): MaybePromise<void> {
    this.#searches++;
    this.#searchedUpTo = this.#bytes;
    const peek = peekJson(json, names);
    if (!peek.ok) return;
    this.#chunks = null;
    const named = this.#objectMember === 'name' ? peek.fields.get('name') : undefined;
    const [id, file] = [named ?? peek.fields.get('id'), peek.fields.get('file')];
    const storing = id && this.#remember(this.#idIn(readField(json, id)));
    // Both are stored in one write, so it is enough to wait for the later one.
    return (file && this.#remember(idOf(readField(json, file)))) ?? storing;
  }

  /** A name is a path of collections and ids, of which the last one is the object's. */
  #idIn(value: unknown): unknown {
    return this.#objectMember === 'name' && typeof value === 'string' ? value.slice(value.lastIndexOf('/') + 1) : value;
  }

  /** Ids that the request contained, or that already have an owner, are not new. */
  #remember(id: unknown): MaybePromise<void> {
    const { requestIds, owner, size } = this.#context;
    if (typeof id !== 'string' || id.length > maxIdLength || !isPathSegment(id) || requestIds.includes(id)) return;
    const inputTokens = size();
    const sized = inputTokens !== null && { inputTokens };
    return this.#jobs.rememberNew({ ...owner, kind: 'object', id, createdAt: Date.now(), ...sized });
  }
}

const maxIdLength = 200;
const geminiFolder = 'files/';

function readField(json: Buffer, field: { start: number; end: number }): unknown {
  try {
    return fieldValue(json, field);
  } catch {
    return undefined;
  }
}

function idOf(value: unknown): unknown {
  if (!isObject(value)) return undefined;
  if (value.id !== undefined || typeof value.name !== 'string') return value.id;
  // Gemini's files have a name alone.
  return value.name.startsWith(geminiFolder) ? value.name.slice(geminiFolder.length) : undefined;
}
