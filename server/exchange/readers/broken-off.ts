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

export function endedEarly(): GatewayError {
  return new GatewayError(
    'upstream_stream_broken',
    'The provider ended the stream before it was complete. What came so far is valid; ask again for the whole.',
  );
}
