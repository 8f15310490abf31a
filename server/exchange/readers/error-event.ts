import type { ResponseHeaders } from '../../transport/transport.ts';
import type { StreamFormat } from '../../wire/stream-format.ts';
import type { UpstreamError } from '../../wire/upstream-error.ts';
import type { ErrorFormat } from '../../wire/wire.ts';
import type { FailureReason } from './response-reader.ts';

/** An event of a stream that tells of an error. */
export interface ErrorEvent {
  error: UpstreamError;
  /** As it came, with its blank line. */
  bytes: Buffer;
}

/** The stream that it stands in. */
export interface Streamed {
  format: StreamFormat;
  errors: ErrorFormat;
  /** Of the response. */
  headers: ResponseHeaders;
}

type Refusal = Extract<FailureReason, { kind: 'answer' }>;

/** Told, if nobody does better, as the HTTP error that it should have been, or where the client has a stream as it came. */
export function refusalOf({ error, bytes }: ErrorEvent, { format, errors, headers }: Streamed): Refusal {
  const status = errors.statusOf(error);
  const message = error.message || 'The provider told of an error and did not say which.';
  const told = { message, type: error.type || 'server_error', param: error.param, code: error.code || null };
  const body = Buffer.from(format.writeError(told));
  const failure = errors.classify({ status, headers, error, isAboutJob: false });
  const described = { 'content-type': 'application/json', 'content-length': String(body.length) };
  return {
    kind: 'answer',
    failure,
    answer: { status, headers: { ...headers, ...described }, body, error },
    event: bytes,
  };
}
