/** How far a newcomer has come, by what the engine tells. Pure. */
import type { ControlState } from '../../../state/control-state.ts';

export interface FirstRunProgress {
  /** A request was answered: the person's own, or the one that the path makes. */
  hasCalled: boolean;
  /** One that is not the demo can be used. */
  hasProvider: boolean;
  /** A program other than a browser or curl came through. */
  hasTool: boolean;
}

type Known = Pick<ControlState, 'views' | 'requests'>;

const notATool = /^(Mozilla|curl)\//;

export function progressOf({ views, requests }: Known): FirstRunProgress {
  // A list of models is asked for by many a program that is not used yet.
  const answered = requests.filter(({ outcome, capability }) => outcome === 'ok' && capability !== null);
  return {
    hasCalled: answered.length > 0,
    hasProvider: views?.providers.some(({ enabled, isDemo, unusable }) => enabled && !isDemo && !unusable) ?? false,
    hasTool: answered.some(({ client }) => client !== null && !notATool.test(client)),
  };
}

/** A key was used in an earlier run, whose requests may be deleted by now. Who has more keys than are told of is no newcomer. */
export function wasUsedBefore({ views }: Known): boolean {
  if (views === null) return false;
  const { keys, keyCount, status } = views;
  if (keyCount > keys.length) return true;
  return keys.some(({ lastUsedAt }) => lastUsedAt !== null && lastUsedAt < status.startedAt);
}
