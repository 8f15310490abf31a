import type { Target } from './snapshot.ts';

/**
 * The order in which a request asks its targets: by priority, and among equals at random by weight, so that a target of
 * weight 2 comes first twice as often as one of weight 1. Weight 0 comes after all others of its priority.
 */
export function orderTargets(targets: readonly Target[], random: () => number = Math.random): readonly Target[] {
  if (targets.length < 2) return targets;
  // Efraimidis and Spirakis, "Weighted random sampling with a reservoir": sort by random ** (1 / weight), descending.
  const drawn = targets.map((target) => ({ target, draw: target.weight > 0 ? random() ** (1 / target.weight) : -1 }));
  drawn.sort((a, b) => a.target.priority - b.target.priority || b.draw - a.draw);
  return drawn.map(({ target }) => target);
}
