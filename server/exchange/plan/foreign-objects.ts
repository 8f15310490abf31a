/** Refuses a request that names an object of another group, anywhere. */
import { idsInParameters, objectMembers } from '../../apis/core/requests/object-members.ts';
import { idsInJson } from '../../apis/json/id-search.ts';
import { GatewayError } from '../../contract/errors.ts';
import { type MaybePromise, yieldToEventLoop } from '../../ground/promises.ts';
import type { JobStore } from '../../store/ports/job-store.ts';
import type { Job } from '../../store/rules/job.ts';
import type { RequestBody } from '../request/request-body.ts';

const none: readonly string[] = [];
/** Each is a point read, of 20 µs in SQLite. */
const idsPerTurn = 100;
/** More than a batch may have requests; each may name one file. */
const maxIds = 100_000;

/** The ids of stored objects in the query of a request, which begins with `?` or is empty. */
export function idsInQuery(query: string): readonly string[] {
  return query === '' ? none : idsInParameters(query.slice(1));
}

/** Those in a body that is held. */
export function idsInBody({ referencedIds, mayNameObjects, captured }: RequestBody): MaybePromise<readonly string[]> {
  if (referencedIds) return referencedIds;
  return mayNameObjects && captured ? idsInJson(captured, objectMembers) : none;
}

/** Looks up what one request names, as it comes to light, and who holds it. */
export class ForeignObjects {
  readonly #store: Pick<JobStore, 'lookUp'>;
  readonly #groupId: string;
  readonly #seen = new Set<string>();
  #holder: Job | null = null;

  constructor(store: Pick<JobStore, 'lookUp'>, groupId: string) {
    this.#store = store;
    this.#groupId = groupId;
  }

  /** The first object that is known to be the group's own. */
  get holder(): Job | null {
    return this.#holder;
  }

  /** Throws or rejects with a GatewayError if one of these is another group's, or too many are named. */
  refuse(ids: readonly string[]): MaybePromise<void> {
    const fresh = [...new Set(ids)].filter((id) => !this.#seen.has(id));
    if (fresh.length === 0) return;
    for (const id of fresh) this.#seen.add(id);
    if (this.#seen.size > maxIds) {
      throw new GatewayError(
        'invalid_value',
        `This request names more than ${maxIds} stored objects. Send less at once.`,
      );
    }
    return fresh.length <= idsPerTurn ? this.#refuseSome(fresh) : this.#refuseMany(fresh);
  }

  async #refuseMany(ids: readonly string[]): Promise<void> {
    for (let from = 0; from < ids.length; from += idsPerTurn) {
      await this.#refuseSome(ids.slice(from, from + idsPerTurn));
      await yieldToEventLoop();
    }
  }

  #refuseSome(ids: readonly string[]): MaybePromise<void> {
    const found = this.#store.lookUp(ids, this.#groupId);
    const refuse = (known: Awaited<typeof found>) => {
      for (const id of ids) {
        const job = known.findAny(id, this.#groupId);
        if (job === 'foreign') throw noSuchObject(id);
        this.#holder ??= job ?? null;
      }
    };
    return found instanceof Promise ? found.then(refuse) : refuse(found);
  }
}

export function noSuchObject(id: string): GatewayError {
  return new GatewayError('job_not_found', `No such object: '${id.slice(0, 200)}'.`, { param: 'id' });
}
