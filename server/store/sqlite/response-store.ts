/** Stores kept responses in SQLite. Writes happen within 50 ms, off the request path; a lookup is a point read. */

import type { Settings } from '../../contract/settings.ts';
import { hourMs } from '../../contract/units.ts';
import { after, every } from '../../ground/timers.ts';
import type { KeptResponse, ResponseStore } from '../ports/kept-stores.ts';
import { number, type Row, text } from '../rules/columns.ts';
import { isTemporary, messageOf } from '../rules/failures.ts';
import type { Database } from './database.ts';
import type { SweepClock } from './retention.ts';

interface Options {
  database: Database;
  log: { warn(fields: object, message: string): void };
  sweepClock: SweepClock;
  settings(): Settings['keptResponses'];
}

const flushMs = 50;
const sweepEveryMs = 15 * 60_000;

export class SqliteResponseStore implements ResponseStore {
  readonly #options: Options;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #pending = new Map<string, KeptResponse>();
  readonly #sweeps = every(() => this.sweep(), sweepEveryMs).unref();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#statements = prepareStatements(options.database);
  }

  mayKeep(response: Pick<KeptResponse, 'response' | 'input'>): boolean {
    return mayKeep(response, this.#options.settings());
  }

  keep(response: Omit<KeptResponse, 'createdAt'>): void {
    if (!this.mayKeep(response)) return;
    const { id, groupId } = response;
    this.#pending.set(keyOf(id, groupId), { ...response, createdAt: this.#options.sweepClock.latestMs() });
    this.#timer ??= after(() => this.#flush(), flushMs).unref();
  }

  find(id: string, groupId: string): KeptResponse | undefined {
    const keptResponse = this.#pending.get(keyOf(id, groupId)) ?? this.#read(id, groupId);
    return keptResponse && keptResponse.createdAt >= this.#options.sweepClock.latestMs() - this.#retentionMs()
      ? keptResponse
      : undefined;
  }

  forget(id: string, groupId: string): void {
    this.#pending.delete(keyOf(id, groupId));
    this.#try('a kept response cannot be deleted', () => this.#statements.remove.run(groupId, id));
  }

  sweep(): void {
    this.#try('kept responses cannot be deleted', () => {
      const { earliestMs } = this.#options.sweepClock.read();
      this.#statements.removeOlder.run(earliestMs - this.#retentionMs());
    });
  }

  close(): void {
    clearInterval(this.#sweeps);
    this.#flush();
  }

  #retentionMs(): number {
    return this.#options.settings().retentionHours * hourMs;
  }

  #read(id: string, groupId: string): KeptResponse | undefined {
    let keptResponse: KeptResponse | undefined;
    this.#try('a kept response cannot be read', () => {
      keptResponse = toKeptResponse(this.#statements.select.get(groupId, id));
    });
    return keptResponse;
  }

  /** Responses that cannot be written are dropped; their clients then have to send the whole conversation. */
  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const pending = [...this.#pending.values()];
    if (pending.length === 0) return;
    const { insert } = this.#statements;
    this.#try('kept responses cannot be written', () =>
      this.#options.database.transaction(() => {
        for (const keptResponse of pending) insert.run(...columnsOfKept(keptResponse));
        for (const groupId of new Set(pending.map((keptResponse) => keptResponse.groupId))) this.#trim(groupId);
      }),
    );
    this.#pending.clear();
  }

  #trim(groupId: string): void {
    const { bytesPerGroup } = this.#options.settings();
    let bytes = 0;
    for (const [index, row] of this.#statements.sizes.all(groupId).entries()) {
      bytes += Number(row.bytes);
      if (index >= maxResponses || bytes > bytesPerGroup) this.#statements.removeRow.run(Number(row.rowid));
    }
  }

  #try(warning: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!isTemporary(error)) throw error;
      this.#options.log.warn({ error: messageOf(error) }, warning);
    }
  }
}

const keyOf = (id: string, groupId: string) => `${groupId}\n${id}`;

// Limits for kept responses, and the SQLite statements for the table `kept_responses`.

/** Migrations of `responses.sqlite`. */
export const keptResponseMigrations: readonly string[] = [
  `
  CREATE TABLE kept_responses (
    group_id TEXT NOT NULL, id TEXT NOT NULL, created_at REAL NOT NULL, bytes INTEGER NOT NULL,
    response TEXT NOT NULL, input TEXT NOT NULL,
    PRIMARY KEY (group_id, id)
  );
  CREATE INDEX kept_responses_by_time ON kept_responses (group_id, created_at, bytes);
  `,
];

/** Maximum number of responses per group. */
export const maxResponses = 2_000;
/** One response may take at most 1/8 of its group's bytes. */
const largestPart = 8;

/** False if the response is too long, or if storage is disabled. */
export function mayKeep(
  response: Pick<KeptResponse, 'response' | 'input'>,
  { retentionHours, bytesPerGroup }: Settings['keptResponses'],
): boolean {
  return retentionHours > 0 && sizeOf(response) <= bytesPerGroup / largestPart;
}

/** Upper bound of the stored size in bytes: the size of the texts in UTF-16. */
function sizeOf({ response, input }: Pick<KeptResponse, 'response' | 'input'>): number {
  return 2 * (response.length + input.length);
}

/** In the order of the table's columns. */
export function columnsOfKept({ groupId, id, createdAt, response, input }: KeptResponse) {
  return [groupId, id, createdAt, sizeOf({ response, input }), response, input] as const;
}

export function toKeptResponse(row: Row | undefined): KeptResponse | undefined {
  if (row === undefined) return undefined;
  return {
    id: text(row.id) ?? '',
    groupId: text(row.group_id) ?? '',
    createdAt: number(row.created_at) ?? 0,
    response: text(row.response) ?? '',
    input: text(row.input) ?? '',
  };
}

function prepareStatements(database: Database) {
  return {
    insert: database.prepare('INSERT OR REPLACE INTO kept_responses VALUES (?, ?, ?, ?, ?, ?)'),
    select: database.prepare('SELECT * FROM kept_responses WHERE group_id = ? AND id = ?'),
    remove: database.prepare('DELETE FROM kept_responses WHERE group_id = ? AND id = ?'),
    removeOlder: database.prepare('DELETE FROM kept_responses WHERE created_at < ?'),
    /** Ordered newest first, so that rows beyond the limits come last. */
    sizes: database.prepare(
      'SELECT rowid, bytes FROM kept_responses WHERE group_id = ? ORDER BY created_at DESC, rowid DESC',
    ),
    removeRow: database.prepare('DELETE FROM kept_responses WHERE rowid = ?'),
  };
}
