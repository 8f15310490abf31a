/** Connections that are kept open, by where they lead and how. Knows nothing of the requests that run on them. */
import tls from 'node:tls';
import { Pool } from 'undici';
import { createConnector } from './connector.ts';
import { chooseProxy, type ProxySettings } from './proxy-choice.ts';
import { proxyAuthorization } from './tunnel.ts';

/** What of a request decides on its way. */
export interface Destination {
  origin: string;
  /** `system`, `direct` or a proxy's URL. */
  proxy: string;
  timeouts: { connectMs: number };
}

/** Where requests of one kind go: connections kept open, and what a plain HTTP proxy needs with each request. */
export interface Way {
  pool: Pool;
  usedAtMs: number;
  /** Set before the path where a proxy is asked for the whole URL. */
  pathPrefix: string;
  headers: Record<string, string>;
}

export interface Ways {
  wayFor(to: Destination): Way;
  /** The next request opens a new connection; those that run go on. */
  leaveAll(): void;
  /** Cuts off what still runs. */
  close(): Promise<void>;
}

/** People think between two questions: a short-lived idle socket would cost a TLS handshake nearly every turn. */
const idleSocketMs = 60_000;
/** After that a way is forgotten when another is opened: its provider may be gone, or have another address now. */
const idleWayMs = 600_000;

export function createWays(proxies: ProxySettings, extraCa: readonly string[]): Ways {
  const ways = new Map<string, Way>();
  /** No longer used, but requests still run on them. */
  const left = new Set<Pool>();
  const open = wayOpener(proxies, extraCa);

  const leave = (name: string, { pool }: Way) => {
    ways.delete(name);
    left.add(pool);
    void pool.close().finally(() => left.delete(pool));
  };

  const leaveIdle = (nowMs: number) => {
    for (const [name, way] of ways) if (nowMs - way.usedAtMs > idleWayMs) leave(name, way);
  };

  return {
    wayFor(to) {
      const name = `${to.origin} ${to.proxy} ${to.timeouts.connectMs}`;
      const nowMs = Date.now();
      let way = ways.get(name);
      if (!way) {
        leaveIdle(nowMs);
        way = open(to);
        ways.set(name, way);
      }
      way.usedAtMs = nowMs;
      return way;
    },
    leaveAll() {
      for (const [name, way] of ways) leave(name, way);
    },
    async close() {
      await Promise.all([...left, ...[...ways.values()].map(({ pool }) => pool)].map((pool) => pool.destroy()));
      ways.clear();
    },
  };
}

function wayOpener(proxies: ProxySettings, extraCa: readonly string[]): (to: Destination) => Way {
  const secureContext = extraCa.length
    ? tls.createSecureContext({ ca: [...tls.getCACertificates('default'), ...extraCa] })
    : null;
  return (to) => {
    const proxy = chooseProxy(to.proxy, to.origin, proxies);
    const pool = new Pool(to.origin, {
      connect: createConnector({ connectMs: to.timeouts.connectMs, secureContext, proxy }),
      keepAliveTimeout: idleSocketMs,
      // HTTP/1.1 only: an aborted request must cost its own connection and no other's.
      allowH2: false,
      pipelining: 1,
    });
    const way = { pool, usedAtMs: 0 };
    if (!proxy || to.origin.startsWith('https:')) return { ...way, pathPrefix: '', headers: {} };
    const authorization = proxyAuthorization(proxy);
    return {
      ...way,
      pathPrefix: to.origin,
      headers: authorization ? { 'proxy-authorization': authorization } : {},
    };
  };
}
