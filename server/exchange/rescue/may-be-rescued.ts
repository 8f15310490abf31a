import type { IncomingMessage } from 'node:http';
import type { FieldName, IncomingBody } from '../../http/body/incoming-body.ts';
import { countChoices } from '../../wire/openai/count-choices.ts';
import type { InferenceRoute } from '../../wire/routes.ts';
import type { OutgoingCall } from '../outgoing-request.ts';
import type { CallPlan } from '../plan.ts';

/** Only one text can be put together from two streams: no further choices, and no other route's events. */
export function mayBeRescued({ targets }: CallPlan, { group, match, body }: OutgoingCall): boolean {
  const { rescue, retries } = group.policy;
  if (rescue === 'off' || !body.fields.stream || (targets.length === 1 && retries === 0)) return false;
  return isPlainText(match.route, body) && countChoices(match.route, body) === 1;
}

/** Only a file can be asked for from a place in it on. */
export function mayBeResumed({ group, match }: OutgoingCall, { method }: IncomingMessage): boolean {
  return match.route.content === true && method === 'GET' && group.policy.rescue === 'resume';
}

function isPlainText({ capability, job }: InferenceRoute, body: IncomingBody): boolean {
  if (capability === 'chat') return true;
  // It goes on by itself, or is written to a conversation, which a second answer would be as well.
  if (capability === 'responses') return job?.behaviour === 'creates' && !hasAny(body, 'background', 'conversation');
  // More than a text: what each token weighs, the prompt before it, what comes after it.
  return capability === 'completions' && !hasAny(body, 'logprobs', 'echo', 'suffix');
}

/** What is too long to be read is there, whatever it says. */
const hasAny = (body: IncomingBody, ...names: FieldName[]) =>
  names.some((name) => body.raw(name) !== null && !nothing.has(body.field(name)));

const nothing = new Set<unknown>([false, 0, '']);
