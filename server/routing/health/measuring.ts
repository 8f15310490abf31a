import type { Target } from '../snapshot.ts';
import type { TargetHealth } from './provider-health.ts';

/** A measurement older than this may be wrong by now. */
const staleMs = 60_000;
/** Where requests are rare, only one in so many goes to a target for being measured. */
const requestsBetween = 20;
/** A target that was never measured is not flooded before its first answer. */
const firstMeasureEveryMs = 10_000;

interface Measured {
  target: Target;
  health: TargetHealth;
}

/**
 * Who is asked though another was faster: else a target that was slow once, such as one that had to load its model, would
 * never be measured again.
 */
export class Measuring {
  #requests = 0;

  /** `targets` with the fastest first. */
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

/** Besides the first, which is measured by every request. */
function stalest(known: readonly Measured[], nowMs: number): Measured | undefined {
  const [oldest] = known.slice(1).toSorted((a, b) => a.health.firstByteMs.atMs - b.health.firstByteMs.atMs);
  return oldest && nowMs - oldest.health.firstByteMs.atMs > staleMs ? oldest : undefined;
}
