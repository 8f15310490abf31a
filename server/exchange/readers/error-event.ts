import { statusOfError } from '../../apis/core/errors/error-names.ts';
import { failureBy } from '../../apis/core/errors/verdict.ts';
import type { StreamFormat } from '../../apis/core/stream-format.ts';
import type { StreamText } from '../../apis/core/stream-text.ts';
import type { UpstreamError } from '../../apis/core/upstream-error.ts';
import type { ErrorBody } from '../../contract/errors.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import type { FailureReason } from './response-reader.ts';

/** An error event of a stream. */
export interface ErrorEvent {
  error: UpstreamError;
  /** The original bytes, with the blank line, and what the client's API needs to know them for an error. */
  bytes: Buffer;
}

/** The stream that contains the event. */
export interface Streamed {
  format: StreamFormat;
  /** The response's headers. */
  headers: ResponseHeaders;
  /** As in `RequestFacts`. */
  tellsOutcome?: boolean | undefined;
  isBackground?: boolean | undefined;
  /** The client gets the stream in another API's words. */
  isTranslated?: boolean;
}

/** The options of a reader of whole streams. */
export interface EventsOptions extends Streamed {
  /** How many choices or images the stream carries in parallel. */
  answers: number;
  /** Sluice alone asked for usage, so it has to be removed again. */
  stripUsage: boolean;
  /** Collects what the client has, so that another target can continue; null if none may. */
  text: StreamText | null;
}

export function errorBodyOf(error: UpstreamError): ErrorBody {
  const message = error.message || 'The provider told of an error and did not say which.';
  return { message, type: error.type || 'server_error', param: error.param, code: error.code || null };
}

type Refusal = Extract<FailureReason, { kind: 'answer' }>;

/**
 * Holds the error for the case that no other target succeeds: as the HTTP error that it stands for, or unchanged if the
 * client already has a stream.
 */
export function refusalOf({ error, bytes }: ErrorEvent, { format, headers }: Streamed): Refusal {
  const status = statusOfError(error);
  const body = Buffer.from(format.writeError(errorBodyOf(error)));
  const failure = failureBy({ status, headers, error, isAboutJob: false });
  const bodyHeaders = { 'content-type': 'application/json', 'content-length': String(body.length) };
  return {
    kind: 'answer',
    failure,
    answer: { status, headers: { ...headers, ...bodyHeaders }, body, error },
    event: bytes,
  };
}
