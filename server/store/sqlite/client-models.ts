/** Which models clients ask for: of the requests since a moment, of which those read once are remembered. */
import { setImmediate } from 'node:timers/promises';
import { ClientModels, type ClientModelUse, clientModelsSql } from '../rules/client-models.ts';
import type { Database } from './database.ts';
import { firstSince, wholeRange } from './seek.ts';

const rowsPerBatch = 4_000;

/** What has been read: all requests since `sinceMs` before the sequence number `end`. */
interface Read {
  sinceMs: number;
  end: number;
  models: ClientModels;
}

/**
 * There is no index on clients, and a panel asks about the same day again and again, so each request is read once. Only
 * those from the oldest running one on are read anew, because a row gets its client when it ends.
 */
export class RecentClientModels {
  readonly #database: Database;
  #read: Read | null = null;

  constructor(database: Database) {
    this.#database = database;
  }

  async since(sinceMs: number): Promise<ClientModelUse[]> {
    const { high } = wholeRange(this.#database);
    const { end, models } = await this.#readTo(Math.min(this.#oldestRunning(), high), sinceMs);
    const all = new ClientModels(models);
    await this.#add(all, { from: end, to: high, sinceMs });
    return all.list;
  }

  async #readTo(end: number, sinceMs: number): Promise<Read> {
    const last = this.#read;
    // A file that was replaced begins anew.
    const isOfUse = last?.sinceMs === sinceMs && last.end <= end;
    const read: Read = { sinceMs, end, models: new ClientModels(isOfUse ? last.models : undefined) };
    const from = isOfUse ? last.end : Math.min(firstSince(this.#database, sinceMs), end);
    await this.#add(read.models, { from, to: end, sinceMs });
    this.#read = read;
    return read;
  }

  async #add(
    models: ClientModels,
    { from, to, sinceMs }: { from: number; to: number; sinceMs: number },
  ): Promise<void> {
    const select = this.#database.prepare(
      `WITH asked AS (SELECT * FROM requests WHERE seq >= ? AND seq < ? AND started_at >= ?) ${clientModelsSql('asked')}`,
    );
    for (let low = from; low < to; low += rowsPerBatch) {
      models.add(select.all(low, Math.min(low + rowsPerBatch, to), sinceMs));
      if (low + rowsPerBatch < to) await setImmediate();
    }
  }

  #oldestRunning(): number {
    const running = this.#database
      .prepare('SELECT min(seq) AS seq FROM requests INDEXED BY requests_running WHERE outcome IS NULL')
      .get();
    return Number(running?.seq ?? Number.MAX_SAFE_INTEGER);
  }
}
