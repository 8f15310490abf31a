/** Performs the WebSocket handshake with an upstream over an established connection. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { AwakeTimer } from '../../ground/awake-clock.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import { TransportError, toTransportError } from '../../transport/transport-error.ts';

/**
 * The longest message in either direction. OpenAI accepts 15 MiB of audio in one event, and base64 adds a third; a message
 * is buffered as a whole before it is forwarded.
 */
const maxMessageBytes = 32 * 1024 * 1024;

/** Options of both sockets. Compression hardly shrinks audio, but costs time and memory. */
const socketOptions = { perMessageDeflate: false, maxPayload: maxMessageBytes } as const;

interface Handshake {
  /** `https://api.openai.com` */
  origin: string;
  /** Includes the query. */
  path: string;
  headers: Record<string, string>;
  /** Time limit until the response begins, in milliseconds. */
  answerMs: number;
}

/** The upstream's response to the handshake. */
export type HandshakeAnswer =
  /** The socket is paused, so that no message is lost before a listener is attached. */
  | { kind: 'open'; socket: WebSocket; headers: ResponseHeaders }
  | { kind: 'refused'; status: number; headers: ResponseHeaders; body: Buffer };

/** `closeTimeout`: an upstream has two seconds to answer a close frame. */
const upstreamOptions = { ...socketOptions, followRedirects: false, closeTimeout: 2_000 };
/** A longer refusal is truncated to this length. */
const maxBodyBytes = 1024 * 1024;

/** Rejects with a TransportError on failure. Closes the connection unless the handshake succeeds. */
export async function openUpstream(connection: Socket, handshake: Handshake): Promise<HandshakeAnswer> {
  const { origin, path, headers, answerMs } = handshake;
  // `ws` refuses an address with a fragment; a client may send one all the same.
  const address = origin.replace('http', 'ws') + path.replaceAll('#', '%23');
  let timer: AwakeTimer | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    const expire = () => reject(new TransportError('timeout', 'headers', `no answer within ${answerMs} ms`));
    timer = new AwakeTimer(expire, answerMs);
  });
  try {
    const socket = new WebSocket(address, [], { ...upstreamOptions, headers, createConnection: () => connection });
    return await Promise.race([answerOf(socket), limit]);
  } catch (error) {
    connection.destroy();
    throw toTransportError(error, 'headers');
  } finally {
    timer?.clear();
  }
}

function answerOf(socket: WebSocket): Promise<HandshakeAnswer> {
  return new Promise((resolve, reject) => {
    let headers: ResponseHeaders = {};
    // `ws` also reports a terminated handshake as an error.
    socket.on('error', reject);
    socket.once('upgrade', (response) => {
      headers = response.headers;
    });
    socket.once('open', () => {
      socket.pause();
      socket.off('error', reject);
      resolve({ kind: 'open', socket, headers });
    });
    socket.once('unexpected-response', (_request, response) => {
      readRefusal(response).then(
        (answer) => {
          resolve(answer);
          socket.terminate();
        },
        (error) => {
          reject(error);
          socket.terminate();
        },
      );
    });
  });
}

async function readRefusal(response: IncomingMessage): Promise<HandshakeAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBodyBytes) break;
  }
  return { kind: 'refused', status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}

interface Acceptance {
  /** The only subprotocol to confirm, and only if the client offers it; other subprotocols may contain a key. */
  protocol: string;
  /** Additional headers of the 101 response. */
  headers: Readonly<Record<string, string>>;
}

/** Answers a valid client handshake with 101. Null if the client is gone. `early`: bytes received after the handshake. */
export function acceptClient(
  request: IncomingMessage,
  socket: Duplex,
  early: Buffer,
  { protocol, headers }: Acceptance,
): WebSocket | null {
  const server = new WebSocketServer({
    ...socketOptions,
    noServer: true,
    clientTracking: false,
    handleProtocols: (offered) => (offered.has(protocol) ? protocol : false),
  });
  server.on('headers', (lines) => {
    for (const name in headers) lines.push(`${name}: ${headers[name]}`);
  });
  const accepted: WebSocket[] = [];
  server.handleUpgrade(request, socket, early, (client) => accepted.push(client));
  return accepted[0] ?? null;
}
