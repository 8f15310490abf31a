/** The progress of a new user, derived from the engine's state. Pure. */
import type { ControlState } from '../../../state/control/control-state.ts';

export interface FirstRunProgress {
  /** A request was answered, either the person's own or the one made by these steps. */
  hasCalled: boolean;
  /** A provider other than the demo can be used. */
  hasProvider: boolean;
  /** A program other than a browser or curl has made a request. */
  hasTool: boolean;
}

type Known = Pick<ControlState, 'views' | 'requests'>;

const notATool = /^(Mozilla|curl)\//;

export function progressOf({ views, requests }: Known): FirstRunProgress {
  // Requests without a capability, such as for the list of models, are often made by programs that are not used yet.
  const answeredRequests = requests.filter(({ outcome, capability }) => outcome === 'ok' && capability !== null);
  return {
    hasCalled: answeredRequests.length > 0,
    hasProvider: views?.providers.some(({ enabled, isDemo, unusable }) => enabled && !isDemo && !unusable) ?? false,
    hasTool: answeredRequests.some(({ client }) => client !== null && !notATool.test(client)),
  };
}

/**
 * Whether a key was used before the engine started; its requests may have been deleted since. With more keys than
 * events report, the person is not a new user.
 */
export function wasUsedBefore({ views }: Known): boolean {
  if (views === null) return false;
  const { keys, keyCount, status } = views;
  if (keyCount > keys.length) return true;
  return keys.some(({ lastUsedAt }) => lastUsedAt !== null && lastUsedAt < status.startedAt);
}
