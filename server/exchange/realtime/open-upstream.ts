/** The handshake of a WebSocket with an upstream, over a connection that stands already. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { AwakeTimer } from '../../awake-clock.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import { TransportError, toTransportError } from '../../transport/transport-error.ts';
import { socketOptions } from './socket-options.ts';

interface Handshake {
  /** `https://api.openai.com` */
  origin: string;
  /** Includes the query. */
  path: string;
  headers: Record<string, string>;
  /** The time until an answer has begun. */
  answerMs: number;
}

/** What the upstream answered. */
export type HandshakeAnswer =
  /** The socket is paused, so that no message is lost before somebody listens. */
  | { kind: 'open'; socket: WebSocket; headers: ResponseHeaders }
  | { kind: 'refused'; status: number; headers: ResponseHeaders; body: Buffer };

/** An upstream gets two seconds to answer a farewell. */
const upstreamOptions = { ...socketOptions, followRedirects: false, closeTimeout: 2_000 };
/** Of a longer refusal, only this much is read. */
const maxBodyBytes = 1024 * 1024;

/** Rejects with a TransportError. Closes the connection unless the answer is an open socket. */
export async function openUpstream(connection: Socket, handshake: Handshake): Promise<HandshakeAnswer> {
  const { origin, path, headers, answerMs } = handshake;
  const socket = new WebSocket(origin.replace('http', 'ws') + path, [], {
    ...upstreamOptions,
    headers,
    createConnection: () => connection,
  });
  let timer: AwakeTimer | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    const late = () => reject(new TransportError('timeout', 'headers', `no answer within ${answerMs} ms`));
    timer = new AwakeTimer(late, answerMs);
  });
  try {
    return await Promise.race([answerOf(socket), limit]);
  } catch (error) {
    socket.terminate();
    throw toTransportError(error, 'headers');
  } finally {
    timer?.clear();
  }
}

function answerOf(socket: WebSocket): Promise<HandshakeAnswer> {
  return new Promise((resolve, reject) => {
    let headers: ResponseHeaders = {};
    // A socket that is given up reports that as an error, too.
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
