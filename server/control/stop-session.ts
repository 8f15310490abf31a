import { controlError } from '../contract/control-error.ts';
import type { SessionStates } from '../ledger/session-states.ts';

/** Where stopped sessions are kept: across restarts, and for the requests to come. */
export interface SessionStops {
  ledger: { readonly sessionStates: Pick<SessionStates, 'setStopped'> };
  /** Takes effect for subsequent requests. */
  changed(id: string, isStopped: boolean): void;
}

/** Rejects with a GatewayError `not_found` if there is no such session, and `storage_unavailable` if that cannot be stored. */
export async function setSessionStopped(
  { ledger, changed }: SessionStops,
  id: string,
  isStopped: boolean,
): Promise<Record<string, never>> {
  const isKnown = await ledger.sessionStates.setStopped(id, isStopped ? Date.now() : null);
  if (!isKnown) throw controlError('not_found', { code: 'no-session', id });
  changed(id, isStopped);
  return {};
}
