import type { Framing } from '../../apis/core/framing.ts';
import { framingOf } from '../../apis/core/streams/sse-framing.ts';
import { findMember } from '../../apis/json/fragment-members.ts';
import { JsonNames } from '../../apis/json/json-names.ts';
import { fieldValue, peekJson } from '../../apis/json/json-peek.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import { isPathSegment } from '../../providers/path-segment.ts';
import type { JobStore } from '../../store/ports/job-store.ts';
import type { Job, JobKind } from '../../store/rules/job.ts';
import { endsInBrace, isSuccess, type UpstreamResponseObserver } from '../record/response-taps.ts';

export interface StoredIdLocation {
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
