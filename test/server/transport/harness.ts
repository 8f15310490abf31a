import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import net, { type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, afterEach } from 'vitest';
import type { Authorities } from '../../../server/transport/authorities.ts';
import { createTransport } from '../../../server/transport/create-transport.ts';
import type { OutgoingRequest, ResponseHeaders, Transport, UpstreamCall } from '../../../server/transport/transport.ts';
import type { TransportError } from '../../../server/transport/transport-error.ts';

export interface ListeningSocketServer {
  port: number;
  /** Open connections. */
  sockets: ReadonlySet<Socket>;
  /** Resolves when the next connection has arrived. */
  nextSocket(): Promise<Socket>;
  stop(): Promise<void>;
}

/** A raw server, for upstreams that violate HTTP. Accepts any server that emits `connection`. */
export async function listen(server: Server): Promise<ListeningSocketServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    sockets,
    nextSocket: () => new Promise((resolve) => server.once('connection', resolve)),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** A server that passes each connection to `onRequest` once the first bytes of a request have arrived. */
export function listenRaw(onRequest: (socket: Socket, text: string) => void): Promise<ListeningSocketServer> {
  return listen(
    net.createServer((socket) => {
      socket.once('data', (bytes) => onRequest(socket, bytes.toString('latin1')));
    }),
  );
}

type Origin = ListeningSocketServer & { origin: string };

/** A transport, and servers that are stopped after each test. Registers the hooks. */
export function openTransportInSuite() {
  const transport = createTransport();
  const servers: ListeningSocketServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });
  afterAll(() => transport.close());
  const kept = async (listening: Promise<ListeningSocketServer>): Promise<Origin> => {
    const server = await listening;
    servers.push(server);
    return { ...server, origin: `http://127.0.0.1:${server.port}` };
  };
  return {
    transport,
    servers,
    raw: (...parameters: Parameters<typeof listenRaw>) => kept(listenRaw(...parameters)),
    serve: (answer: (request: IncomingMessage, response: ServerResponse) => void) =>
      kept(listen(http.createServer(answer))),
  };
}

/** Node's own list and these certificates, in PEM. */
export function trusting(...extra: string[]): Authorities {
  return {
    secureContext: async () => tls.createSecureContext({ ca: [...tls.getCACertificates('default'), ...extra] }),
    forget() {},
    fingerprint: () => '',
    view: async () => ({ files: [], system: null, problem: null }),
  };
}

export function requestTo(origin: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest {
  const { timeouts, ...rest } = more;
  return {
    origin,
    method: 'GET',
    path: '/v1/models',
    headers: { authorization: 'Bearer planted-secret' },
    body: null,
    proxy: 'direct',
    timeouts: { connectMs: 30_000, firstByteMs: 30_000, idleMs: 30_000, ...timeouts },
    ...rest,
  };
}

/** The outcome of one exchange. */
interface Outcome {
  status: number | null;
  headers: ResponseHeaders;
  body: string;
  /** The number of pieces in which the body arrived. */
  pieces: number;
  error: TransportError | null;
}

interface Observed {
  exchange: UpstreamCall;
  outcome: Promise<Outcome>;
  /** Resolves with the first byte of the body. */
  firstData: Promise<void>;
}

export function observe(transport: Transport, request: OutgoingRequest): Observed {
  let tellFirst = () => {};
  const firstData = new Promise<void>((resolve) => {
    tellFirst = resolve;
  });
  const chunks: Buffer[] = [];
  const seen: Pick<Outcome, 'status' | 'headers'> = { status: null, headers: {} };
  let exchange: UpstreamCall | undefined;
  const outcome = new Promise<Outcome>((resolve, reject) => {
    let ended = false;
    const end = (error: TransportError | null) => {
      if (ended) reject(new Error('told twice that it has ended'));
      ended = true;
      resolve({ ...seen, body: Buffer.concat(chunks).toString(), pieces: chunks.length, error });
    };
    exchange = transport.send(request, {
      onHeaders(status, headers) {
        Object.assign(seen, { status, headers });
      },
      onData(chunk) {
        chunks.push(chunk);
        tellFirst();
      },
      onEnd: () => end(null),
      onError: end,
    });
  });
  if (!exchange) throw new Error('unreachable');
  return { exchange, outcome, firstData };
}

export async function failureOf(transport: Transport, request: OutgoingRequest): Promise<TransportError> {
  const { error } = await observe(transport, request).outcome;
  if (!error) throw new Error('it did not fail');
  return error;
}

export interface TestCertificate {
  key: string;
  cert: string;
}

/** A self-signed certificate for 127.0.0.1 and localhost, created by openssl. */
export function selfSignedCertificate(commonName: string, altNames = 'IP:127.0.0.1,DNS:localhost'): TestCertificate {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-certificate-'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
        .concat(['-subj', `/CN=${commonName}`, '-addext', `subjectAltName=${altNames}`])
        .concat(['-keyout', key, '-out', cert]),
      { stdio: 'ignore' },
    );
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
