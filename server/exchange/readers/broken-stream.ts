/** How a stream that broke is told to its client, and what of its events is left out. */

import { statusOfError } from '../../apis/core/errors/error-names.ts';
import { failureBy } from '../../apis/core/errors/verdict.ts';
import type { Framing } from '../../apis/core/framing.ts';
import type { StreamFormat, StreamWatch } from '../../apis/core/stream-format.ts';
import type { StreamText } from '../../apis/core/stream-text.ts';
import type { UpstreamError } from '../../apis/core/upstream-error.ts';
import { type ErrorBody, GatewayError } from '../../contract/errors.ts';
import { endlessFailure } from '../../routing/attempt-result.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import { TransportError } from '../../transport/transport-error.ts';
import { damagedBy, type FailureReason, type Step } from './response-reader.ts';

/** The error for a response that breaks after it has begun. */
export function brokenBy(error: TransportError): GatewayError {
  return error.fault === 'timeout'
    ? new GatewayError('upstream_timeout', `The provider did not finish its answer in time (${error.message}).`, {
        cause: error,
      })
    : new GatewayError(
        'upstream_stream_broken',
        `The provider ${error.fault === 'malformed' ? 'sent something unreadable' : 'disconnected'} in the middle of its answer (${error.message}).`,
        { cause: error },
      );
}

/** Longer than any response except a video. */
export const maxResponseBytes = 256 * 1024 * 1024;

/**
 * The longest event of a stream. An image of 3840 × 2160 needs up to 44 MiB (8.3 million pixels of four bytes,
 * uncompressed, in base64), so no smaller bound would do (openai-node#2433 reverted one of 8 MiB).
 */
export const maxStreamedEventBytes = 64 * 1024 * 1024;

/** Limit for held events of a stream that can be rescued: events of the Responses API repeat its instructions and tools. */
export const maxTextEventBytes = 512 * 1024;

export function endlessEvent(): TransportError {
  return new TransportError('malformed', 'body', 'an event without end');
}

/** If nothing of the stream has been sent. */
export const endlessStep = damagedBy('sent an event without end', endlessFailure);

export function endedEarly(): GatewayError {
  return new GatewayError(
    'upstream_stream_broken',
    'The provider ended the stream before it was complete. What came so far is valid; ask again for the whole.',
  );
}

/** The last step of a stream that broke after it had begun. `text` is null if no other target may continue it. */
export function brokenStep(
  error: GatewayError,
  isInsideEvent: boolean,
  watch: StreamWatch,
  text: StreamText | null,
): Step {
  if (isInsideEvent) return { kind: 'break', error, event: null };
  const soFar = text?.read() ?? null;
  if (soFar) return { kind: 'hand-over', error };
  return { kind: 'break', error, event: watch.errorEvent(error.toBody().error) };
}

/** A stream with more events that clients could not parse is treated as broken. */
const maxDroppedEvents = 1_000;

/** The events of a stream that no client could parse, and that are left out for that. */
export class DroppedEvents {
  readonly #framing: Framing;
  #count = 0;
  /** One of them may have been a piece of the answer. */
  #hasLost = false;

  constructor(framing: Framing) {
    this.#framing = framing;
  }

  add(event: Buffer): void {
    this.#count++;
    this.#hasLost ||= this.#framing.mayBeContent(event);
  }

  /** The rest would be an answer with a hole, or never end. */
  get breakStream(): boolean {
    return this.#hasLost || this.#count >= maxDroppedEvents;
  }

  get problem(): TransportError {
    const problem = this.#hasLost ? 'an event that is no valid JSON' : `${maxDroppedEvents} events that are no JSON`;
    return new TransportError('malformed', 'body', problem);
  }
}

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
