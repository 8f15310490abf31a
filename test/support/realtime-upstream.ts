import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { eventually } from './eventually.ts';

/** A message as received. */
export interface SeenMessage {
  bytes: Buffer;
  isBinary: boolean;
}

/** One session at a scripted upstream. */
export interface SeenSession {
  url: string;
  headers: IncomingHttpHeaders;
  socket: WebSocket;
  messages: SeenMessage[];
  /** null while the session is open. */
  closed: { code: number; reason: string } | null;
}

/** A refusal of the handshake. */
export interface Refused {
  status: number;
  body: string;
  headers?: Record<string, string>;
}

/** An upstream on loopback that accepts WebSockets and records handshakes and messages. */
export interface RealtimeUpstream {
  /** Includes `/v1`. */
  readonly baseUrl: string;
  readonly origin: string;
  readonly server: http.Server;
  readonly sessions: SeenSession[];
  /** All handshakes, including refused ones. */
  readonly handshakes: IncomingMessage[];
  /** null to accept every handshake. */
  refuse(refusal: Refused | null): void;
  /** Called for each new session. */
  onSession(play: (session: SeenSession) => void): void;
  /** The session with this index, as soon as it exists. */
  session(index?: number): Promise<SeenSession>;
  stop(): Promise<void>;
}

export async function startRealtimeUpstream(): Promise<RealtimeUpstream> {
  const sessions: SeenSession[] = [];
  const handshakes: IncomingMessage[] = [];
  let refusal: Refused | null = null;
  let play: (session: SeenSession) => void = () => {};
  const server = http.createServer((_request, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true });
  server.on('upgrade', (request, socket, head) => {
    handshakes.push(request);
    socket.on('error', () => {});
    if (refusal) {
      const { status, body, headers = {} } = refusal;
      const lines = Object.entries({ 'content-type': 'application/json', ...headers }).map((each) => each.join(': '));
      const length = `content-length: ${Buffer.byteLength(body)}`;
      socket.end([`HTTP/1.1 ${status} Refused`, length, ...lines, '', body].join('\r\n'));
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const { url = '', headers } = request;
      const session: SeenSession = { url, headers, socket: opened, messages: [], closed: null };
      opened.on('message', (bytes, isBinary) => {
        if (Buffer.isBuffer(bytes)) session.messages.push({ bytes, isBinary });
      });
      opened.on('close', (code, reason) => {
        session.closed = { code, reason: reason.toString() };
      });
      opened.on('error', () => {});
      sessions.push(session);
      play(session);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    baseUrl: `${origin}/v1`,
    server,
    sessions,
    handshakes,
    refuse(next) {
      refusal = next;
    },
    onSession(next) {
      play = next;
    },
    session: (index = 0) => eventually(() => sessions[index] ?? null),
    async stop() {
      for (const { socket } of sessions) socket.terminate();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
