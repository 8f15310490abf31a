import { GatewayError } from '../../contract/errors.ts';
import { TransportError } from '../../transport/transport-error.ts';

/** What a client is told of a reply that breaks after its beginning. */
export function brokenBy(error: TransportError): GatewayError {
  return error.fault === 'timeout'
    ? new GatewayError('upstream_timeout', `The provider fell silent in the middle of its reply (${error.message}).`, {
        cause: error,
      })
    : new GatewayError(
        'upstream_stream_broken',
        `The provider broke off in the middle of its reply (${error.message}).`,
        { cause: error },
      );
}

/** Of a stream: after so many that no client could read it is no stream any more. */
export const mostDroppedEvents = 1_000;

export function unreadableEvents(): TransportError {
  return new TransportError('malformed', 'body', `${mostDroppedEvents} events that are no JSON`);
}

/**
 * The longest event that a stream may bring. A picture of 3840 × 2160 is one of up to 44 MiB (8.3 million pixels of four
 * bytes, packed to nothing less, in base64), so that no smaller bound would do (openai-node#2433 took one of 8 MiB back).
 */
export const maxStreamedEventBytes = 64 * 1024 * 1024;

export function endlessEvent(): TransportError {
  return new TransportError('malformed', 'body', 'an event without end');
}

export function endedEarly(): GatewayError {
  return new GatewayError(
    'upstream_stream_broken',
    'The provider ended the stream before it was complete. What came so far is valid; ask again for the whole.',
  );
}
