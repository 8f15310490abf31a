/** Stores kept responses in SQLite. Writes happen within 50 ms, off the request path; a lookup is a point read. */

import type { Settings } from '../../contract/settings.ts';
import { hourMs } from '../../contract/units.ts';
import { after, every } from '../../ground/timers.ts';
import type { KeptResponse, ResponseStore } from '../ports/response-store.ts';
import { isTemporary, messageOf } from '../rules/failures.ts';
import type { Database } from './database.ts';
import { columnsOfKept, maxResponses, mayKeep, prepareStatements, toKeptResponse } from './kept-response-rows.ts';
import type { SweepClock } from './sweep-clock.ts';

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
