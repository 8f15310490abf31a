import { type CollectedResponse, readResponse } from '../transport/read-response.ts';
import type { OutgoingRequest, Transport } from '../transport/transport.ts';
import type { Upstream } from './upstream.ts';

/**
 * Sends a request with the first credential, which may have to sign it, and reads the response.
 * @throws TransportError
 * @throws GatewayError `provider_credential_refused` if there is no token for the credential
 */
export async function readSigned(
  { credentials }: Upstream,
  request: OutgoingRequest,
  transport: Transport,
  maxBytes?: number,
): Promise<CollectedResponse> {
  const signing = credentials[0]?.signing;
  if (!signing) return readResponse(transport, request, maxBytes);
  const send = async () => {
    const headers = { ...request.headers, ...(await signing.headersFor(request, transport)) };
    return { headers, response: await readResponse(transport, { ...request, headers }, maxBytes) };
  };
  const { headers, response } = await send();
  const isRefused = response.status === 401 || response.status === 403;
  return isRefused && signing.correctClock?.(headers, response.headers) ? (await send()).response : response;
}
