import type { IncomingHttpHeaders } from 'node:http';
import type { AttemptRecord, RequestRecord } from '../contract/ledger.ts';

/** Creates the spans of requests. */
export interface RequestTracer {
  /** `startedAt`: Unix milliseconds. The client's `traceparent` and `tracestate` determine the trace of the request. */
  begin(headers: IncomingHttpHeaders, startedAt: number): RequestTracing;
  /** A span of its own for a row's usage that no attempt's span has. */
  billed(record: RequestRecord): void;
}

/** What an attempt sent, and what its answer tells of itself; nothing of what was said. */
export interface CallFacts {
  temperature: number | null;
  maxTokens: number | null;
  id: string | null;
  model: string | null;
  /** One for each choice. */
  finishReasons: readonly string[];
}

/** The spans of one request. */
export interface RequestTracing {
  /** Begins the span of an attempt. Returns the trace headers for the upstream, which replace the client's own. */
  attempt(record: AttemptRecord): TraceHeaders;
  /** Ends all spans. `factsOf`: of an attempt; null if its API tells none. */
  finished(record: RequestRecord, factsOf: (attempt: AttemptRecord) => CallFacts | null): void;
}

export interface TraceHeaders {
  traceparent: string;
  /** Absent if the trace has none; the client's must then not be sent. */
  tracestate?: string;
}

/** Replaces the client's trace headers by those of a span. */
export function replaceTraceHeaders(headers: Record<string, string>, { traceparent, tracestate }: TraceHeaders): void {
  headers.traceparent = traceparent;
  if (tracestate === undefined) delete headers.tracestate;
  else headers.tracestate = tracestate;
}
