import type { Target } from './snapshot.ts';

/** A target's draw, from 0 to 1: random, or constant for a conversation. */
export type Draw = (target: Target) => number;

/**
 * Orders targets by priority, and equal ones at random by weight: a target of weight 2 comes first twice as often as one of
 * weight 1. Weight 0 comes after all others of its priority.
 */
export function orderTargets(targets: readonly Target[], draw: Draw = Math.random): readonly Target[] {
  return sortByDraw(targets, draw, (a, b) => a.priority - b.priority);
}

/** At random by weight alone. */
export function orderByWeight(targets: readonly Target[], draw: Draw = Math.random): readonly Target[] {
  return sortByDraw(targets, draw, () => 0);
}

/** Efraimidis and Spirakis, "Weighted random sampling with a reservoir": sort by random ** (1 / weight), descending. */
function sortByDraw(
  targets: readonly Target[],
  draw: Draw,
  compare: (a: Target, b: Target) => number,
): readonly Target[] {
  if (targets.length < 2) return targets;
  const drawn = targets.map((target) => ({
    target,
    draw: target.weight > 0 ? draw(target) ** (1 / target.weight) : -1,
  }));
  drawn.sort((a, b) => compare(a.target, b.target) || b.draw - a.draw);
  return drawn.map(({ target }) => target);
}

/** Lowest rank first; stable. A rank may be infinite. */
export function sortBy(targets: readonly Target[], rank: (target: Target) => number): readonly Target[] {
  const ranked = targets.map((target) => ({ target, rank: rank(target) }));
  return ranked.sort((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank)).map(({ target }) => target);
}

/** Moves targets last whose provider only accepts any name, whatever the strategy. */
export function anyNameLast(targets: readonly Target[]): readonly Target[] {
  const last = targets.filter(({ takesAnyName }) => takesAnyName);
  return last.length === 0 ? targets : [...targets.filter(({ takesAnyName }) => !takesAnyName), ...last];
}
