import type { Job, JobStore } from '../jobs/job-store.ts';
import { isPathSegment } from '../providers/path-segment.ts';
import { fieldValue, peekJson } from '../wire/json/json-peek.ts';
import type { RouteMatch } from '../wire/registry.ts';
import type { ResponseObserver } from './response-observer.ts';

interface JobContext {
  match: RouteMatch;
  /** False if the client asked for the response not to be stored. */
  store: boolean;
  owner: Omit<Job, 'kind' | 'id' | 'createdAt'>;
  made(job: Job): void;
  /** With what it still owed. */
  deleted(job: Job): void;
}

/** A reply in JSON up to this size is looked at as a whole; it has many ids, of which the one on top counts. */
const wholeBytes = 1024 * 1024;
/** So far a stream, or a reply too large to be looked at, is searched: the id stands near the beginning. */
const searchedBytes = 64 * 1024;
const idInEvent = /"response"\s*:\s*\{[\s\S]*?"id"\s*:\s*"([^"\\]{1,200})"/;
const firstId = /"id"\s*:\s*"([^"\\]{1,200})"/;

/**
 * For routes that make, or end, a job: remembers who owns it as soon as its id passes by, before the client can ask for
 * it. Null for all other routes.
 */
export function jobWatcher(jobs: JobStore, context: JobContext): ResponseObserver | null {
  const { route, id } = context.match;
  const { job } = route;
  if (!job || job.behaviour === 'uses' || job.behaviour === 'lists') return null;
  const { kind } = job;
  if (job.behaviour === 'deletes') {
    return {
      begin(status) {
        if (id === null || !isSuccess(status)) return;
        const { groupId } = context.owner;
        const owing = jobs.settle({ kind, id, groupId });
        if (owing) context.deleted(owing);
        jobs.forget(kind, id, groupId);
      },
      take() {},
    };
  }
  if (kind === 'response' && !context.store) return null;
  // A video costs money, so it is on disk before the client hears of it.
  return new NewJobWatch((newId) => {
    // Later calls put it into their path.
    if (!isPathSegment(newId)) return;
    const job = { ...context.owner, kind, id: newId, createdAt: Date.now() };
    jobs.remember(job, { durable: kind === 'video' });
    context.made(job);
  });
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

class NewJobWatch implements ResponseObserver {
  readonly #found: (id: string) => void;
  #isWatching = false;
  #isStream = false;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(found: (id: string) => void) {
    this.#found = found;
  }

  begin(status: number, contentType: string): void {
    this.#isWatching = isSuccess(status);
    this.#isStream = /^text\/event-stream\b/i.test(contentType);
  }

  take(chunk: Buffer): void {
    if (!this.#isWatching) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const id = this.#isStream ? this.#search(idInEvent) : this.#look(chunk);
    if (id !== undefined) this.#found(id);
    this.#isWatching = id === undefined && this.#bytes <= (this.#isStream ? searchedBytes : wholeBytes);
    if (!this.#isWatching) this.#chunks = [];
  }

  #look(latest: Buffer): string | undefined {
    if (this.#bytes > wholeBytes) return this.#search(firstId);
    const mayBeWhole = latest
      .toString('latin1', Math.max(0, latest.length - 16))
      .trimEnd()
      .endsWith('}');
    return mayBeWhole ? topLevelId(Buffer.concat(this.#chunks)) : undefined;
  }

  #search(pattern: RegExp): string | undefined {
    return pattern.exec(Buffer.concat(this.#chunks).toString('latin1', 0, searchedBytes))?.[1];
  }
}

function topLevelId(json: Buffer): string | undefined {
  const peek = peekJson(json, ['id']);
  const field = peek.ok ? peek.fields.get('id') : undefined;
  try {
    const id = field && fieldValue(json, field);
    return typeof id === 'string' && id !== '' && id.length <= 200 ? id : undefined;
  } catch {
    return undefined;
  }
}
