/** One path and method that clients may call, and what is known of it before its body is read. */
import type { StreamFormat } from './stream-format.ts';
import type { Wire } from './wire.ts';

/** `passed`: any, which goes on as it comes. */
type BodyKind = 'none' | 'json' | 'multipart' | 'json-or-multipart' | 'passed';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * `creates`: the answer's `id` is a new job. `uses`: the path names a job. `creates-from`: the path or the body
 * does, and the answer is a new one. `deletes`: so does it, and afterwards it is gone. `lists`: the group's jobs, put together here.
 */
type JobBehaviour = 'creates' | 'uses' | 'creates-from' | 'deletes' | 'lists';

export interface Route {
  readonly method: Method;
  /** Below the API's base; `:id`, or `:model`, stands for one percent-encoded segment. */
  readonly path: string;
  readonly wire: Wire;
  readonly body: BodyKind;
  /** `optional`: the group's default for the operation, or its only provider, serves a request that names none. */
  readonly model: 'required' | 'optional' | 'none';
  readonly modelIn: 'body' | 'path';
  /** The wire's, where this route's answers may come as a stream. */
  readonly stream: StreamFormat | null;
  /** Only tells how much something would be, and uses nothing itself. */
  readonly isFree: boolean;
  /** Sluice itself answers, with about how many tokens the body has; null on all routes that ask an upstream. */
  readonly writeTokenCount: ((tokens: number) => object) | null;
  readonly job: { kind: 'video' | 'character' | 'response'; behaviour: JobBehaviour } | null;
  /** May be answered by a redirect to storage, which is followed without credentials. */
  readonly content: boolean;
}

/** What most routes are. */
export const plainRoute = {
  body: 'json',
  model: 'none',
  modelIn: 'body',
  stream: null,
  isFree: false,
  writeTokenCount: null,
  job: null,
  content: false,
} as const;
