import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { WebSocket, WebSocketServer } from 'ws';
import { eventually } from './eventually.ts';
import { type TestGateway, testKey } from './gateway.ts';

/** A client of a session, with all messages that it received. */
export interface RealtimeClient {
  socket: WebSocket;
  messages: { bytes: Buffer; isBinary: boolean }[];
  /** null while the connection is open. */
  closed: { code: number; reason: string } | null;
  /** The message with this index, parsed as JSON, as soon as it has arrived. */
  event(index?: number): Promise<Record<string, unknown>>;
  ended(): Promise<{ code: number; reason: string }>;
}

/** The answer to a client whose handshake is refused. */
export interface RefusedHandshake {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: { error: { message: string; type: string; code: string | null; param: string | null } };
}

export interface ConnectOptions {
  /** Below the origin. */
  path?: string;
  protocols?: string[];
  headers?: Record<string, string>;
}

const ownKey = { authorization: `Bearer ${testKey}` };

/** Connects to a gateway; rejects if the gateway refuses. */
export async function connectRealtime(gateway: TestGateway, options: ConnectOptions = {}): Promise<RealtimeClient> {
  const socket = socketTo(gateway, options);
  const messages: RealtimeClient['messages'] = [];
  const client: RealtimeClient = {
    socket,
    messages,
    closed: null,
    event: (index = 0) =>
      eventually(() => {
        const message = messages[index];
        return message ? (JSON.parse(message.bytes.toString()) as Record<string, unknown>) : null;
      }),
    ended: () => eventually(() => client.closed),
  };
  socket.on('message', (bytes, isBinary) => {
    if (Buffer.isBuffer(bytes)) messages.push({ bytes, isBinary });
  });
  socket.on('close', (code, reason) => {
    client.closed = { code, reason: reason.toString() };
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  socket.on('error', () => {});
  return client;
}

/** Resolves with the answer to a handshake that must be refused. */
export function refusedHandshake(gateway: TestGateway, options: ConnectOptions = {}): Promise<RefusedHandshake> {
  const socket = socketTo(gateway, options);
  return new Promise((resolve, reject) => {
    socket.once('open', () => reject(new Error('The handshake succeeded.')));
    socket.on('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as RefusedHandshake['body'];
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
  });
}

function socketTo(gateway: TestGateway, options: ConnectOptions): WebSocket {
  const { path = '/v1/realtime?model=gpt-realtime', protocols = [], headers = ownKey } = options;
  return new WebSocket(gateway.origin.replace('http', 'ws') + path, protocols, { headers });
}

/** The official SDK's client. It insists on `wss:`, so it is given a plain connection. */
export function sdkClient(gateway: TestGateway, model: string): OpenAIRealtimeWS {
  const port = Number(new URL(gateway.origin).port);
  const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: testKey });
  return new OpenAIRealtimeWS({ model, options: { createConnection: () => net.connect(port, '127.0.0.1') } }, client);
}

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
