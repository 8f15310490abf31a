/**
 * Forwards a request of the page to the engine and streams the response back. Uses `node:http`, because `fetch` (undici)
 * aborts a response after five minutes of silence; timeouts are up to the engine.
 */
import { type IncomingMessage, request as send } from 'node:http';
import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** Not forwarded: the engine checks the origin of browser requests, and this request does not come from a browser. */
const droppedRequestHeaders = ['origin', 'referer', 'host', 'accept-encoding'];
/** Not passed on, because they describe this connection, or a body that is decompressed here. */
const droppedReplyHeaders = ['content-encoding', 'content-length', 'transfer-encoding', 'connection', 'keep-alive'];
const withoutBody = [204, 205, 304];

export async function forwardToEngine(request: Request, url: string): Promise<Response> {
  const reply = await exchange(request, url);
  const status = reply.statusCode ?? 502;
  const body = unpacked(reply);
  return new Response(withoutBody.includes(status) ? null : (Readable.toWeb(body) as ReadableStream), {
    status,
    headers: headersOf(reply),
  });
}

function exchange({ method, body, headers, signal }: Request, url: string): Promise<IncomingMessage> {
  const forwarded = [...headers].filter(([name]) => !droppedRequestHeaders.includes(name));
  return new Promise((resolve, reject) => {
    // A new connection: the engine could close a kept-alive one just when it is reused.
    const outgoing = send(url, { method, headers: Object.fromEntries(forwarded), signal, agent: false });
    outgoing.once('response', resolve).on('error', reject);
    if (!body) outgoing.end();
    // An error here also fails the request, which reports it.
    else pipeline(Readable.fromWeb(body as import('node:stream/web').ReadableStream), outgoing, () => {});
  });
}

/**
 * Chromium does not decompress responses of a custom scheme, and a server may compress even if the request accepts only
 * `identity` (RFC 9110, 12.5.3).
 */
function unpacked(reply: IncomingMessage): Readable {
  const opener = openers[reply.headers['content-encoding'] ?? ''];
  // An error here aborts the stream that the page is reading.
  return opener ? pipeline(reply, opener(), () => {}) : reply;
}

const openers: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    if (!droppedReplyHeaders.includes(name)) for (const value of values) headers.append(name, value);
  }
  return headers;
}
