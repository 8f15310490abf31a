/** Stores kept responses in PostgreSQL, where every replica finds them. */

import type { Settings } from '../../contract/settings.ts';
import { hourMs } from '../../contract/units.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import { every } from '../../ground/timers.ts';
import type { KeptResponse, ResponseStore } from '../ports/kept-stores.ts';
import { messageOf } from '../rules/failures.ts';
import { columnsOfKept, maxResponses, mayKeep, toKeptResponse } from '../sqlite/response-store.ts';
import { LaterWrite } from './later-write.ts';
import { columnsOf, isTemporary, type Postgres, type Queries, removeWritten, replaced, unnest } from './postgres.ts';

interface Options {
  postgres: Postgres;
  log: { warn(fields: object, message: string): void };
  settings(): Settings['keptResponses'];
  now?: () => number;
}

/** A client may continue from a response at another replica at once. */
const flushMs = 1;
const sweepEveryMs = 15 * 60_000;

/** Column types. */
export const keptResponseTypes = {
  group_id: 'text',
  id: 'text',
  created_at: 'double precision',
  bytes: 'bigint',
  response: 'text',
  input: 'text',
};
const upsertSql = `INSERT INTO kept_responses (${Object.keys(keptResponseTypes).join(', ')}) SELECT * FROM ${unnest(keptResponseTypes)}
  ON CONFLICT (group_id, id) DO UPDATE SET ${replaced(['created_at', 'bytes', 'response', 'input'])}`;
const deleteSql = `DELETE FROM kept_responses USING ${unnest({ group_id: 'text', id: 'text' })}
  WHERE kept_responses.group_id = given.group_id AND kept_responses.id = given.id`;
/** Ordered newest first, so that rows beyond the limits come last. */
const trimSql = `DELETE FROM kept_responses WHERE group_id = $1 AND id IN (
  SELECT id FROM (
    SELECT id, row_number() OVER newest AS place, sum(bytes) OVER newest AS total FROM kept_responses WHERE group_id = $1
    WINDOW newest AS (ORDER BY created_at DESC, id DESC ROWS UNBOUNDED PRECEDING)
  ) AS kept WHERE place > ${maxResponses} OR total > $2)`;

export class PostgresResponseStore implements ResponseStore {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #pending = new Map<string, KeptResponse>();
  readonly #forgotten = new Map<string, Pick<KeptResponse, 'id' | 'groupId'>>();
  readonly #writing: LaterWrite;
  readonly #sweeps = every(() => this.sweep(), sweepEveryMs).unref();

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#writing = new LaterWrite({
      write: () => this.#write(),
      failed: (error) => options.log.warn({ error }, 'kept responses cannot be written'),
      delayMs: flushMs,
    });
  }

  mayKeep(response: Pick<KeptResponse, 'response' | 'input'>): boolean {
    return mayKeep(response, this.#options.settings());
  }

  keep(response: Omit<KeptResponse, 'createdAt'>): MaybePromise<void> {
    if (!this.mayKeep(response)) return;
    this.#pending.set(keyOf(response), { ...response, createdAt: this.#now() });
    this.#writing.due();
    return this.#writing.flushSoon();
  }

  async find(id: string, groupId: string): Promise<KeptResponse | undefined> {
    const key = keyOf({ id, groupId });
    if (this.#forgotten.has(key)) return undefined;
    const keptResponse = this.#pending.get(key) ?? (await this.#read(id, groupId));
    return keptResponse && keptResponse.createdAt >= this.#now() - this.#retentionMs() ? keptResponse : undefined;
  }

  forget(id: string, groupId: string): Promise<void> {
    const responseName = { id, groupId };
    this.#pending.delete(keyOf(responseName));
    this.#forgotten.set(keyOf(responseName), responseName);
    this.#writing.due();
    return this.#writing.flush();
  }

  async sweep(): Promise<void> {
    const remove = 'DELETE FROM kept_responses WHERE created_at < $1';
    await this.#try('kept responses cannot be deleted', async () => {
      await this.#options.postgres.ask(remove, this.#now() - this.#retentionMs());
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeps);
    await this.#writing.close();
  }

  #retentionMs(): number {
    return this.#options.settings().retentionHours * hourMs;
  }

  async #read(id: string, groupId: string): Promise<KeptResponse | undefined> {
    const select = 'SELECT * FROM kept_responses WHERE group_id = $1 AND id = $2';
    let keptResponse: KeptResponse | undefined;
    await this.#try('a kept response cannot be read', async () => {
      const { rows } = await this.#options.postgres.ask(select, groupId, id);
      keptResponse = toKeptResponse(rows[0]);
    });
    return keptResponse;
  }

  /**
   * Responses that cannot be written are dropped; their clients then have to send the whole conversation. Failed
   * deletions are retried.
   */
  async #write(): Promise<void> {
    const pending = new Map(this.#pending);
    const forgotten = new Map(this.#forgotten);
    const transaction = this.#options.postgres.transaction(async (queries) => {
      const deletedKeys = [...forgotten.values()].map(({ groupId, id }) => [groupId, id]);
      if (deletedKeys.length > 0) await queries.ask(deleteSql, ...columnsOf(deletedKeys));
      if (pending.size > 0) await this.#insert(queries, [...pending.values()]);
    });
    await transaction.finally(() => removeWritten(this.#pending, pending));
    removeWritten(this.#forgotten, forgotten);
  }

  async #insert(queries: Queries, responses: readonly KeptResponse[]): Promise<void> {
    await queries.ask(upsertSql, ...columnsOf(responses.map(columnsOfKept)));
    const { bytesPerGroup } = this.#options.settings();
    for (const groupId of new Set(responses.map((keptResponse) => keptResponse.groupId))) {
      await queries.ask(trimSql, groupId, bytesPerGroup);
    }
  }

  async #try(warning: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isTemporary(error)) throw error;
      this.#options.log.warn({ error: messageOf(error) }, warning);
    }
  }
}

const keyOf = ({ id, groupId }: Pick<KeptResponse, 'id' | 'groupId'>) => `${groupId}\n${id}`;
