import { sortBy } from '../order-targets.ts';
import type { Target } from '../snapshot.ts';
import type { HealthBook } from './health-book.ts';

/** `targets` with those last that are not to be asked now; of them the one whose cooldown ends first goes first. */
export function coolingLast(targets: readonly Target[], health: HealthBook, nowMs: number): readonly Target[] {
  const mayBeAsked = (target: Target) => health.mayBeAsked(target, nowMs);
  if (targets.every(mayBeAsked)) return targets;
  return sortBy(targets, (target) => (mayBeAsked(target) ? 0 : health.untilMs(target)));
}
