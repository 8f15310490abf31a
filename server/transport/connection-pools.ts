/** Pools of kept-alive connections by destination and proxy. Knows nothing of the requests that use them. */
import { isIP, type Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { boundedPattern } from '../ground/bounded-pattern.ts';
import { type BatchedWrites, batchWrites } from '../ground/fast-paths.ts';
import type { Authorities } from './authorities.ts';
import { connect, createConnector, proxyAuthorization } from './connector.ts';
import { machineAddresses } from './network-watch.ts';
import { chooseProxy, createSystemProxies, isForSystem, type ProxyChain, type ProxySettings } from './proxy-choice.ts';
import { TransportError } from './transport-error.ts';

/** The properties of a request that select its pool. */
interface Destination {
  origin: string;
  /** `system`, `direct` or a proxy's URL. */
  proxy: string;
  /** The fingerprint of the only certificate to accept. */
  certificate?: string | null;
  timeouts: { connectMs: number };
}

/** A connection pool for one kind of request, and what a plain HTTP proxy needs with each request. */
export interface PoolEntry {
  pool: Pool;
  usedAtMs: number;
  /** Prepended to the path for a proxy that expects absolute URLs. */
  pathPrefix: string;
  headers: Record<string, string>;
}

export interface ConnectionPools {
  /** Synchronous unless the operating system has to be asked for the proxy. Throws or rejects with a TransportError. */
  poolFor(to: Destination): PoolEntry | Promise<PoolEntry>;
  /**
   * Opens a connection outside the pools for a protocol other than HTTP, through a tunnel if there is a proxy. The caller owns
   * it. Rejects with a TransportError.
   */
  connect(to: Destination): Promise<Socket>;
  /** The proxies in the order in which they are tried. */
  chainOf(to: Pick<Destination, 'origin' | 'proxy'>): ProxyChain | Promise<ProxyChain>;
  /**
   * Makes the next request open a new connection with the current proxies and certificates. Running requests continue,
   * except on connections whose local address is gone: those break now rather than time out.
   */
  retireAll(): void;
  /** Aborts running requests. */
  close(): Promise<void>;
}

/** Long enough for a user to read an answer; a shorter time would cost a TLS handshake for nearly every turn. */
const idleSocketMs = 60_000;
/** Idle pools are closed when another one is opened: their provider may be gone or have a new address. */
const idlePoolMs = 600_000;

export function createConnectionPools(proxies: ProxySettings, authorities: Authorities): ConnectionPools {
  const pools = new Map<string, PoolEntry>();
  /** No longer used, but requests still run on them. */
  const retired = new Set<Pool>();
  /** The destination of the latest request: most requests have the same one, and need not compute the pool's name. */
  let latest: { to: Destination; entry: PoolEntry } | null = null;
  const sockets = new Set<Socket>();
  const system = createSystemProxies(proxies.askSystem ?? (async () => 'DIRECT'));
  const opened = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };

  const retire = (name: string, { pool }: PoolEntry) => {
    pools.delete(name);
    latest = null;
    retired.add(pool);
    void pool.close().finally(() => retired.delete(pool));
  };

  const retireIdle = (nowMs: number) => {
    for (const [name, entry] of pools) if (nowMs - entry.usedAtMs > idlePoolMs) retire(name, entry);
  };

  const chainOf = ({ origin, proxy }: Pick<Destination, 'origin' | 'proxy'>) =>
    isForSystem(proxy, origin, proxies) ? system.chainTo(origin) : chooseProxy(proxy, origin, proxies);

  const open = (to: Destination, chain: ProxyChain) => {
    const name = nameOf(to);
    retireIdle(Date.now());
    const entry = pools.get(name) ?? openPool(to, chain, { secureContext: authorities.secureContext, opened });
    pools.set(name, entry);
    entry.usedAtMs = Date.now();
    return entry;
  };

  return {
    poolFor(to) {
      const entry = latest && isSame(latest.to, to) ? latest.entry : pools.get(nameOf(to));
      if (!entry) {
        const chain = chainOf(to);
        return chain instanceof Promise ? chain.then((resolvedChain) => open(to, resolvedChain)) : open(to, chain);
      }
      if (latest?.entry !== entry) latest = { to: destinationOf(to), entry };
      entry.usedAtMs = Date.now();
      return entry;
    },
    async connect(to) {
      const { hops, unusable } = await chainOf(to);
      if (hops.length === 0) throw unusableProxy(unusable);
      const { secureContext } = authorities;
      const { certificate = null } = to;
      const { connectMs } = to.timeouts;
      return connect({ secureContext, opened, connectMs, certificate, proxies: hops, alwaysTunnels: true }, to.origin);
    },
    chainOf,
    retireAll() {
      system.forget();
      authorities.forget();
      for (const [name, entry] of pools) retire(name, entry);
      const addresses = machineAddresses();
      for (const socket of sockets) checkConnection(socket, addresses);
    },
    async close() {
      await Promise.all([...retired, ...[...pools.values()].map(({ pool }) => pool)].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}

function nameOf({ origin, proxy, certificate, timeouts }: Destination): string {
  return `${origin} ${proxy} ${certificate ?? ''} ${timeouts.connectMs}`;
}

/** Copies only these fields, so that the request itself is not kept in memory. */
function destinationOf({ origin, proxy, certificate = null, timeouts: { connectMs } }: Destination): Destination {
  return { origin, proxy, certificate, timeouts: { connectMs } };
}

function isSame(one: Destination, other: Destination): boolean {
  return (
    one.origin === other.origin &&
    one.proxy === other.proxy &&
    (one.certificate ?? null) === (other.certificate ?? null) &&
    one.timeouts.connectMs === other.timeouts.connectMs
  );
}

type Connecting = Pick<Parameters<typeof createConnector>[0], 'secureContext' | 'opened'>;

function openPool(to: Destination, { hops, unusable }: ProxyChain, connecting: Connecting): PoolEntry {
  const isPlain = to.origin.startsWith('http:');
  // Requests to a plain HTTP proxy depend on the proxy, so there is no second choice.
  const proxies = isPlain ? hops.slice(0, 1) : hops;
  if (proxies.length === 0) throw unusableProxy(unusable);
  const { certificate = null, timeouts } = to;
  const connector = createConnector({ ...connecting, connectMs: timeouts.connectMs, certificate, proxies });
  const options = {
    keepAliveTimeout: idleSocketMs,
    // Node's own 16 kB are too little for some gateways, which put policies and traces into headers.
    maxHeaderSize: maxHeadBytes,
    // HTTP/1.1 only: aborting a request must not affect any other on the same connection.
    allowH2: false,
    pipelining: 1,
  };
  const pool = new Pool(to.origin, { ...options, factory: (origin) => openClient(origin, connector, options) });
  const entry = { pool, usedAtMs: 0 };
  const proxy = proxies[0] ?? null;
  if (!proxy || !isPlain) return { ...entry, pathPrefix: '', headers: {} };
  const authorization = proxyAuthorization(proxy);
  return { ...entry, pathPrefix: to.origin, headers: authorization ? { 'proxy-authorization': authorization } : {} };
}

/** One client of a pool, whose calls know its connection. */
class WatchedClient extends Client {
  readonly #line: Line;

  constructor(origin: URL, options: Client.Options, line: Line) {
    super(origin, options);
    this.#line = line;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (watchesConnection(handler)) handler.runsOn(this.#line);
    return super.dispatch(options, handler);
  }
}

function openClient(origin: URL, connector: buildConnector.connector, options: Client.Options): Client {
  const line: Line = { connection: null };
  const connect: buildConnector.connector = (target, callback) =>
    connector(target, (...[error, socket]) => {
      if (error === null) {
        line.connection = new Connection(socket);
        callback(null, socket);
      } else callback(error, null);
    });
  return new WatchedClient(origin, { ...options, connect }, line);
}

function unusableProxy(unusable: readonly string[]): TransportError {
  return new TransportError(
    'proxy',
    'connect',
    `this system names ${unusable.join(', ')}, which Sluice cannot use: it takes HTTP proxies. Set one at the provider, or "direct"`,
  );
}

const probeMs = 1_000;

/**
 * Called after a network change. Breaks connections whose local address is gone. For all others TCP keep-alive is
 * enabled, so that the system detects a dead one within about ten seconds.
 */
function checkConnection(socket: Socket, addresses: ReadonlySet<string>): void {
  const { localAddress, remoteAddress } = socket;
  if (remoteAddress !== undefined && isOnThisMachine(remoteAddress)) return;
  const from = localAddress?.replace(/^::ffff:/, '');
  const isGone = from !== undefined && isIP(from) !== 0 && !addresses.has(from);
  if (isGone) socket.destroy(Object.assign(new Error('the network it ran over is gone'), { code: 'ECONNRESET' }));
  else socket.setKeepAlive(true, probeMs);
}

function isOnThisMachine(address: string): boolean {
  return /^(::ffff:)?127\./.test(address) || address === '::1';
}

/** The longest head of an answer. */
const maxHeadBytes = 64 * 1024;
/** The longest one of an interim answer. */
const maxInterimBytes = 8 * 1024;

/** What has one connection at a time, and a new one once that is closed. */
export interface Line {
  connection: Connection | null;
}

/** A call that has to know the connection it runs on. */
export interface ConnectionWatch {
  runsOn(line: Line): void;
}

function watchesConnection<T extends object>(call: T): call is T & ConnectionWatch {
  return 'runsOn' in call;
}

/** A connection to an upstream, with what undici does not tell of it. It carries one request at a time. */
export class Connection {
  readonly #writes: BatchedWrites;
  #requests = 0;
  /** What has come of the head of the awaited answer; null: the head is whole. */
  #head: Buffer[] | null = null;
  /** The beginning of an interim answer. */
  #held: Buffer | null = null;

  constructor(socket: Socket) {
    this.#writes = batchWrites(socket, { dropsOnError: true });
    const read = socket.read;
    socket.read = (size?: number) => {
      const bytes: Buffer | null = read.call(socket, size);
      return bytes === null || this.#head === null ? bytes : this.#ofHead(bytes, this.#head);
    };
  }

  /** A request is about to be written. */
  begin(): void {
    this.#requests++;
    this.#writes.begin();
    this.#head = [];
    this.#held = null;
  }

  /** The head of the answer is whole. */
  answered(): void {
    this.#head = null;
  }

  /** Earlier requests were sent over it. */
  get isReused(): boolean {
    return this.#requests > 1;
  }

  /** Nothing of the latest request has been sent. */
  get isUnsent(): boolean {
    return !this.#writes.hasWritten;
  }

  /** Nothing of the answer has come. */
  get isSilent(): boolean {
    return this.#head?.length === 0;
  }

  /** Why the answer cannot be read; null: nothing is wrong with what came of its head. */
  problemOfHead(): string | null {
    return this.#head === null ? null : problemOfHead(Buffer.concat(this.#head), maxHeadBytes);
  }

  /**
   * Leaves out interim answers (1xx): undici takes an unasked 100 for an error, although a client must be able to read any
   * number of them (RFC 9110, 15.2). Null if more has to come.
   */
  #ofHead(bytes: Buffer, head: Buffer[]): Buffer | null {
    if (head.length > 0) {
      head.push(bytes);
      return bytes;
    }
    const rest = withoutInterim(this.#held === null ? bytes : Buffer.concat([this.#held, bytes]));
    this.#held = rest.isHeld ? rest.bytes : null;
    if (rest.isHeld) return null;
    head.push(rest.bytes);
    return rest.bytes;
  }
}

const protocol = Buffer.from('HTTP/1.');
const headEnd = Buffer.from('\r\n\r\n');
/** Where the status begins, after `HTTP/1.1 `. */
const statusAt = 9;
const one = 0x31;
const switching = '101';

/** `isHeld`: they may be the beginning of an interim answer. */
function withoutInterim(bytes: Buffer): { bytes: Buffer; isHeld: boolean } {
  let rest = bytes;
  while (rest.length > statusAt && rest[statusAt] === one && beginsWithProtocol(rest)) {
    const end = rest.indexOf(headEnd);
    // undici refuses an unasked change of protocol.
    const isLast = rest.toString('latin1', statusAt, statusAt + switching.length) === switching;
    if (isLast || (end === -1 && rest.length > maxInterimBytes)) return { bytes: rest, isHeld: false };
    if (end === -1) return { bytes: rest, isHeld: true };
    rest = rest.subarray(end + headEnd.length);
  }
  return { bytes: rest, isHeld: rest.length <= statusAt && beginsWithProtocol(rest) };
}

function beginsWithProtocol(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, protocol.length);
  return bytes.compare(protocol, 0, length, 0, length) === 0;
}

const statusLine = boundedPattern(/^HTTP\/1\.[01] \d{3}(?: |$)/);
const headerName = boundedPattern(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/);
const tlsRecords = new Set([0x15, 0x16]);
/** HTTP/2 begins with a frame of settings, whose length has three bytes. */
const settingsFrame = 0x04;

/**
 * Says what is wrong with the head of an answer that is no valid HTTP/1.1. Nothing of it is repaired: what two parsers read
 * differently lets an upstream hide one answer within another (RFC 9112, 11.1 and 11.2).
 *
 * Null if nothing is wrong with what there is of it, or there is nothing. Completes the sentence "Provider … sent …".
 */
export function problemOfHead(bytes: Buffer, maxBytes: number): string | null {
  if (bytes.length === 0) return null;
  if (tlsRecords.has(bytes[0] ?? 0) && bytes[1] === 3)
    return 'TLS where the address has http:, so it should begin with https:';
  if (bytes[0] === 0 && bytes[3] === settingsFrame) return 'HTTP/2, which was not asked for';
  const text = bytes.toString('latin1', 0, maxBytes);
  const end = text.search(/\r?\n\r?\n/);
  if (end === -1 && bytes.length >= maxBytes) return `headers of more than ${Math.floor(maxBytes / 1024)} kB`;
  const lines = (end === -1 ? text : text.slice(0, end)).split('\n');
  // The last one may not have come whole.
  const whole = end === -1 ? lines.slice(0, -1) : lines;
  const [first, ...headers] = whole;
  if (first === undefined) return startsLikeAnswer(text) ? null : noHttp;
  if (!statusLine.test(first.trimEnd())) return noHttp;
  if (first.startsWith('HTTP/1.1 101') || first.startsWith('HTTP/1.0 101'))
    return 'a change of protocol (101) that was not asked for';
  const endsWell = (line: string, index: number) => line.endsWith('\r') || (end !== -1 && index === whole.length - 1);
  if (!whole.every(endsWell) || text.startsWith('\n', end))
    return 'a head with a line that ends without a carriage return';
  return problemOfHeaders(headers.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)));
}

function problemOfHeaders(lines: readonly string[]): string | null {
  let lengths = 0;
  let encodings = 0;
  for (const line of lines) {
    if (line.startsWith(' ') || line.startsWith('\t')) return 'a header that is folded over two lines';
    const colon = line.indexOf(':');
    if (colon === -1) return 'a header without a colon';
    const name = line.slice(0, colon);
    if (!headerName.test(name)) return 'a header whose name has a forbidden character';
    if (hasControl(line)) return `a header "${name}" with a forbidden character`;
    lengths += Number(name.toLowerCase() === 'content-length');
    encodings += Number(name.toLowerCase() === 'transfer-encoding');
  }
  if (lengths > 1) return 'the header Content-Length twice';
  return lengths > 0 && encodings > 0 ? 'both Content-Length and Transfer-Encoding' : null;
}

const noHttp = 'something that is no HTTP/1.1';

function startsLikeAnswer(text: string): boolean {
  const beginning = 'HTTP/1.';
  return text.startsWith(beginning) || beginning.startsWith(text);
}

/** Tabs are allowed. */
function hasControl(line: string): boolean {
  for (let index = 0; index < line.length; index++) {
    const code = line.charCodeAt(index);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return true;
  }
  return false;
}
