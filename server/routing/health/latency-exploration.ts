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
    const measurements = targets.map((target) => ({ target, health: healthOf(target) }));
    const measured = measurements.filter(({ health }) => health.firstByteMs.value !== null);
    const unmeasured = measurements.filter(({ health }) => health.firstByteMs.value === null);
    const explored =
      unmeasured.find(({ health }) => nowMs >= health.measureAgainAtMs) ??
      (this.#requests >= requestsBetween ? stalest(measured, nowMs) : undefined);
    const ordered = [...measured, ...unmeasured];
    if (!explored) return ordered.map(({ target }) => target);
    this.#requests = 0;
    explored.health.measureAgainAtMs = nowMs + firstMeasureEveryMs;
    return [explored, ...ordered.filter((each) => each !== explored)].map(({ target }) => target);
  }
}

/** Without the first, which every request measures. */
function stalest(measured: readonly Measured[], nowMs: number): Measured | undefined {
  const [oldest] = measured.slice(1).toSorted((a, b) => a.health.firstByteMs.atMs - b.health.firstByteMs.atMs);
  return oldest && nowMs - oldest.health.firstByteMs.atMs > staleMs ? oldest : undefined;
}
