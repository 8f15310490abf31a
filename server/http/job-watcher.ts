import type { Job, JobStore } from '../jobs/job-store.ts';
import type { RouteMatch } from './inference-routes.ts';

export interface JobContext {
  match: RouteMatch;
  /** False if the client asked for the response not to be stored. */
  store: boolean;
  /** Of the reply. */
  status: () => number;
  owner: Omit<Job, 'kind' | 'id' | 'createdAt'>;
}

/** The first `"id"` of a reply is the job's, plain or inside `response.created`; it stands near the beginning. */
const firstId = /"id"\s*:\s*"([^"\\]{1,200})"/;
const searchedBytes = 64 * 1024;

/**
 * For routes that make, or end, a job: remembers who owns it as soon as its id passes by, before the client can ask for
 * it. Null for all other routes. A video costs money, so it is on disk before the client hears of it.
 */
export function jobWatcher(jobs: JobStore, context: JobContext): ((chunk: Buffer) => void) | null {
  const { job } = context.match.route;
  if (!job || job.behaviour === 'uses' || job.behaviour === 'lists') return null;
  if (job.behaviour === 'deletes') {
    return () => {
      const { id } = context.match;
      if (id !== null && context.status() === 200) jobs.forget(job.kind, id, context.owner.groupId);
    };
  }
  if (job.kind === 'response' && !context.store) return null;
  let head = '';
  let done = false;
  return (chunk) => {
    if (done || context.status() !== 200) return;
    head += chunk.toString('latin1');
    const id = firstId.exec(head)?.[1];
    done = id !== undefined || head.length > searchedBytes;
    if (id === undefined) return;
    jobs.remember({ ...context.owner, kind: job.kind, id, createdAt: Date.now() }, { durable: job.kind === 'video' });
  };
}
