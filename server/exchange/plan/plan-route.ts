/** Plans a request by its route: one that Sluice serves itself, or one that is passed through. */

import type { RouteMatch } from '../../apis/registry.ts';
import type { Member, Snapshot } from '../../routing/snapshot.ts';
import type { KnownJobs } from '../../store/ports/job-store.ts';
import type { Job } from '../../store/rules/job.ts';
import type { RequestBody, RequestFields } from '../request/request-body.ts';
import { type CallPlan, planCall } from './plan.ts';
import { planPassthrough } from './plan-passthrough.ts';
import { continuedThread, owningIds, referencedConversation } from './referenced-objects.ts';

interface RouteInput {
  match: RouteMatch;
  member: Member;
  body: RequestBody;
  snapshot: Snapshot;
  /** Those that the request names. */
  jobs: KnownJobs;
  /** A stored object that the body or the query names. */
  holder: Job | null;
}

/** The fields of the body, with the model of the path if that names one. */
export function fieldsOf(match: RouteMatch, body: RequestBody): RequestFields {
  return match.model === null ? body.fields : { ...body.fields, model: match.model };
}

/** Throws a GatewayError if no provider may be asked. */
export function planRoute({ match, member, body, snapshot, jobs, holder }: RouteInput): CallPlan {
  const { group, key } = member;
  const { passthrough, route } = match;
  if (passthrough)
    return planPassthrough({
      route,
      passthroughMatch: passthrough,
      referencedIds: owningIds(body),
      group,
      snapshot,
      jobs,
    });
  const conversationId = referencedConversation(match, body);
  const threadId = continuedThread(match, body);
  return planCall({
    match,
    conversationId,
    threadId,
    fields: fieldsOf(match, body),
    group,
    key,
    snapshot,
    jobs,
    holder,
  });
}
