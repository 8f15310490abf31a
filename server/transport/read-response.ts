import type { OutgoingRequest, ResponseHeaders, Transport } from './transport.ts';
import { TransportError } from './transport-error.ts';

export interface CollectedResponse {
  status: number;
  headers: ResponseHeaders;
  body: Buffer;
}

/** The response is longer than it may be. */
export class ResponseTooLong extends TransportError {
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super('malformed', 'body', `the response is longer than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

/**
 * Sends a request and collects its response, for small calls outside the request path: model lists, provider checks.
 * Rejects with a TransportError, with a ResponseTooLong if the response exceeds `maxBytes`.
 */
export function readResponse(
  transport: Transport,
  request: OutgoingRequest,
  maxBytes = 4 * 1024 * 1024,
): Promise<CollectedResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    let headers: ResponseHeaders = {};
    const exchange = transport.send(request, {
      onHeaders(responseStatus, responseHeaders) {
        status = responseStatus;
        headers = responseHeaders;
      },
      onData(chunk) {
        size += chunk.length;
        chunks.push(chunk);
        if (size <= maxBytes) return;
        reject(new ResponseTooLong(maxBytes));
        exchange.abort();
      },
      onEnd: () => resolve({ status, headers, body: Buffer.concat(chunks) }),
      onError: reject,
    });
  });
}
