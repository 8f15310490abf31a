import { GatewayError } from '../../contract/errors.ts';
import type { TransportError } from '../../transport/transport-error.ts';

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

export function endedEarly(): GatewayError {
  return new GatewayError(
    'upstream_stream_broken',
    'The provider ended the stream before it was complete. What came so far is valid; ask again for the whole.',
  );
}
