/** A row of the demo's route table, and what its handlers need. */
import type { Call } from './call.ts';
import type { Reply } from './reply.ts';

export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  /** Relative to `/v1`. A segment such as `:id` matches any segment and names it. */
  path: string;
  handle(call: Call): Reply | Promise<Reply>;
}

export interface RouteContext {
  /** Seconds from a video job's creation to its completion. */
  videoSeconds: number;
  /** Milliseconds since the epoch. */
  now: () => number;
}
