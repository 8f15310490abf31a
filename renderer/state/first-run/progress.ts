/** The progress of a new user, derived from the engine's state. Pure. */
import type { ControlState } from '../control/control-state.ts';

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

export const stepCount = 4;

/** The first two steps are done by what they lead to: base URL and key are known to whoever has called. */
export function doneSteps({ hasCalled, hasProvider, hasTool }: FirstRunProgress): number {
  return [hasCalled, hasCalled, hasProvider, hasTool].filter((isDone) => isDone).length;
}
