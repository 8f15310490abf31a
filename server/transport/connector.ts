/**
 * Opens the connections of one pool: to an upstream, to a proxy, or through a proxy's tunnel, under a single timeout.
 * undici's own connectors report neither which hop failed nor the issuer of an untrusted certificate, and apply a
 * separate timeout to the proxy.
 */

import type { Socket } from 'node:net';
import net from 'node:net';
import querystring from 'node:querystring';
import type { SecureContext, TLSSocket } from 'node:tls';
import tls from 'node:tls';
import type { buildConnector } from 'undici';
import { batchWrites } from '../ground/fast-paths.ts';
import { isResourceExhaustion } from '../ground/resource-exhaustion.ts';
import { AwakeTimer, awakeMs } from '../ground/timers.ts';
import { type ShownCertificate, TransportError, toTransportError } from './transport-error.ts';

interface ConnectorOptions {
  /** Covers everything until a request can be sent. */
  connectMs: number;
  /** Called for encrypted connections. Null: Node's built-in authorities. */
  secureContext(): Promise<SecureContext | null>;
  /**
   * Proxies to connect to (`http` upstreams) or through (`https` upstreams); null: a direct connection. If one cannot be
   * reached, the next is tried.
   */
  proxies: readonly (URL | null)[];
  /** The fingerprint of the upstream's only acceptable certificate, whoever issued it; null: as the authorities say. */
  certificate: string | null;
  /** A plain `http` upstream is reached through a proxy tunnel as well. */
  alwaysTunnels?: true;
  /** Called for each new connection. */
  opened(socket: Socket): void;
}

export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const sessions = new Map<string, Buffer>();
  return (target, callback) => {
    connectInTurn(options, sessions, target).then(
      (socket) => callback(null, socket),
      (error) => callback(error, null),
    );
  };
}

/** Opens a dedicated connection, which the caller owns. Rejects with a TransportError. */
export async function connect(options: ConnectorOptions, origin: string): Promise<Socket> {
  const { hostname, port, protocol } = new URL(origin);
  const socket = await connectInTurn(options, new Map(), { hostname, port, protocol });
  batchWrites(socket);
  return socket;
}

/** Rejects with a TransportError. */
async function connectInTurn(
  options: ConnectorOptions,
  sessions: Map<string, Buffer>,
  target: buildConnector.Options,
): Promise<Socket> {
  const { proxies, connectMs } = options;
  let leftMs = connectMs;
  let failure = new TransportError('proxy', 'connect', 'no usable proxy is named');
  for (const [index, proxy] of proxies.entries()) {
    const limitMs = Math.ceil(leftMs / (proxies.length - index));
    const beganMs = awakeMs();
    const attempt = new ConnectAttempt({ ...options, connectMs: limitMs }, sessions, proxy);
    const timer = new AwakeTimer(() => attempt.expire(), limitMs);
    try {
      return await attempt.open(target);
    } catch (error) {
      failure = attempt.explain(error);
      if (failure.fault !== 'proxy') break;
    } finally {
      timer.clear();
    }
    leftMs = Math.max(1, leftMs - (awakeMs() - beganMs));
  }
  throw failure;
}

/** One connection while it is being established. */
class ConnectAttempt {
  readonly #options: ConnectorOptions;
  readonly #sessions: Map<string, Buffer>;
  readonly #proxy: URL | null;
  #secureContext: SecureContext | null = null;
  #socket: Socket | undefined;
  /** Which hop is responsible for a failure now: the proxy, until it has connected to the upstream. */
  #hop: 'upstream' | 'proxy' = 'upstream';
  /** The host whose address is being looked up. */
  #soughtHost: string | null = null;
  #expired = false;

  constructor(options: ConnectorOptions, sessions: Map<string, Buffer>, proxy: URL | null) {
    this.#options = options;
    this.#sessions = sessions;
    this.#proxy = proxy;
  }

  async open(target: buildConnector.Options): Promise<Socket> {
    const proxy = this.#proxy;
    if (target.protocol === 'https:' || proxy?.protocol === 'https:') await this.#readAuthorities();
    if (!proxy) return this.#connect(target.hostname, target.port, target.protocol);
    this.#hop = 'proxy';
    const socket = await this.#connect(proxy.hostname, proxy.port, proxy.protocol);
    const isPlain = target.protocol === 'http:';
    // Requests to a plain `http` upstream are sent to the proxy itself.
    if (isPlain && !this.#options.alwaysTunnels) return socket;
    await openTunnel(socket, `${target.hostname}:${target.port || (isPlain ? '80' : '443')}`, proxy);
    this.#hop = 'upstream';
    return isPlain ? socket : this.#encrypt(socket, target.hostname);
  }

  expire(): void {
    this.#expired = true;
    this.#socket?.destroy(new Error('too slow'));
  }

  explain(error: unknown): TransportError {
    const inTime = this.#expired ? this.#tooSlow() : toTransportError(error, 'connect');
    if (this.#hop === 'upstream' || inTime.fault === 'shortage') return inTime;
    return new TransportError('proxy', 'connect', `proxy ${this.#proxy?.host}: ${inTime.message}`, inTime);
  }

  #tooSlow(): TransportError {
    const { connectMs } = this.#options;
    return this.#soughtHost === null
      ? new TransportError('timeout', 'connect', `no connection within ${connectMs} ms`)
      : new TransportError('dns-timeout', 'connect', `no address of ${this.#soughtHost} within ${connectMs} ms`);
  }

  async #connect(hostname: string, port: string, protocol: string): Promise<Socket> {
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const isSecure = protocol === 'https:';
    const socket = net.connect({ host, port: Number(port) || (isSecure ? 443 : 80), noDelay: true });
    socket.setKeepAlive(true, keepAliveProbeMs);
    if (net.isIP(host) === 0) this.#noteLookup(socket, host);
    this.#options.opened(socket);
    await this.#opened(socket, 'connect');
    return isSecure ? this.#encrypt(socket, hostname) : socket;
  }

  #noteLookup(socket: Socket, host: string): void {
    this.#soughtHost = host;
    socket.once('lookup', () => {
      this.#soughtHost = null;
    });
  }

  /** Called before connecting, because it may take seconds, during which nothing would handle a socket's errors. */
  async #readAuthorities(): Promise<void> {
    this.#secureContext = await this.#options.secureContext();
    if (this.#expired) throw new Error('too slow');
  }

  async #encrypt(plain: Socket, hostname: string): Promise<TLSSocket> {
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const pinned = this.#hop === 'upstream' ? this.#options.certificate : null;
    // A resumed session would show no certificate.
    const session = pinned === null ? this.#sessions.get(host) : undefined;
    const socket = tls.connect({
      socket: plain,
      // Used to verify the certificate even if an IP address cannot be sent as server name.
      host,
      ...(net.isIP(host) === 0 && { servername: host }),
      ALPNProtocols: ['http/1.1'],
      ...(this.#secureContext && { secureContext: this.#secureContext }),
      ...(session && { session }),
      // It is compared below, before anything is sent.
      rejectUnauthorized: pinned === null,
    });
    // From here on, the TLS socket reports its errors.
    plain.on('error', () => {});
    // The certificate is no longer available when the error is handled.
    let shown: ShownCertificate | undefined;
    socket.prependOnceListener('secure', () => {
      shown = certificateOf(socket);
    });
    // The name is not verified again when a session is resumed; Node emits sessions only after that verification.
    socket.on('session', (ticket) => this.#sessions.set(host, ticket));
    try {
      await this.#opened(socket, 'secureConnect');
    } catch (error) {
      throw this.#expired || isResourceExhaustion(error) ? error : tlsError(error, host, shown);
    }
    if (pinned !== null && shown?.fingerprint !== pinned) {
      socket.destroy();
      throw tlsError(new Error('it shows another certificate than the one that is trusted for it'), host, shown);
    }
    return socket;
  }

  async #opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
    this.#socket = socket;
    await new Promise<void>((resolve, reject) => {
      const closed = () => reject(new Error('the connection was closed'));
      socket.once('error', reject);
      socket.once('close', closed);
      socket.once(event, () => {
        socket.off('error', reject);
        socket.off('close', closed);
        resolve();
      });
    });
  }
}

const keepAliveProbeMs = 60_000;

/** Undefined if it shows none. */
function certificateOf(socket: TLSSocket): ShownCertificate | undefined {
  const { issuer, fingerprint256 } = socket.getPeerCertificate();
  const name = issuer?.CN ?? issuer?.O ?? issuer?.OU;
  if (!fingerprint256) return undefined;
  return { issuer: (Array.isArray(name) ? name[0] : name) ?? null, fingerprint: fingerprint256 };
}

function tlsError(error: unknown, host: string, shown: ShownCertificate | undefined): TransportError {
  const issuer = shown?.issuer ? `; its certificate was issued by "${shown.issuer}"` : '';
  const told = new TransportError(
    'tls',
    'connect',
    `no secure connection to ${host}: ${reasonOf(error)}${issuer}`,
    error,
  );
  told.certificate = shown ?? null;
  return told;
}

/** Prefers OpenSSL's `reason` to its message of several lines, and removes Node's advice to set a command-line flag. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'reason' in error && typeof error.reason === 'string' && error.message.includes('\n')
    ? error.reason
    : error.message.replace(/; if the root CA is installed locally.*$/, '');
}

const maxHeadBytes = 16 * 1024;
const headEnd = '\r\n\r\n';

/**
 * Opens a tunnel to `authority` (`host:port`) through the proxy at the other end of `socket`. If the proxy refuses, closes
 * the socket and rejects.
 */
async function openTunnel(socket: Socket, authority: string, proxy: URL): Promise<void> {
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
