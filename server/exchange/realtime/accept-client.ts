import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { socketOptions } from './socket-options.ts';

interface Acceptance {
  /** The only subprotocol that is confirmed, where the client offers it; others may hold a key. */
  protocol: string;
  /** Further headers of the answer. */
  headers: Readonly<Record<string, string>>;
}

/** Answers a client's valid handshake with 101. Null if the client is gone. `early`: what it has sent since. */
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
