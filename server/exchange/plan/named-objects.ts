/** Looks up the stored objects that a request names: whose they are and, under a hard budget, how much input they add. */

import { referredIn } from '../../apis/core/referred-input.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import type { Member } from '../../routing/snapshot.ts';
import { type JobStore, type KnownJobs, noJobs } from '../../store/ports/job-store.ts';
import type { RequestBody } from '../request/request-body.ts';
import { hardBudgetOf, isPaid, type SizeAt } from './enforce-limits.ts';
import { referencedObjects } from './referenced-objects.ts';

interface NamedObjects {
  jobs: KnownJobs;
  sizeAt: SizeAt;
}

interface NamingRequest {
  match: RouteMatch;
  member: Member;
  body: RequestBody;
}

const unknownSize: SizeAt = () => null;

/** For requests that name nothing. */
export const nothingNamed: NamedObjects = { jobs: noJobs, sizeAt: unknownSize };

/** Fails like `JobStore.lookUp`, but not because of sizes. */
export function findNamedObjects(store: JobStore, request: NamingRequest): MaybePromise<NamedObjects> {
  const { match, member, body } = request;
  const ids = referencedObjects(match, body);
  const jobs = ids.length === 0 ? noJobs : store.lookUp(ids, member.group.id);
  const sizeAt = findSizes(store, request);
  if (jobs === noJobs && sizeAt === unknownSize) return nothingNamed;
  if (!(jobs instanceof Promise || sizeAt instanceof Promise)) return { jobs, sizeAt };
  return Promise.all([jobs, sizeAt]).then(([known, size]) => ({ jobs: known, sizeAt: size }));
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
