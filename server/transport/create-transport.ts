import type { Authorities } from './authorities.ts';
import { type ConnectionPools, createConnectionPools, type PoolEntry } from './connection-pools.ts';
import { decidedBy, type ProxySettings } from './proxy-choice.ts';
import type { OutgoingRequest, Transport } from './transport.ts';
import { UndiciCall } from './undici-call.ts';

interface TransportOptions {
  proxies?: ProxySettings;
  /** Absent: only Node's built-in certificate authorities. */
  authorities?: Authorities;
}

export function createTransport(options: TransportOptions = {}): Transport {
  const proxies = options.proxies ?? {};
  const pools = createConnectionPools(proxies, options.authorities ?? nodesOwn);
  return {
    send(request, handler) {
      const isRepeatable = request.body === null || Buffer.isBuffer(request.body);
      const call: UndiciCall = new UndiciCall(
        handler,
        request.timeouts,
        isRepeatable ? () => ask(pools, request, call) : null,
      );
      ask(pools, request, call);
      return call;
    },
    connect: pools.connect,
    async chainTo(origin, choice) {
      const chain = await pools.chainOf({ origin, proxy: choice });
      return { ...chain, by: decidedBy(choice, origin, proxies) };
    },
    leaveConnections: pools.retireAll,
    close: pools.close,
  };
}

function ask(pools: ConnectionPools, request: OutgoingRequest, call: UndiciCall): void {
  try {
    const entry = pools.poolFor(request);
    if (entry instanceof Promise) void dispatchWhenOpen(entry, request, call);
    else dispatch(entry, request, call);
  } catch (error) {
    queueMicrotask(() => call.fail(error));
  }
}

const nodesOwn: Authorities = {
  secureContext: async () => null,
  forget() {},
  fingerprint: () => '',
  view: async () => ({ files: [], system: null, problem: null }),
};

async function dispatchWhenOpen(entry: Promise<PoolEntry>, request: OutgoingRequest, call: UndiciCall): Promise<void> {
  try {
    const poolEntry = await entry;
    if (!call.isDone) dispatch(poolEntry, request, call);
  } catch (error) {
    call.fail(error);
  }
}

function dispatch({ pool, pathPrefix, headers }: PoolEntry, request: OutgoingRequest, call: UndiciCall): void {
  pool.dispatch(
    {
      path: pathPrefix + request.path,
      method: request.method,
      headers: pathPrefix ? { ...request.headers, ...headers } : request.headers,
      body: request.body,
      // undici's timers have a resolution of about a second, so `UndiciCall` uses its own.
      headersTimeout: 0,
      bodyTimeout: 0,
    },
    call,
  );
}
