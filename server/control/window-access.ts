/** Access to the control plane over HTTP: the admin token, and browsers signed in with it. */
import { join } from 'node:path';
import { controlError } from '../contract/control-error.ts';
import { describeFileProblem } from '../ground/files/file-problem.ts';
import { type AdminToken, openAdminToken } from './admin-token.ts';
import { openWindowSessions, type WindowSessions } from './window-sessions.ts';

const sessionsFileName = 'window-sessions.json';

interface AccessPorts {
  /** Null if nothing is stored on disk. */
  dataDir: string | null;
  fallbackFolder?: string | null | undefined;
  log: { warn(fields: object, message: string): void };
}

export interface WindowAccess {
  readonly token: AdminToken;
  readonly sessions: WindowSessions;
  /**
   * Ends the sessions of all browsers and voids unused addresses; resolves with the number of sessions. Rejects with a
   * GatewayError if that cannot be stored; the sessions are then ended only until the next start.
   */
  signOutEverywhere(): Promise<number>;
  /** Calls the listener when sessions have ended. */
  onSignOut(listener: () => void): void;
}

export async function openWindowAccess({ dataDir, fallbackFolder, log }: AccessPorts): Promise<WindowAccess> {
  const token = await openAdminToken({ dataDir, fallbackFolder });
  const path = dataDir === null ? null : join(dataDir, sessionsFileName);
  const sessions = await openWindowSessions({ path, nowMs: Date.now, log });
  const listeners: (() => void)[] = [];
  return {
    token,
    sessions,
    async signOutEverywhere() {
      token.dropTickets();
      const ended = sessions.endAll();
      for (const listener of listeners) listener();
      try {
        return await ended;
      } catch (error) {
        throw controlError('internal', { code: 'sign-out-not-stored', reason: describeFileProblem(error) });
      }
    },
    onSignOut: (listener) => void listeners.push(listener),
  };
}
