/**
 * Short notices between replicas through PostgreSQL; each is the name of a topic. A notice may be lost with its
 * connection, so listeners are also called after each new connection. They are called every few seconds as well,
 * because a connection may be dead without an error.
 */
import pg from 'pg';
import { after, every, settleWithin } from '../../ground/timers.ts';
import { messageOf } from '../rules/failures.ts';
import { clientConfig, type PostgresOptions } from './postgres.ts';

/** The subject that has changed. */
type Topic = 'config' | 'sessions' | 'pins' | 'people' | 'prices' | 'secrets';

interface NoticesOptions extends Pick<PostgresOptions, 'url'> {
  log: { warn(fields: object, message: string): void };
  /** How often listeners are called without a notice. Default 5 s. */
  pollMs?: number;
  /** Delay between attempts to reconnect; the first one is immediate. Default 1 s. */
  reconnectMs?: number;
}

/** Channel for `pg_notify(channel, topic)`, which notifies all replicas once its transaction is committed. */
export const channel = 'sluice';
const defaultPollMs = 5_000;
const defaultReconnectMs = 1_000;
const closeMs = 1_000;

export class Notices {
  readonly #options: NoticesOptions;
  readonly #listeners: { topic: Topic; listener: () => void }[] = [];
  readonly #polls: NodeJS.Timeout;
  #client: pg.Client | null = null;
  #reconnecting: NodeJS.Timeout | null = null;
  #isClosed = false;
  #isAway = false;

  constructor(options: NoticesOptions) {
    this.#options = options;
    this.#polls = every(() => this.#tellAll(), options.pollMs ?? defaultPollMs).unref();
    void this.#connect();
  }

  /** Calls the listener whenever something about the topic may have changed. It must not throw. */
  on(topic: Topic, listener: () => void): void {
    this.#listeners.push({ topic, listener });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#polls);
    if (this.#reconnecting !== null) clearTimeout(this.#reconnecting);
    if (this.#client)
      await settleWithin(
        closeMs,
        this.#client.end().catch(() => {}),
      );
  }

  async #connect(): Promise<void> {
    const client = new pg.Client(clientConfig(this.#options));
    this.#client = client;
    client.on('notification', ({ payload }) => this.#tell(payload ?? ''));
    client.on('error', (error) => this.#lost(client, error));
    client.on('end', () => this.#lost(client, null));
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      this.#isAway = false;
      this.#tellAll();
    } catch (error) {
      this.#lost(client, error);
    }
  }

  /** May be called several times for one lost connection. */
  #lost(client: pg.Client, error: unknown): void {
    if (this.#isClosed || client !== this.#client) return;
    this.#client = null;
    client.end().catch(() => {});
    if (!this.#isAway && error !== null) {
      this.#options.log.warn(
        { error: messageOf(error) },
        'the database does not tell of changes now; it is asked every few seconds',
      );
    }
    const { reconnectMs = defaultReconnectMs } = this.#options;
    const waitMs = this.#isAway ? reconnectMs : 0;
    this.#isAway = true;
    this.#reconnecting = after(() => this.#connect(), waitMs).unref();
  }

  #tell(publishedTopic: string): void {
    for (const { topic, listener } of this.#listeners) if (topic === publishedTopic) listener();
  }

  #tellAll(): void {
    for (const { listener } of this.#listeners) listener();
  }
}
