/** Opens the limiter of a gateway, which counts either in this process or together with other replicas. */

import type { Config } from '../contract/config.ts';
import type { LimitReached } from '../contract/limits.ts';
import { entriesNotIn } from '../contract/list-splice.ts';
import type { SharedCountsView } from '../contract/replica-limits.ts';
import type { LiveConfig } from '../control/live/live-config.ts';
import type { MaybePromise } from '../ground/promises.ts';
import type { Limiter } from '../limits/limiter.ts';
import { LocalLimiter } from '../limits/local-limiter.ts';
import { type KeysOfPerson, withPeople } from '../limits/person-history.ts';
import { compileLimits, compilePersonLimits } from '../routing/compile-keys.ts';
import type { HealthTracker } from '../routing/health/health-tracker.ts';
import type { PeopleStore } from '../store/ports/people-store.ts';
import type { Ledger } from '../store/sqlite/ledger.ts';
import type { GatewayPorts } from './ports.ts';

interface GatewayLimits {
  limiter: Limiter;
  /** Null if limits are not counted together with other replicas. */
  view(): SharedCountsView | null;
  /** The listener is called when the view has changed. */
  onChange(listener: () => void): void;
  /** The listener is called when a limit is reached. */
  onReached(listener: (notice: LimitReached) => void): void;
  close(): Promise<void>;
}

interface Counted {
  ledger: Pick<Ledger, 'history' | 'budgets' | 'flush' | 'health'>;
  live: LiveConfig;
  health: HealthTracker;
  /** Whether other replicas write the same ledger. */
  isShared: boolean;
  /** Null where nobody signs in, so that no key has an owner. */
  keyOwners: KeyOwners | null;
}

/** Rejects with a GatewayError if the server that counts for all replicas cannot be used with the given settings. */
export async function openLimits(
  { folders: { dataDir }, logging: { log }, replicas }: Pick<GatewayPorts, 'folders' | 'logging' | 'replicas'>,
  { ledger, live, health, isShared, keyOwners }: Counted,
): Promise<GatewayLimits> {
  const listeners: ((notice: LimitReached) => void)[] = [];
  const local = {
    history: withPeople(ledger.history, await followKeyOwners(keyOwners, live, log)),
    ownerOf: ownersIn(live),
    sums: ledger.budgets,
    clocks: { wallMs: () => Date.now(), steadyMs: () => performance.now() },
    reached(notice: LimitReached) {
      for (const listener of listeners) listener(notice);
    },
    log,
  };
  const settings = () => live.snapshot.settings.sharedCounts;
  const shared = await replicas?.openReplicaLimits?.({
    dataDir,
    commonLedger: isShared ? 'postgres' : null,
    ledger,
    local,
    settings,
    health: { book: health, provider: (id) => live.snapshot.providers.get(id) },
    log,
  });
  const limiter = shared?.limiter ?? new LocalLimiter(local);
  live.onChange(({ before, after }) => {
    const changed = entriesNotIn(after.keys, before.keys);
    if (changed.length === 0) return;
    const keyIds = new Set(after.keys.map(({ id }) => id));
    for (const { id } of changed) if (!keyIds.has(id)) limiter.forget('key', id);
  });
  const { preloaded, stopPreloading } = preloadBudgets(limiter, live);
  // Totals that are read from a server must be loaded before the first request.
  if (isShared) await preloaded;
  return {
    limiter,
    view: () => shared?.view ?? null,
    onChange: (listener) => shared?.onChange(listener),
    onReached: (listener) => void listeners.push(listener),
    async close() {
      stopPreloading();
      await shared?.close();
    },
  };
}

/**
 * Loads the budgets' totals in the background: all of them at start, and those of changed limits after each
 * configuration change.
 */
function preloadBudgets(limiter: Limiter, live: LiveConfig) {
  let isStopped = false;
  function* limited({ groups, keys, settings }: Pick<Config, 'groups' | 'keys' | 'settings'>) {
    for (const group of groups) {
      const limits = compileLimits('group', group);
      if (limits && !isStopped) yield limits;
    }
    for (const key of keys) {
      const limits = compileLimits('key', key);
      if (limits && !isStopped) yield limits;
    }
    const people = compilePersonLimits(settings.people);
    for (const owner of people.text === '' ? [] : new Set(keys.flatMap((key) => key.owner ?? []))) {
      const limits = people.of(owner);
      if (limits && !isStopped) yield limits;
    }
  }
  const preloaded = limiter.preloadSpent(limited(live.used.config));
  live.onChange(({ before, after }) => {
    const groups = entriesNotIn(before.groups, after.groups);
    const isSame = compilePersonLimits(before.settings.people).text === compilePersonLimits(after.settings.people).text;
    const keys = isSame ? entriesNotIn(before.keys, after.keys) : after.keys;
    void limiter.preloadSpent(limited({ groups, keys, settings: after.settings }));
  });
  return {
    preloaded,
    stopPreloading() {
      isStopped = true;
    },
  };
}

type KeyOwners = Pick<PeopleStore, 'keepKeyOwners' | 'endKeyOwners' | 'keysOf'>;

/** Remembers whose each key was. What cannot be written now is written before it is read. */
async function followKeyOwners(
  store: KeyOwners | null,
  live: LiveConfig,
  log: Pick<GatewayPorts['logging']['log'], 'warn'>,
): Promise<KeysOfPerson> {
  if (!store) return () => [];
  let unwritten: (() => MaybePromise<void>)[] = [];
  const write = (): MaybePromise<void> => {
    const [first] = unwritten;
    if (!first) return undefined;
    const done = () => {
      unwritten = unwritten.filter((each) => each !== first);
      return write();
    };
    const writing = first();
    return writing instanceof Promise ? writing.then(done) : done();
  };
  const queue = async (task: () => MaybePromise<void>) => {
    unwritten.push(task);
    try {
      await write();
    } catch (error) {
      log.warn({ error }, 'the owners of keys cannot be written now');
    }
  };
  const ownersOf = (keys: Config['keys']) =>
    keys.flatMap(({ id: keyId, owner, createdAt }) =>
      owner === undefined ? [] : [{ keyId, personId: owner, sinceMs: createdAt ? Date.parse(createdAt) : 0 }],
    );
  await queue(() => store.keepKeyOwners(ownersOf(live.used.config.keys)));
  live.onChange(({ before, after }) => {
    const there = new Set(after.keys.map(({ id }) => id));
    const revoked = ownersOf(entriesNotIn(after.keys, before.keys)).filter(({ keyId }) => !there.has(keyId));
    const added = ownersOf(entriesNotIn(before.keys, after.keys));
    const atMs = Date.now();
    if (revoked.length > 0)
      void queue(() =>
        store.endKeyOwners(
          revoked.map(({ keyId }) => keyId),
          atMs,
        ),
      );
    if (added.length > 0) void queue(() => store.keepKeyOwners(added));
  });
  return (personId) => {
    const written = write();
    return written instanceof Promise ? written.then(() => store.keysOf(personId)) : store.keysOf(personId);
  };
}

/** Looked up only while people have limits. */
function ownersIn(live: LiveConfig): (keyId: string) => string | null {
  let known: { keys: Config['keys']; owners: ReadonlyMap<string, string> } | null = null;
  return (keyId) => {
    const { keys, settings } = live.used.config;
    if (compilePersonLimits(settings.people).text === '') return null;
    if (known?.keys !== keys)
      known = { keys, owners: new Map(keys.flatMap(({ id, owner }) => (owner === undefined ? [] : [[id, owner]]))) };
    return known.owners.get(keyId) ?? null;
  };
}
