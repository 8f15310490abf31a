import type { IncomingMessage } from 'node:http';
import type { OutgoingCall } from '../outgoing-request.ts';
import type { CallPlan } from '../plan.ts';

/** Only one text can be put together from two streams: no further choices, and no other route's events. */
export function mayBeRescued({ targets }: CallPlan, { group, match, body }: OutgoingCall): boolean {
  const { rescue, retries } = group.policy;
  if (rescue === 'off' || !body.fields.stream || (targets.length === 1 && retries === 0)) return false;
  return (
    (match.route.job === null || match.route.job.behaviour === 'creates') && match.route.wire.request.isOneText(body)
  );
}

/** Only a file can be asked for from a place in it on. */
export function mayBeResumed({ group, match }: OutgoingCall, { method }: IncomingMessage): boolean {
  return match.route.content && match.passed === null && method === 'GET' && group.policy.rescue === 'resume';
}
