/**
 * Which sessions are stopped, and how much of its budget each has used. Decides whether further requests are admitted.
 */

import type { MaybePromise } from '../../ground/promises.ts';
import { number, text } from '../rules/columns.ts';
import { isTemporary, unreadable } from '../rules/failures.ts';
import { budgetUsed } from '../rules/session-queries.ts';
import type { Database } from './database.ts';

export interface SessionStates {
  /**
   * Stops a session; `stoppedAt` null resumes it, with a new budget. False if there is no such session. Throws GatewayError
   * `storage_unavailable`.
   */
  setStopped(id: string, stoppedAt: number | null): MaybePromise<boolean>;
  /** The ids of stopped sessions; empty while the file cannot be read. */
  stopped(): string[];
  /** What a session has used of its budget, in US dollars; null while it cannot be read. Does not reject. */
  budgetUsedUsd(id: string): MaybePromise<number | null>;
  /** Calls the listener for each session that another replica stops or resumes; absent without other replicas. */
  onChange?(listener: (id: string, isStopped: boolean) => void): void;
}

/** `flush` writes pending rows. */
export function createSessionStates(database: Database, flush: () => void): SessionStates {
  const readOr = <T>(read: () => T, otherwise: T): T => {
    try {
      return read();
    } catch (error) {
      if (isTemporary(error)) return otherwise;
      throw error;
    }
  };
  return {
    setStopped(id, stoppedAt) {
      flush();
      const resumed = stoppedAt === null ? ', resumed_usd = cost_usd' : '';
      try {
        const update = database.prepare(`UPDATE sessions SET stopped_at = ?${resumed} WHERE id = ?`);
        return update.run(stoppedAt, id).changes > 0;
      } catch (error) {
        throw isTemporary(error) ? unreadable(error) : error;
      }
    },
    stopped: () =>
      readOr(() => {
        const rows = database.prepare('SELECT id FROM sessions WHERE stopped_at IS NOT NULL').all();
        return rows.map((row) => text(row.id) ?? '');
      }, []),
    budgetUsedUsd(id) {
      flush();
      return readOr(() => {
        const row = database.prepare(`SELECT ${budgetUsed} AS usd FROM sessions WHERE id = ?`).get(id);
        return number(row?.usd) ?? 0;
      }, null);
    },
  };
}
