import { controlError } from '../../contract/control-error.ts';
import type { SessionStates } from '../../store/sqlite/ledger.ts';

/** Stores stopped sessions, so that they stay stopped after a restart, and applies the change to new requests. */
export interface SessionStops {
  ledger: { readonly sessionStates: Pick<SessionStates, 'setStopped'> };
  /** Takes effect for subsequent requests. */
  changed(id: string, isStopped: boolean): void;
}

/**
 * Rejects with a GatewayError: `not_found` if the session does not exist, `storage_unavailable` if the change cannot be
 * stored.
 */
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
