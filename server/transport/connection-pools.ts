/** Pools of kept-alive connections by destination and proxy. Knows nothing of the requests that use them. */
import { isIP, type Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher, Pool } from 'undici';
import type { Authorities } from './authorities.ts';
import { Connection, type Line, maxHeadBytes, watchesConnection } from './connection.ts';
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
