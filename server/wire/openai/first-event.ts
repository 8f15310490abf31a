/**
 * What the first events of a stream say: whether there is an answer, an error, or nothing yet that a client could use.
 * Until there is something, nothing goes out, and another target can still be asked. Pure.
 */
import { isObject } from '../../contract/is-object.ts';
import type { ReplyHost } from '../../exchange/readers/response-reader.ts';
import { classifyAnswer, statusOfError } from '../../routing/classify-failure.ts';
import { errorIn, type UpstreamError } from '../../routing/upstream-error.ts';
import type { StreamEvent } from '../sse-event.ts';
import type { StreamProtocol } from './stream-protocol.ts';

type Saying = { kind: 'nothing' } | { kind: 'content' } | { kind: 'error'; error: UpstreamError };

const nothing: Saying = { kind: 'nothing' };
const content: Saying = { kind: 'content' };

/** Of a response or picture that is under way, and of nothing else. */
const announcements = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'keepalive',
  'ping',
  'message_start',
]);

export function sayingOf({ value }: StreamEvent, protocol: StreamProtocol): Saying {
  if (!isObject(value)) return nothing;
  const type = 'type' in value ? String(value.type) : '';
  if (value.error || type === 'error' || type === 'response.failed') {
    return { kind: 'error', error: errorIn(value) ?? unnamedError };
  }
  if (protocol === 'chat') return isAnswering(value) ? content : nothing;
  return announcements.has(type) ? nothing : content;
}

/** Of a response: its model is at work, though it says nothing. Comments and pings may come from whatever stands between. */
export function tellsOfWork({ value }: StreamEvent, protocol: StreamProtocol): boolean {
  if (protocol !== 'responses' || !isObject(value)) return false;
  return value.type === 'keepalive' || value.type === 'response.in_progress';
}

const unnamedError: UpstreamError = { message: '', type: '', code: '', param: null, retryAfterMs: null };

function isAnswering(chunk: Record<string, unknown>): boolean {
  return choicesOf(chunk).some((choice) => choice?.finish_reason || saysSomething(choice));
}

/** One answer of a chat chunk, as far as is known. */
interface Choice {
  index?: unknown;
  text?: unknown;
  delta?: unknown;
  finish_reason?: unknown;
}

/** More than anybody asks for beside one another. */
export const mostChoices = 256;

export function choicesOf({ choices }: Record<string, unknown>): readonly (Choice | null)[] {
  return Array.isArray(choices) ? choices.slice(0, mostChoices) : [];
}

/** Of one choice of a chat stream: more than how it ends. */
export function saysSomething(choice: Choice | null): boolean {
  return Boolean(choice?.text) || hasMore(choice?.delta);
}

/** Any member of a delta counts but for the role, and for what is empty. */
function hasMore(delta: unknown): boolean {
  if (typeof delta !== 'object' || delta === null) return false;
  return Object.entries(delta).some(([name, value]) => name !== 'role' && !isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}

/** An error in place of content. */
export interface FirstError {
  error: UpstreamError;
  event: StreamEvent;
}

/** Told, if nobody does better, as the HTTP error that it should have been. */
export function refuseWith(host: ReplyHost, { error }: FirstError): void {
  const status = statusOfError(error);
  const message = error.message || 'The provider told of an error and did not say which.';
  const told = { message, type: error.type || 'server_error', param: error.param, code: error.code || null };
  const body = Buffer.from(JSON.stringify({ error: told }));
  const failure = classifyAnswer({ status, headers: host.headers, error, isAboutJob: false });
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
  host.refuse(failure, { status, headers: { ...host.headers, ...headers }, body, error });
}
