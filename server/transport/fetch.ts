/** Small calls through the transport. */
import type { OutgoingRequest, ResponseHeaders, Transport, UpstreamCall } from './transport.ts';
import { TransportError } from './transport-error.ts';

interface FetchOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string | null;
  signal?: AbortSignal | null;
}

/**
 * Does not follow redirects, which would disclose secrets, and requests no compression. The call and the body reject
 * with a TransportError.
 */
export type Fetch = (address: string, options?: FetchOptions) => Promise<Response>;

const timeouts = { connectMs: 10_000, firstByteMs: 30_000, idleMs: 300_000 };
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * `fetch` on top of the transport, so that small calls to other services use the same proxies and certificate
 * authorities as those to providers.
 */
export function createFetch(transport: Pick<Transport, 'send'>): Fetch {
  return async (address, { method = 'GET', headers = {}, body = null, signal } = {}) => {
    const { origin, pathname, search } = new URL(address);
    signal?.throwIfAborted();
    const request = { origin, method, path: pathname + search, headers, timeouts, proxy: 'system' };
    return new Promise((resolve, reject) => {
      const reader = new ResponseReader(resolve, reject);
      const call = transport.send({ ...request, body: body === null ? null : Buffer.from(body) }, reader);
      reader.call = call;
      signal?.addEventListener('abort', () => call.abort(), { once: true });
    });
  };
}

class ResponseReader {
  call: UpstreamCall | undefined;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (error: unknown) => void;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(resolve: (response: Response) => void, reject: (error: unknown) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onHeaders(status: number, headers: ResponseHeaders): void {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#body = controller;
      },
      pull: () => this.call?.resume(),
      cancel: () => this.call?.abort(),
    });
    this.#resolve(new Response(withoutBody.has(status) ? null : body, { status, headers: headersOf(headers) }));
  }

  onData(chunk: Buffer): void {
    this.#body?.enqueue(new Uint8Array(chunk));
    if ((this.#body?.desiredSize ?? 1) <= 0) this.call?.pause();
  }

  onEnd(): void {
    this.#body?.close();
  }

  onError(error: Error): void {
    if (this.#body) this.#body.error(error);
    else this.#reject(error);
  }
}

function headersOf(responseHeaders: ResponseHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(responseHeaders)) {
    for (const each of [value ?? []].flat()) headers.append(name, each);
  }
  return headers;
}

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
