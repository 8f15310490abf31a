/**
 * Discovers the models of providers: at once if they are unknown or old, then every hour. A cache keeps them across
 * restarts. Requests never wait for discovery.
 */
import type { Logger } from 'pino';
import { formatMessage } from '../contract/coded.ts';
import { findingTexts, type ProbeFinding } from '../contract/probe.ts';
import type { Transport } from '../transport/transport.ts';
import { type KnownModels, ModelWatch, openModelCache } from './model-watch.ts';
import { type ModelInfo, type Upstream, unknownModels } from './upstream.ts';

interface DiscoveryPorts {
  transport: Transport;
  /** null for no cache. */
  cacheFile: string | null;
  log: Logger;
  now?: () => number;
}

interface DiscoveryState {
  /** Time of the last successful discovery in Unix milliseconds; null if there is none yet. */
  fetchedAt: number | null;
  /** Why the last attempt failed, as a text for people; null if it succeeded. */
  error: string | null;
  /** The same error as a finding; also null before the first attempt. */
  finding: ProbeFinding | null;
}

export interface Discovery {
  /** By provider id. Providers without an attempt yet are absent; those whose discovery failed have no models. */
  models(): ReadonlyMap<string, ReadonlyMap<string, ModelInfo>>;
  state(providerId: string): DiscoveryState;
  /** Calls the listener when a provider's `models` or `state` has changed, possibly during `watch`. */
  onChange(listener: (providerId: string) => void): void;
  /** Sets the providers. Those with a changed address or credential are queried at once. */
  watch(providers: readonly Upstream[]): void;
  /**
   * Queries the provider now, unless it is off or has a configured list of models. Never rejects; a failure is in the state.
   */
  refresh(provider: Upstream): Promise<void>;
  /** Stops, and resolves once the cache is on disk. */
  close(): Promise<void>;
}

export function createDiscovery(ports: DiscoveryPorts): Discovery {
  const { transport, log, now = Date.now } = ports;
  const cache = openModelCache(ports.cacheFile, log);
  const watches = new Map<string, ModelWatch>();
  const listeners: ((providerId: string) => void)[] = [];
  const changed = (providerId: string) => {
    for (const listener of listeners) listener(providerId);
  };

  function onRefreshed(watch: ModelWatch): void {
    const { id } = watch.upstream;
    if (watch.finding !== null)
      log.warn(
        { provider: id, problem: formatMessage(findingTexts, watch.finding) },
        'the models of a provider are unknown, or not all known',
      );
    if (watch.known && (watch.finding === null || watch.finding.code === 'list-cut'))
      cache.put(id, baseUrlOf(watch.upstream), watch.known);
    changed(id);
  }

  function begin(upstream: Upstream, before: ModelWatch | undefined): void {
    before?.stop();
    const isSamePlace = before && baseUrlOf(before.upstream) === baseUrlOf(upstream);
    const knownModels = isSamePlace ? before.known : cache.get(upstream.id, baseUrlOf(upstream));
    const watch = new ModelWatch(upstream, knownModels, { transport, now, asked: onRefreshed });
    watches.set(upstream.id, watch);
    watch.start(before ? 'now' : 'due');
    const hadFailed = (before?.finding ?? null) !== null;
    if (hadFailed || knownModels !== (before?.known ?? null)) changed(upstream.id);
  }

  function end(watch: ModelWatch): void {
    watch.stop();
    watches.delete(watch.upstream.id);
    if (watch.known || watch.finding) changed(watch.upstream.id);
  }

  return {
    models() {
      const discovered = [...watches].flatMap(([id, { known: knownModels, finding }]) =>
        knownModels || finding !== null ? [[id, knownModels?.models ?? unknownModels] as const] : [],
      );
      return new Map(discovered);
    },
    onChange: (listener) => void listeners.push(listener),
    state: (providerId) => stateOf(watches.get(providerId)),
    watch(providers) {
      cache.keepOnly(new Set(providers.map(({ id }) => id)));
      const toWatch = new Map(providers.filter((each) => each.discoversModels).map((each) => [each.id, each]));
      for (const [id, watch] of [...watches]) if (!toWatch.has(id)) end(watch);
      for (const [id, upstream] of toWatch) {
        const before = watches.get(id);
        if (!before || connectionOf(before.upstream) !== connectionOf(upstream)) begin(upstream, before);
      }
    },
    async refresh({ id, unusable }) {
      if (unusable === null) await watches.get(id)?.ask();
    },
    async close() {
      for (const watch of watches.values()) watch.stop();
      await cache.settled();
    },
  };
}

function stateOf(watch: ModelWatch | undefined): DiscoveryState {
  const knownModels: KnownModels | null = watch?.known ?? null;
  const finding = watch?.finding ?? null;
  return {
    fetchedAt: knownModels?.fetchedAt ?? null,
    error: finding && formatMessage(findingTexts, finding),
    finding,
  };
}

function baseUrlOf({ endpoint }: Upstream): string {
  return endpoint.origin + endpoint.basePath;
}

/** Everything that may change a provider's answer. It contains secrets and is only compared. */
function connectionOf(upstream: Upstream): string {
  const { dialect, endpoint, headers, credentials, proxy, unusable } = upstream;
  const [first] = credentials;
  return JSON.stringify([dialect.id, endpoint, headers, first?.headers, first?.signing, proxy, unusable === null]);
}
