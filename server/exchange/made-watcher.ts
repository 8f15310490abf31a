import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { RequestTrace } from './exchange-trace.ts';
import { jobWatcher } from './job-watcher.ts';
import { objectWatcher } from './object-watcher.ts';
import type { OutgoingCall } from './outgoing-request.ts';
import type { ResponseObserver } from './response-observer.ts';

interface MadeContext {
  jobs: JobStore;
  trace: RequestTrace;
  owner: Omit<Job, 'kind' | 'id' | 'createdAt'>;
}

/**
 * Watches a response for an object that it created or deleted, and updates the object's owner. Null if the route does
 * neither.
 */
export function madeWatcher(
  method: string,
  { match, body }: OutgoingCall,
  { jobs, trace, owner }: MadeContext,
): ResponseObserver | null {
  if (match.passed) {
    const { names, onlyId } = match.passed;
    return objectWatcher(jobs, { method, named: [...names, ...(body.namedIds ?? [])], onlyId, owner });
  }
  return jobWatcher(jobs, {
    match,
    store: body.fields.store,
    storesChat: match.route.wire.operation === 'chat' && body.field('store') === true,
    owner,
    made: (job) => {
      trace.madeJob = job;
    },
    deleted: (job) => {
      trace.deletedJob = job;
    },
  });
}
