/**
 * Carries a request of the page to the engine, and the reply back as it comes. By Node's own HTTP client, since `fetch`
 * gives up what is silent for five minutes, and how long is too long is the engine's to say.
 */
import { type IncomingMessage, request as send } from 'node:http';
import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** None belongs to the exchange with the engine: its guard judges a browser's origin, and this is none. */
const droppedRequestHeaders = ['origin', 'referer', 'host', 'accept-encoding'];
/** Of this connection, or of a body that is unpacked here. */
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
  const wanted = [...headers].filter(([name]) => !droppedRequestHeaders.includes(name));
  return new Promise((resolve, reject) => {
    // A connection of its own: one that was kept could be closed by the engine at the moment of its use.
    const sent = send(url, { method, headers: Object.fromEntries(wanted), signal, agent: false });
    sent.once('response', resolve).on('error', reject);
    if (!body) sent.end();
    // A failure here also fails the request, which reports it.
    else pipeline(Readable.fromWeb(body as import('node:stream/web').ReadableStream), sent, () => {});
  });
}

/**
 * Chromium does not decompress responses of a custom scheme,
 * and a server may compress although it was asked for `identity` (RFC 9110, 12.5.3).
 */
function unpacked(reply: IncomingMessage): Readable {
  const opener = openers[reply.headers['content-encoding'] ?? ''];
  // What fails here breaks off the stream that the page reads.
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
