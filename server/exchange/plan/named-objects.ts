/**
 * The stored objects that a request names: whose they are, what input they add under a hard budget, and that none is
 * another group's.
 */
import { referredIn } from '../../apis/core/referred-input.ts';
import { conversationIn } from '../../apis/core/requests/client-session.ts';
import { idsInJson, idsInParameters, objectMembers } from '../../apis/core/requests/object-members.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import { type MaybePromise, yieldToEventLoop } from '../../ground/promises.ts';
import type { Member } from '../../routing/snapshot.ts';
import { type Job, type JobStore, type KnownJobs, noJobs } from '../../store/ports/job-store.ts';
import type { RequestBody } from '../request/request-body.ts';
import { hardBudgetOf, isPaid, type SizeAt } from './enforce-limits.ts';

export interface NamedObjects {
  jobs: KnownJobs;
  sizeAt: SizeAt;
  /** The first of its files, caches and the like that the group made through Sluice; only this account has it. */
  holder: Job | null;
}

interface NamingRequest {
  match: RouteMatch;
  member: Member;
  body: RequestBody;
  /** Begins with `?`, or is empty. */
  query: string;
}

const unknownSize: SizeAt = () => null;

/** For requests that name nothing. */
const nothingNamed: NamedObjects = { jobs: noJobs, sizeAt: unknownSize, holder: null };

/** Fails like `JobStore.lookUp`, but not because of sizes, and with a GatewayError if an object is another group's. */
export function findNamedObjects(store: JobStore, request: NamingRequest): MaybePromise<NamedObjects> {
  const ids = referencedObjects(request.match, request.body);
  const holder = findHolder(store, request, ids);
  return holder instanceof Promise
    ? holder.then((found) => lookUpNamed(store, request, ids, found))
    : lookUpNamed(store, request, ids, holder);
}

function lookUpNamed(
  store: JobStore,
  request: NamingRequest,
  ids: readonly string[],
  holder: Job | null,
): MaybePromise<NamedObjects> {
  const jobs = ids.length === 0 ? noJobs : store.lookUp(ids, request.member.group.id);
  const sizeAt = findSizes(store, request);
  if (jobs === noJobs && sizeAt === unknownSize && holder === null) return nothingNamed;
  if (!(jobs instanceof Promise || sizeAt instanceof Promise)) return { jobs, sizeAt, holder };
  return Promise.all([jobs, sizeAt]).then(([known, size]) => ({ jobs: known, sizeAt: size, holder }));
}

/** What the plan looks up itself, `planned`, has errors of its own. */
function findHolder(
  store: JobStore,
  { member, body, query }: NamingRequest,
  planned: readonly string[],
): MaybePromise<Job | null> {
  const find = (inBody: readonly string[]) => {
    const ids = [...idsInQuery(query), ...inBody].filter((id) => !planned.includes(id));
    if (ids.length === 0) return null;
    const objects = new ForeignObjects(store, member.group.id);
    const refusing = objects.refuse(ids);
    return refusing ? refusing.then(() => objects.holder) : objects.holder;
  };
  const inBody = idsInBody(body);
  return inBody instanceof Promise ? inBody.then(find) : find(inBody);
}

function findSizes(store: JobStore, { match, member, body }: NamingRequest): MaybePromise<SizeAt> {
  if (!hardBudgetOf(member) || !isPaid(match.route)) return unknownSize;
  const { isOpen, ids } = referredIn(body.captured);
  if (isOpen || ids.length === 0) return unknownSize;
  const { id: groupId } = member.group;
  try {
    const found = store.lookUp(ids, groupId, { withSizes: true });
    return found instanceof Promise
      ? found.then((known) => sizesIn(known, ids, groupId)).catch(() => unknownSize)
      : sizesIn(found, ids, groupId);
  } catch {
    // The rest of the window is reserved then.
    return unknownSize;
  }
}

/** Another provider may have an object of the same id. */
function sizesIn(known: KnownJobs, ids: readonly string[], groupId: string): SizeAt {
  const jobs = new Map(ids.map((id) => [id, known.findAny(id, groupId)]));
  return (id, providerId) => {
    const job = jobs.get(id);
    return typeof job === 'object' && job.providerId === providerId ? (job.inputTokens ?? null) : null;
  };
}

const none: readonly string[] = [];
/** Of those in the body of a passthrough request, as many are asked for their owner. */
const maxOwned = 32;

/**
 * Finds the provider's objects that decide to which account a request is sent, since it owns them.
 *
 * The ids of the stored objects whose owner answers the request.
 */
function referencedObjects(match: RouteMatch, body: RequestBody): readonly string[] {
  const { passthrough, route } = match;
  if (passthrough) return [...passthrough.names, ...owningIds(body)];
  const { previousResponseId } = body.fields;
  const threadId = continuedThread(match, body);
  if (threadId !== null) return [threadId];
  if (!route.job && previousResponseId === null) return none;
  return [match.id, referencedConversation(match, body), previousResponseId].filter((id) => id !== null);
}

/** The stored conversation that a new response continues; null if there is none. */
export function referencedConversation({ route }: RouteMatch, body: RequestBody): string | null {
  if (route.job?.kind !== 'response' || route.job.behaviour !== 'creates') return null;
  return conversationIn(body);
}

/** The latest message of the stored thread that the request continues; null if it continues none. */
export function continuedThread({ route }: RouteMatch, body: RequestBody): string | null {
  return route.wire.request.threadOf?.(body)?.previousMessageId ?? null;
}

export function owningIds({ referencedIds = none }: RequestBody): readonly string[] {
  return referencedIds.slice(0, maxOwned);
}

// Refuses a request that names an object of another group, anywhere.

/** Each is a point read, of 20 µs in SQLite. */
const idsPerTurn = 100;
/** More than a batch may have requests; each may name one file. */
const maxIds = 100_000;

/** The ids of stored objects in the query of a request, which begins with `?` or is empty. */
function idsInQuery(query: string): readonly string[] {
  return query === '' ? none : idsInParameters(query.slice(1));
}

/** Those in a body that is held. */
function idsInBody({ referencedIds, mayNameObjects, captured }: RequestBody): MaybePromise<readonly string[]> {
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
