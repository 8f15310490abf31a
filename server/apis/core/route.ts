/** One path and method that clients may call, and what is known about it before its body is read. */

import type { StreamFormat } from './stream-format.ts';
import type { RequestView, SessionFormat, Wire } from './wire.ts';

/** `passed`: any body, forwarded unchanged. */
type BodyKind = 'none' | 'json' | 'multipart' | 'json-or-multipart' | 'passed';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * `creates`: the response's `id` is a new job. `uses`: the path names a job. `creates-from`: the path names a job, and the
 * response is a new one. `deletes`: the path names a job, which is then gone.
 */
type JobBehaviour = 'creates' | 'uses' | 'creates-from' | 'deletes';

export interface Route {
  readonly method: Method;
  /**
   * Relative to the API's base; `:id` or `:model` stands for one percent-encoded segment, `{model}` for the model that the
   * API's `locate` has found in the URL. May end in the query that belongs to it.
   */
  readonly path: string;
  readonly wire: Wire;
  readonly body: BodyKind;
  /** `optional`: a request without a model goes to the group's default for the operation, or to its only provider. */
  readonly model: 'required' | 'optional' | 'none';
  readonly modelIn: 'body' | 'path';
  /** `path`: each response is a stream if the route has a format of streams, whatever the body says. */
  readonly streamIn: 'body' | 'path';
  /** The wire's stream format, if responses of this route may be streams. */
  readonly stream: StreamFormat | null;
  /** The route of the same operation without a stream; null if it is this one. */
  readonly unstreamed: Route | null;
  /** Calls of this route cost nothing, such as counting tokens. */
  readonly isFree: boolean;
  /** Writes the answer of a route that counts tokens, for estimates of Sluice; null if the route does not count tokens. */
  readonly writeTokenCount: ((tokens: number) => object) | null;
  /** Which requests of this route are purchases: see `isPurchase`. */
  readonly purchases: 'none' | 'all' | 'background';
  readonly job: { kind: 'video' | 'response'; behaviour: JobBehaviour } | null;
  /** The response may redirect to storage; Sluice follows without credentials. */
  readonly content: boolean;
  /** Format of the WebSocket session that the request opens; null for all other routes. */
  readonly session: SessionFormat | null;
}

/**
 * Whether a repetition of the request would make a second object, or a second bill, that the client cannot see: a video, an
 * image, a batch, an answer that is worked on in the background. Such a request is repeated only if nothing can have been made
 * (`errors/verdict.ts`).
 */
export function isPurchase({ purchases, wire }: Route, body: RequestView<string>): boolean {
  return purchases === 'all' || (purchases === 'background' && wire.request.isBackground(body));
}

/** Defaults of a route. */
export const plainRoute = {
  body: 'json',
  model: 'none',
  modelIn: 'body',
  streamIn: 'body',
  stream: null,
  unstreamed: null,
  isFree: false,
  writeTokenCount: null,
  purchases: 'none',
  job: null,
  content: false,
  session: null,
} as const;
