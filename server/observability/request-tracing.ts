import type { IncomingHttpHeaders } from 'node:http';
import type { AttemptRecord, RequestRecord } from '../contract/ledger.ts';

/** Begins the spans of requests. */
export interface RequestTracer {
  /** `startedAt` in Unix milliseconds. The client's `traceparent` and `tracestate` say of which trace the request is. */
  begin(headers: IncomingHttpHeaders, startedAt: number): RequestTracing;
}

/** The spans of one request. */
export interface RequestTracing {
  /** Begins the span of an attempt. Returns the headers by which the upstream learns of it, instead of the client's own. */
  attempt(record: AttemptRecord): TraceHeaders;
  /** Ends all spans. */
  finished(record: RequestRecord): void;
}

export interface TraceHeaders {
  traceparent: string;
  /** Absent: the trace has none, and the client's must not be sent. */
  tracestate?: string;
}

/** Names a span to an upstream instead of the client's. */
export function replaceTraceHeaders(headers: Record<string, string>, { traceparent, tracestate }: TraceHeaders): void {
  headers.traceparent = traceparent;
  if (tracestate === undefined) delete headers.tracestate;
  else headers.tracestate = tracestate;
}
