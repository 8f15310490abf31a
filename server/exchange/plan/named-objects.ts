/** Looks up the stored objects that a request names: whose they are and, under a hard budget, how much input they add. */

import { referredIn } from '../../apis/core/referred-input.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import type { Member } from '../../routing/snapshot.ts';
import { type JobStore, type KnownJobs, noJobs } from '../../store/ports/job-store.ts';
import type { Job } from '../../store/rules/job.ts';
import type { RequestBody } from '../request/request-body.ts';
import { hardBudgetOf, isPaid, type SizeAt } from './enforce-limits.ts';
import { ForeignObjects, idsInBody, idsInQuery } from './foreign-objects.ts';
import { referencedObjects } from './referenced-objects.ts';

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
export const nothingNamed: NamedObjects = { jobs: noJobs, sizeAt: unknownSize, holder: null };

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
