/**
 * Discovers the models of providers: at once if they are unknown or old, then every hour. A cache keeps them across
 * restarts. Requests never wait for discovery.
 */

import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { z } from 'zod';
import { formatMessage } from '../contract/coded.ts';
import { findingTexts, type ProbeFinding } from '../contract/probe.ts';
import type { ConnectionFault } from '../contract/provider-views.ts';
import { writeFileDurably } from '../ground/files/durable-file.ts';
import { describeFileProblem, systemErrorCode } from '../ground/files/regular-file.ts';
import { createSerialQueue } from '../ground/promises.ts';
import { after } from '../ground/timers.ts';
import type { Transport } from '../transport/transport.ts';
import { fetchModelList } from './list-models.ts';
import { type ModelInfo, type Upstream, unknownModels } from './upstream.ts';

interface DiscoveryPorts {
  transport: Transport;
  /** null for no cache. */
  cacheFile: string | null;
  log: Logger;
  /** Called after each attempt, before the listeners. */
  asked?: (upstream: Upstream, state: DiscoveryState) => void;
  now?: () => number;
}

export interface DiscoveryState {
  /** Time of the last successful discovery in Unix milliseconds; null if there is none yet. */
  fetchedAt: number | null;
  /** Why the last attempt failed, as a text for people; null if it succeeded. */
  error: string | null;
  /** The same error as a finding; also null before the first attempt. */
  finding: ProbeFinding | null;
  /** Why there was no answer to it; null if there was one. */
  fault: ConnectionFault | null;
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
    ports.asked?.(watch.upstream, stateOf(watch));
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
    fault: watch?.fault ?? null,
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

const cachedSchema = z.object({
  /** A list is valid only for the address it came from. */
  baseUrl: z.string(),
  fetchedAt: z.int().nonnegative(),
  models: z.array(
    z.tuple([
      z.string().min(1).max(256),
      z.object({ created: z.int(), ownedBy: z.string(), contextTokens: z.int().exactOptional() }),
    ]),
  ),
});
const fileSchema = z.object({ version: z.literal(1), providers: z.record(z.string(), cachedSchema) });

/**
 * Keeps discovered models across restarts. Losing the cache costs one request per provider, so errors are only logged.
 */
interface ModelCache {
  get(providerId: string, baseUrl: string): KnownModels | null;
  put(providerId: string, baseUrl: string, models: KnownModels): void;
  /** Forgets all other providers, because they were removed. */
  keepOnly(providerIds: ReadonlySet<string>): void;
  /** Resolves once everything is on disk. */
  settled(): Promise<void>;
}

/** Reads the file synchronously, once. `path` null: no file. */
function openModelCache(path: string | null, log: Logger): ModelCache {
  const inTurn = createSerialQueue();
  const logProblem = (error: unknown) => {
    log.warn({ path, problem: problemOf(error) }, 'the cache of discovered models cannot be used');
  };
  const providers = path === null ? {} : readFile(path, logProblem);
  const write = (path: string) => {
    const text = JSON.stringify({ version: 1, providers });
    inTurn(() => writeFileDurably(path, text)).catch(logProblem);
  };
  return {
    get(providerId, baseUrl) {
      const cached = providers[providerId];
      if (cached?.baseUrl !== baseUrl) return null;
      return { fetchedAt: cached.fetchedAt, models: new Map(cached.models) };
    },
    put(providerId, baseUrl, { fetchedAt, models }) {
      if (path === null) return;
      providers[providerId] = { baseUrl, fetchedAt, models: [...models] };
      write(path);
    },
    keepOnly(providerIds) {
      const removed = Object.keys(providers).filter((id) => !providerIds.has(id));
      if (path === null || removed.length === 0) return;
      for (const id of removed) delete providers[id];
      write(path);
    },
    settled: () => inTurn(async () => {}),
  };
}

function readFile(path: string, logProblem: (error: unknown) => void): Record<string, z.infer<typeof cachedSchema>> {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).providers;
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') logProblem(error);
    return {};
  }
}

function problemOf(error: unknown): string {
  return error instanceof z.ZodError ? 'its format is invalid' : describeFileProblem(error);
}

interface KnownModels {
  /** Unix milliseconds. */
  fetchedAt: number;
  models: ReadonlyMap<string, ModelInfo>;
}

interface ModelWatchPorts {
  transport: Transport;
  now: () => number;
  /** Called after each attempt, but not after `stop`. */
  asked(watch: ModelWatch): void;
}

const freshMs = 60 * 60 * 1000;
const firstBackoffMs = 30_000;
/** While nothing is known of a provider, requests for its models are refused, so it is asked again within seconds. */
const coldBackoffMs = 1_000;
const longestColdMs = 5_000;
/** Of these failures; a provider that is away for longer, such as a local server that is off, is asked in each half a minute. */
const coldFailures = 60;

/** A refused credential is left to a person, but a service in trouble may refuse good ones for a while. */
const longestRefusedMs = 5 * 60_000;

/** Requests the models of one provider periodically until stopped. */
class ModelWatch {
  readonly upstream: Upstream;
  known: KnownModels | null;
  /** Why the last attempt failed, or did not learn all; null if it succeeded. */
  finding: ProbeFinding | null = null;
  fault: ConnectionFault | null = null;
  readonly #ports: ModelWatchPorts;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #asking: Promise<void> | undefined;
  #isStopped = false;

  constructor(upstream: Upstream, knownModels: KnownModels | null, ports: ModelWatchPorts) {
    this.upstream = upstream;
    this.known = knownModels;
    this.#ports = ports;
  }

  /** With `due`, the first request is made once the known models are an hour old. */
  start(when: 'due' | 'now'): void {
    // A time in the future comes from a wrong clock.
    const ageMs = this.known ? this.#ports.now() - this.known.fetchedAt : Number.POSITIVE_INFINITY;
    this.#schedule(when === 'now' || ageMs < 0 ? 0 : Math.max(0, freshMs - ageMs));
  }

  /** Requests the models now, or joins a request in progress. */
  ask(): Promise<void> {
    clearTimeout(this.#timer);
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    const result = await fetchModelList(this.upstream, this.#ports.transport);
    if (this.#isStopped) return;
    this.finding = result.finding ?? null;
    this.fault = ('fault' in result && result.fault) || null;
    if ('models' in result) {
      this.known = { fetchedAt: this.#ports.now(), models: result.models };
      this.#failures = 0;
    } else this.#failures++;
    this.#ports.asked(this);
    this.#schedule(jittered(this.#failures === 0 ? freshMs : this.#backoffMs()));
  }

  #backoffMs(): number {
    if (this.known) return warmBackoffMs(this.#failures);
    const isRefused = this.finding?.code === 'answered' && refusedStatuses.has(this.finding.status);
    return isRefused ? Math.min(longestRefusedMs, warmBackoffMs(this.#failures)) : coldWaitMs(this.#failures);
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped || this.upstream.unusable !== null) return;
    this.#timer = after(() => this.ask(), delayMs);
    this.#timer.unref();
  }
}

const refusedStatuses = new Set([401, 403]);

/** 30 s after the first failure, doubled after each further one, and at most an hour. */
function warmBackoffMs(failures: number): number {
  return Math.min(freshMs, firstBackoffMs * 2 ** (failures - 1));
}

function coldWaitMs(failures: number): number {
  return failures > coldFailures ? firstBackoffMs : Math.min(longestColdMs, coldBackoffMs * 2 ** (failures - 1));
}

/** Adds up to 10 %, so that requests do not synchronise. */
function jittered(delayMs: number): number {
  return delayMs * (1 + Math.random() / 10);
}
