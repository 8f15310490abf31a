import { GatewayError } from '../contract/errors.ts';
import type { Signing } from '../providers/dialect.ts';
import type { OutgoingRequest, Transport } from '../transport/transport.ts';

/** Adds the headers that prove who sends the request. Returns the reason if that cannot be done. */
export async function signed(
  request: OutgoingRequest,
  signing: Signing,
  transport: Transport,
): Promise<GatewayError | null> {
  try {
    Object.assign(request.headers, await signing.headersFor(request, transport));
    return null;
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
}
