/** Plans a request by its route: one that Sluice serves itself, or one that is passed through. */

import type { RouteMatch } from '../../apis/registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Member, Snapshot } from '../../routing/snapshot.ts';
import type { KnownJobs } from '../../store/ports/job-store.ts';
import type { Job } from '../../store/rules/job.ts';
import { containsSecret } from '../redact/find-secrets.ts';
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

/**
 * Catches swapped client settings: a key written where the name of a model, an object or a path belongs would go to a provider, and
 * into its logs. The messages do not repeat it.
 */
const meantBy: Readonly<Record<string, string>> = { model: 'the name of a model' };

/** @throws GatewayError `invalid_value` if the field contains a key */
export function checkName(field: string, name: string, secrets: readonly string[]): void {
  if (!containsSecret(name, secrets)) return;
  const meant = meantBy[field] ?? 'an id';
  throw new GatewayError('invalid_value', `The field '${field}' contains an API key. Set it to ${meant}.`, {
    param: field,
  });
}

/** @throws GatewayError `invalid_value` if the path contains a key. Parameters of the query that do are left out. */
export function checkPath(path: string, secrets: readonly string[]): void {
  if (!containsSecret(path, secrets)) return;
  throw new GatewayError(
    'invalid_value',
    'The path of the URL contains an API key, so that this request was not forwarded. Write the id that belongs there, and send the key only in a header.',
  );
}
