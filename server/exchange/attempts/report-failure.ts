import type { StreamFormat } from '../../apis/core/stream-format.ts';
import type { StreamText } from '../../apis/core/stream-text.ts';
import { GatewayError } from '../../contract/errors.ts';
import { isResourceExhaustion } from '../../ground/resource-exhaustion.ts';
import type { FailureResponse } from '../../routing/attempt-result.ts';
import { errorBodyOf, errorCodeOf, machineOverloaded } from '../../routing/failure-response.ts';
import { messageOf } from '../../store/rules/failures.ts';
import type { ClientResponse } from '../answer/client-response.ts';

/** The state of the client's response when all attempts have failed. */
interface FailedExchange {
  client: ClientResponse;
  /** Stream format of the client's API; null if its route does not stream. */
  stream: StreamFormat | null;
  /** The client has received the beginning of an answer. */
  isBroken: boolean;
  /** Text received by the client; null if no other target could have continued the answer. */
  text: StreamText | null;
  attempts: number;
}

/**
 * Reports the failure to the client. If a stream has begun, even with comments only, the error is sent as an event.
 * Throws the GatewayError if nothing was sent and Sluice has to state the reason.
 */
export function reportFailure(
  failureResponse: FailureResponse,
  { client, stream, isBroken, text, attempts }: FailedExchange,
): void {
  const upstreamEvent = isBroken && failureResponse.kind === 'answer' ? failureResponse.answer.event : undefined;
  if (upstreamEvent) client.end('error', errorCodeOf(failureResponse), upstreamEvent);
  else if (isBroken && failureResponse.kind === 'error') {
    client.abort(failureResponse.error, text?.errorEvent(failureResponse.error.toBody().error) ?? null);
  } else if (client.hasBegun && stream) {
    const error = errorBodyOf(failureResponse);
    const event = (isBroken ? text?.errorEvent(error) : undefined) ?? stream.watch(1).errorEvent(error);
    client.end('error', errorCodeOf(failureResponse), Buffer.from(event));
  } else if (failureResponse.kind === 'answer') client.relay(failureResponse.answer, attempts);
  else {
    client.showAttempts(attempts);
    throw failureResponse.error;
  }
}

/**
 * Anything but a GatewayError and a shortage of this machine is an internal error, whose message goes to the log only.
 */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (isResourceExhaustion(thrown)) return machineOverloaded(messageOf(thrown), thrown);
  return new GatewayError(
    'internal',
    'Sluice failed to handle this request. Its log says why; nothing was charged by Sluice.',
    { cause: thrown },
  );
}
