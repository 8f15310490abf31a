import type { StreamWatch } from '../../apis/core/stream-format.ts';
import type { StreamText } from '../../apis/core/stream-text.ts';
import { GatewayError } from '../../contract/errors.ts';
import { endlessFailure } from '../../routing/classify-failure.ts';
import { TransportError } from '../../transport/transport-error.ts';
import { damagedBy, type Step } from './response-reader.ts';

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
