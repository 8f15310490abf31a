import { sortBy } from '../order-targets.ts';
import type { Target } from '../snapshot.ts';
import type { HealthTracker } from './health-tracker.ts';

/** Moves targets in a cooldown last, ordered by the cooldown's end. */
export function coolingLast(targets: readonly Target[], health: HealthTracker, nowMs: number): readonly Target[] {
  const isAvailable = (target: Target) => health.isAvailable(target, nowMs);
  if (targets.every(isAvailable)) return targets;
  return sortBy(targets, (target) => (isAvailable(target) ? 0 : health.untilMs(target)));
}
