import { JsonNames } from '../../apis/json/json-names.ts';
import { fieldValue, peekJson } from '../../apis/json/json-peek.ts';
import { isObject } from '../../contract/is-object.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import { isPathSegment } from '../../providers/path-segment.ts';
import type { JobStore } from '../../store/ports/job-store.ts';
import type { Job } from '../../store/rules/job.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import { endsInBrace, isSuccess, type UpstreamResponseObserver } from '../record/response-taps.ts';

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
/** The response is searched after each of its first pieces, then each time its length has doubled, and at its end. */
const eagerSearches = 16;
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
