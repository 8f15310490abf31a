import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { socketOptions } from './socket-options.ts';

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
