/** A row of the demo's table of routes, and what every route may need. */
import type { Call } from './call.ts';
import type { Reply } from './reply.ts';

export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below `/v1`; a segment that begins with `:` stands for any, and is named after it. */
  path: string;
  handle(call: Call): Reply | Promise<Reply>;
}

export interface RouteContext {
  /** From a video job's creation to its completion. */
  videoSeconds: number;
  /** Milliseconds since the epoch. */
  now: () => number;
}
