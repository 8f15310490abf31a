/** The order of healthy targets under each strategy of a group. */
import type { Policy } from '../../contract/policy.ts';
import { type Draw, orderByWeight, orderTargets, sortBy } from '../order-targets.ts';
import type { Target } from '../snapshot.ts';

/** Inputs of the strategies, computed only where needed. */
export interface StrategyFacts {
  random: Draw;
  /** An identifier that is the same in all turns of a conversation; null: none. */
  conversation(): string | null;
  /** Recent, in milliseconds; null: not measured. */
  firstByteMs(target: Target): number | null;
  /** For a typical request in US dollars; null: unknown. */
  typicalPrice(target: Target): number | null;
}

type Strategy = (targets: readonly Target[], facts: StrategyFacts) => readonly Target[];

const byPriority: Strategy = (targets, { random }) => orderTargets(targets, random);

export const strategies: Record<Policy['strategy'], Strategy> = {
  priority: byPriority,
  // Rotates credentials, not targets.
  'round-robin': byPriority,
  weighted: (targets, { random }) => orderByWeight(targets, random),
  // Unmeasured targets come first, so that they are measured.
  'lowest-latency': (targets, facts) => sortBy(byPriority(targets, facts), (target) => facts.firstByteMs(target) ?? 0),
  // A target of unknown price may be expensive.
  'lowest-price': (targets, facts) =>
    sortBy(byPriority(targets, facts), (target) => facts.typicalPrice(target) ?? Number.POSITIVE_INFINITY),
  sticky(targets, facts) {
    const conversation = targets.length > 1 ? facts.conversation() : null;
    if (conversation === null) return byPriority(targets, facts);
    return orderTargets(targets, ({ provider, model }) => drawFor(conversation, `${provider.id}/${model}`));
  },
};

/**
 * Rendezvous hashing: a constant from 0 to 1 for a conversation and a choice. If a choice is removed, only its own
 * conversations move.
 */
export function drawFor(conversation: string, choice: string): number {
  // FNV-1a with MurmurHash3's finalizer, since FNV alone mixes the last characters poorly.
  let hash = 0x811c9dc5;
  for (const text of [conversation, choice]) {
    for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
