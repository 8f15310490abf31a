import type { Target } from '../snapshot.ts';
import type { TargetHealth } from './provider-health.ts';

/** An older measurement may be outdated. */
const staleMs = 60_000;
/** At most one in this many requests is spent on measuring a slower target again. */
const requestsBetween = 20;
/** An unmeasured target gets one request in this time until it has answered. */
const firstMeasureEveryMs = 10_000;

interface Measured {
  target: Target;
  health: TargetHealth;
}

/**
 * Sends a few requests to slower targets under `lowest-latency`. Otherwise a target that was slow once, say while loading
 * its model, would never be measured again.
 */
export class LatencyExploration {
  #requests = 0;

  /** Fastest first, except when another target is due for a measurement. */
  order(targets: readonly Target[], healthOf: (target: Target) => TargetHealth, nowMs: number): readonly Target[] {
    this.#requests++;
    const all = targets.map((target) => ({ target, health: healthOf(target) }));
    const known = all.filter(({ health }) => health.firstByteMs.value !== null);
    const unknown = all.filter(({ health }) => health.firstByteMs.value === null);
    const chosen =
      unknown.find(({ health }) => nowMs >= health.measureAgainAtMs) ??
      (this.#requests >= requestsBetween ? stalest(known, nowMs) : undefined);
    const ordered = [...known, ...unknown];
    if (!chosen) return ordered.map(({ target }) => target);
    this.#requests = 0;
    chosen.health.measureAgainAtMs = nowMs + firstMeasureEveryMs;
    return [chosen, ...ordered.filter((each) => each !== chosen)].map(({ target }) => target);
  }
}

/** Without the first, which every request measures. */
function stalest(known: readonly Measured[], nowMs: number): Measured | undefined {
  const [oldest] = known.slice(1).toSorted((a, b) => a.health.firstByteMs.atMs - b.health.firstByteMs.atMs);
  return oldest && nowMs - oldest.health.firstByteMs.atMs > staleMs ? oldest : undefined;
}
