/** The stopped sessions. Every replica keeps them in memory and is notified of changes by the others. */

import { createSerialQueue } from '../../ground/promises.ts';
import { messageOf } from '../rules/failures.ts';
import { channel, type Notices } from './notices.ts';
import type { Postgres } from './postgres.ts';

interface Options {
  postgres: Postgres;
  notices: Notices;
  log: { warn(fields: object, message: string): void };
}

type Listener = (id: string, isStopped: boolean) => void;

const stopSql = `WITH changed AS (UPDATE sessions SET stopped_at = $2,
    resumed_usd = CASE WHEN $2::float8 IS NULL THEN cost_usd ELSE resumed_usd END WHERE id = $1 RETURNING id)
  SELECT pg_notify('${channel}', 'sessions') FROM changed`;

export class StoppedSessions {
  readonly #options: Options;
  readonly #listeners: Listener[] = [];
  readonly #inTurn = createSerialQueue();
  #ids: ReadonlySet<string> = new Set();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Ids of the stopped sessions. */
  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  /** Rejects with PostgreSQL's error. */
  async open(): Promise<void> {
    await this.#read();
    this.#options.notices.on('sessions', () => void this.#readQuietly());
  }

  /** Calls the listener for each session that is stopped or resumed, here or at another replica. */
  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /**
   * Stops a session, so that its requests are refused, or resumes it with a new budget. Resolves with false if there is
   * no such session.
   */
  async set(id: string, stoppedAt: number | null): Promise<boolean> {
    const { count } = await this.#options.postgres.ask(stopSql, id, stoppedAt);
    await this.#read();
    return count > 0;
  }

  /** Serialized, so that an older answer cannot replace a newer one. */
  #read(): Promise<void> {
    return this.#inTurn(() => this.#readNow());
  }

  async #readNow(): Promise<void> {
    const previousIds = this.#ids;
    const { rows } = await this.#options.postgres.ask('SELECT id FROM sessions WHERE stopped_at IS NOT NULL');
    this.#ids = new Set(rows.map(({ id }) => String(id)));
    for (const id of this.#ids) if (!previousIds.has(id)) this.#tell(id, true);
    for (const id of previousIds) if (!this.#ids.has(id)) this.#tell(id, false);
  }

  #tell(id: string, isStopped: boolean): void {
    for (const listener of this.#listeners) listener(id, isStopped);
  }

  async #readQuietly(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      this.#options.log.warn({ error: messageOf(error) }, 'stopped sessions cannot be read; they stay as they are');
    }
  }
}
