import { readResponse } from '../transport/read-response.ts';
import type { Transport } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import { modelListRequest, type Upstream } from './upstream.ts';

/** An invalid request body. A service that has the path refuses it, so nothing is generated or billed. */
const noRequest = Buffer.from('[]');

/** Whether the service answers `POST /responses` with 404 or 405, as Ollama before 0.13.3 does. */
export async function lacksResponses(upstream: Upstream, transport: Transport): Promise<boolean> {
  const list = modelListRequest(upstream);
  const headers = {
    ...list.headers,
    'content-type': 'application/json',
    'content-length': String(noRequest.length),
  };
  const path = upstream.dialect.address(upstream.endpoint, '/responses', '', null);
  try {
    const { status } = await readResponse(transport, { ...list, method: 'POST', path, headers, body: noRequest });
    return status === 404 || status === 405;
  } catch (error) {
    if (error instanceof TransportError) return false;
    throw error;
  }
}
