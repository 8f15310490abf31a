import type { Socket } from 'node:net';
import querystring from 'node:querystring';
import { TransportError } from './transport-error.ts';

const maxHeadBytes = 16 * 1024;
const headEnd = '\r\n\r\n';

/**
 * Opens a tunnel to `authority` (`host:port`) through the proxy at the other end of `socket`. If the proxy refuses, closes
 * the socket and rejects.
 */
export async function openTunnel(socket: Socket, authority: string, proxy: URL): Promise<void> {
  const authorization = proxyAuthorization(proxy);
  const lines = [`CONNECT ${authority} HTTP/1.1`, `host: ${authority}`];
  if (authorization) lines.push(`proxy-authorization: ${authorization}`);
  socket.write(lines.join('\r\n') + headEnd);
  try {
    const head = await readHead(socket);
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
    if (!status?.startsWith('2')) throw new TransportError('proxy', 'connect', refusal(status));
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The `proxy-authorization` header for a proxy's URL; null if it contains no credentials. A stray `%` is kept. */
export function proxyAuthorization(proxy: URL): string | null {
  if (!proxy.username) return null;
  const pair = `${querystring.unescape(proxy.username)}:${querystring.unescape(proxy.password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

function refusal(status: string | undefined): string {
  if (status === undefined) return 'it did not answer like an HTTP proxy';
  if (status === '407') return 'it asks for a name and password (407)';
  return `it answered ${status} when asked for a connection`;
}

function readHead(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const settle = (result: string | Error) => {
      socket.pause();
      socket.off('data', read).off('error', settle).off('close', closed);
      if (result instanceof Error) reject(result);
      else resolve(result);
    };
    const read = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf(headEnd);
      // The peer sends nothing before this side does.
      if (end !== -1) settle(head.toString('latin1', 0, end));
      else if (head.length > maxHeadBytes) settle(new Error('its answer is too long'));
    };
    const closed = () => settle(new Error('it closed the connection'));
    socket.on('data', read).on('error', settle).on('close', closed);
  });
}
