/** The order in which targets would be asked if all were well, for each strategy of a group. */
import type { Policy } from '../../contract/policy.ts';
import { type Draw, orderByWeight, orderTargets, sortBy } from '../order-targets.ts';
import type { Target } from '../snapshot.ts';

/** What strategies ask for; called only by those that need it. */
export interface StrategyFacts {
  random: Draw;
  /** What stays the same from turn to turn of a conversation; null if nothing does. */
  conversation(): string | null;
  /** Of late, in milliseconds; null: not measured. */
  firstByteMs(target: Target): number | null;
  /** Of a usual request, in US dollars; null: not known. */
  usualPrice(target: Target): number | null;
}

type Strategy = (targets: readonly Target[], facts: StrategyFacts) => readonly Target[];

const byPriority: Strategy = (targets, { random }) => orderTargets(targets, random);

export const strategies: Record<Policy['strategy'], Strategy> = {
  priority: byPriority,
  // Its turns are those of credentials.
  'round-robin': byPriority,
  weighted: (targets, { random }) => orderByWeight(targets, random),
  // What was never measured goes first, so that it is.
  'lowest-latency': (targets, facts) => sortBy(byPriority(targets, facts), (target) => facts.firstByteMs(target) ?? 0),
  // What nobody can tell the price of may be dear.
  'lowest-price': (targets, facts) =>
    sortBy(byPriority(targets, facts), (target) => facts.usualPrice(target) ?? Number.POSITIVE_INFINITY),
  sticky(targets, facts) {
    const conversation = targets.length > 1 ? facts.conversation() : null;
    if (conversation === null) return byPriority(targets, facts);
    return orderTargets(targets, ({ provider, model }) => drawFor(conversation, `${provider.id}/${model}`));
  },
};

/**
 * From 0 to 1, always the same for a conversation and one of its choices (rendezvous hashing): where a choice is gone, only
 * its own conversations go elsewhere.
 */
export function drawFor(conversation: string, choice: string): number {
  // FNV-1a, and MurmurHash3's finish, since FNV alone spreads its last letters badly. Nobody gains by a collision here.
  let hash = 0x811c9dc5;
  for (const text of [conversation, choice]) {
    for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
