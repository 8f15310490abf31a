/** Opens the limiter of a gateway, which counts either in this process or together with other replicas. */

import type { Config } from '../contract/config.ts';
import type { LimitReached } from '../contract/limits.ts';
import { entriesNotIn } from '../contract/list-splice.ts';
import type { SharedCountsView } from '../contract/replica-limits.ts';
import type { LiveConfig } from '../control/live/live-config.ts';
import type { Limiter } from '../limits/limiter.ts';
import { LocalLimiter } from '../limits/local-limiter.ts';
import { compileLimits } from '../routing/compile-limits.ts';
import type { HealthTracker } from '../routing/health/health-tracker.ts';
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
}

/** Rejects with a GatewayError if the server that counts for all replicas cannot be used with the given settings. */
export async function openLimits(
  { folders: { dataDir }, logging: { log }, replicas }: Pick<GatewayPorts, 'folders' | 'logging' | 'replicas'>,
  { ledger, live, health, isShared }: Counted,
): Promise<GatewayLimits> {
  const listeners: ((notice: LimitReached) => void)[] = [];
  const local = {
    history: ledger.history,
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
  function* limited({ groups, keys }: Pick<Config, 'groups' | 'keys'>) {
    for (const group of groups) {
      const limits = compileLimits('group', group);
      if (limits && !isStopped) yield limits;
    }
    for (const key of keys) {
      const limits = compileLimits('key', key);
      if (limits && !isStopped) yield limits;
    }
  }
  const preloaded = limiter.preloadSpent(limited(live.used.config));
  live.onChange(({ before, after }) => {
    const groups = entriesNotIn(before.groups, after.groups);
    void limiter.preloadSpent(limited({ groups, keys: entriesNotIn(before.keys, after.keys) }));
  });
  return {
    preloaded,
    stopPreloading() {
      isStopped = true;
    },
  };
}
