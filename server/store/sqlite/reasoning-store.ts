/** Keeps reasoning in memory and, within 100 ms, in SQLite, so that conversations survive a restart. */

import { dayMs, hourMs } from '../../contract/units.ts';
import { after, every } from '../../ground/timers.ts';
import { maxEntryLength, type ReasoningStore } from '../ports/kept-stores.ts';
import { messageOf } from '../rules/failures.ts';
import { entryKeyOf, type KeptReasoning, ReasoningMemory } from '../rules/reasoning-memory.ts';
import type { Database, Statement } from './database.ts';

interface ReasoningStoreOptions {
  database: Database;
  log: { warn(fields: object, message: string): void };
  now?: () => number;
  /** Maximum total length, in characters. */
  maxLength?: number;
}

const flushMs = 50;
const sweepEveryMs = hourMs;

export function createReasoningStore(options: ReasoningStoreOptions): SqliteReasoningStore {
  return new SqliteReasoningStore(options);
}

export class SqliteReasoningStore implements ReasoningStore {
  readonly #options: ReasoningStoreOptions;
  readonly #now: () => number;
  readonly #insert: Statement;
  readonly #select: Statement;
  readonly #remove: Statement;
  readonly #removeBefore: Statement;
  readonly #newest: Statement;
  readonly #sweeps = every(() => this.#sweep(), sweepEveryMs).unref();
  readonly #memory: ReasoningMemory;
  readonly #unwritten = new Map<string, KeptReasoning>();
  /** Evicted from memory, but still on disk. */
  #forgotten: KeptReasoning[] = [];
  /**
   * Until this time the file contains entries of an earlier run that are not in memory. Undefined if not determined
   * yet.
   */
  #olderUntilMs: number | undefined;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: ReasoningStoreOptions) {
    const { database, now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    this.#memory = new ReasoningMemory(options.maxLength);
    this.#insert = database.prepare('INSERT OR REPLACE INTO reasoning VALUES (?, ?, ?, ?)');
    this.#select = database.prepare(
      'SELECT call_id, reasoning FROM reasoning WHERE key_id = ? AND kept_at > ? AND call_id IN (SELECT value FROM json_each(?))',
    );
    this.#remove = database.prepare('DELETE FROM reasoning WHERE key_id = ? AND call_id = ?');
    this.#removeBefore = database.prepare('DELETE FROM reasoning WHERE kept_at <= ?');
    this.#newest = database.prepare('SELECT max(kept_at) AS newest FROM reasoning');
  }

  keep(keyId: string, callId: string, reasoning: string): void {
    if (reasoning.length > maxEntryLength) return;
    // Must happen before this run's first write.
    this.#learnOlder();
    const entry = { keyId, callId, keptAtMs: this.#now(), reasoning };
    this.#unwritten.set(entryKeyOf(entry), entry);
    for (const evicted of this.#memory.set(entry)) {
      if (!this.#unwritten.delete(entryKeyOf(evicted))) this.#forgotten.push(evicted);
    }
    this.#timer ??= after(this.flush, flushMs).unref();
  }

  find(keyId: string, callIds: readonly string[]): ReadonlyMap<string, string> {
    const reasoningByCall = new Map<string, string>();
    const afterMs = this.#now() - dayMs;
    const missing: string[] = [];
    for (const callId of callIds) {
      const entry = this.#memory.get(keyId, callId);
      if (!entry) missing.push(callId);
      else if (entry.keptAtMs > afterMs) reasoningByCall.set(callId, entry.reasoning);
    }
    if (missing.length > 0) this.#findOlder(keyId, missing, reasoningByCall);
    return reasoningByCall;
  }

  readonly flush = (): void => {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#unwritten.size === 0 && this.#forgotten.length === 0) return;
    this.#quietly('reasoning cannot be written', () => {
      this.#options.database.transaction(() => {
        for (const { keyId, callId } of this.#forgotten) this.#remove.run(keyId, callId);
        for (const { keyId, callId, keptAtMs, reasoning } of this.#unwritten.values()) {
          this.#insert.run(keyId, callId, keptAtMs, reasoning);
        }
      });
    });
    // Entries that could not be written remain in memory only.
    this.#unwritten.clear();
    this.#forgotten = [];
  };

  close(): void {
    clearInterval(this.#sweeps);
    this.flush();
  }

  /** Runs a single statement for any number of calls, and none once a day has passed since the start. */
  #findOlder(keyId: string, callIds: readonly string[], reasoningByCall: Map<string, string>): void {
    this.#learnOlder();
    const nowMs = this.#now();
    if (nowMs >= (this.#olderUntilMs ?? Number.POSITIVE_INFINITY)) return;
    this.#quietly('reasoning cannot be read', () => {
      for (const { call_id: callId, reasoning } of this.#select.all(keyId, nowMs - dayMs, JSON.stringify(callIds))) {
        reasoningByCall.set(String(callId), String(reasoning));
      }
    });
  }

  #learnOlder(): void {
    if (this.#olderUntilMs !== undefined) return;
    this.#quietly('reasoning cannot be read', () => {
      const newest = this.#newest.get()?.newest;
      this.#olderUntilMs = typeof newest === 'number' ? newest + dayMs : 0;
    });
  }

  #sweep(): void {
    const beforeMs = this.#now() - dayMs;
    this.#memory.deleteUntil(beforeMs);
    this.#quietly('old reasoning cannot be deleted', () => this.#removeBefore.run(beforeMs));
  }

  #quietly(message: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.log.warn({ error: messageOf(error) }, message);
    }
  }
}
