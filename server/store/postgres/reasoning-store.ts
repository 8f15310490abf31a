/**
 * Reasoning that clients cannot carry, in memory and in PostgreSQL. Entries stored by other replicas are read into
 * memory before a conversation is translated.
 */

import { dayMs, hourMs } from '../../contract/units.ts';
import { settleWithin } from '../../ground/timers.ts';
import { maxEntryLength, type ReasoningStore } from '../ports/kept-stores.ts';
import { messageOf } from '../rules/failures.ts';
import { entryKeyOf, type KeptReasoning, ReasoningMemory } from '../rules/reasoning-memory.ts';
import { storableName } from '../rules/storable-row.ts';
import { LaterWrite } from './later-write.ts';
import { columnsOf, type Postgres, removeWritten, repeat, replaced, unnest } from './postgres.ts';

interface Options {
  postgres: Postgres;
  log: { warn(fields: object, message: string): void };
  now?: () => number;
}

const flushMs = 5;
const sweepEveryMs = hourMs;
/** After this time, a request continues without the entries that have not been read. */
const readMs = 1_000;
/** The most entries that wait while the database is unavailable. */
const maxPending = 2_000;

/** Column types. */
export const reasoningTypes = { key_id: 'text', call_id: 'text', kept_at: 'double precision', reasoning: 'text' };
const upsertSql = `INSERT INTO reasoning (${Object.keys(reasoningTypes).join(', ')}) SELECT * FROM ${unnest(reasoningTypes)}
  ON CONFLICT (key_id, call_id) DO UPDATE SET ${replaced(['kept_at', 'reasoning'])}`;
const selectSql =
  'SELECT call_id, kept_at, reasoning FROM reasoning WHERE key_id = $1 AND kept_at > $2 AND call_id = ANY($3)';

export class PostgresReasoningStore implements ReasoningStore {
  readonly #options: Options;
  readonly #now: () => number;
  readonly #memory = new ReasoningMemory();
  readonly #pending = new Map<string, KeptReasoning>();
  readonly #writing: LaterWrite;
  readonly #sweeps: NodeJS.Timeout;

  constructor(options: Options) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#writing = new LaterWrite({
      write: () => this.#write(),
      failed: (error) => options.log.warn({ error }, 'reasoning cannot be written'),
      delayMs: flushMs,
    });
    this.#sweeps = repeat({
      everyMs: sweepEveryMs,
      work: () => this.#sweep(),
      log: options.log,
      failed: 'old reasoning cannot be deleted',
    });
  }

  /** Upstreams choose the ids of calls. */
  keep(keyId: string, callId: string, reasoning: string): void {
    if (reasoning.length > maxEntryLength) return;
    const keptReasoning = { keyId, callId: storableName(callId), keptAtMs: this.#now(), reasoning };
    this.#memory.set(keptReasoning);
    this.#pending.set(entryKeyOf(keptReasoning), keptReasoning);
    const [oldest] = this.#pending.keys();
    if (this.#pending.size > maxPending && oldest !== undefined) this.#pending.delete(oldest);
    this.#writing.due();
  }

  prefetch(keyId: string, callIds: readonly string[]): Promise<void> | null {
    const missing = callIds.map(storableName).filter((callId) => !this.#memory.get(keyId, callId));
    return missing.length === 0 ? null : settleWithin(readMs, this.#read(keyId, missing));
  }

  async #read(keyId: string, callIds: readonly string[]): Promise<void> {
    try {
      const { rows } = await this.#options.postgres.ask(selectSql, keyId, this.#now() - dayMs, callIds);
      for (const row of rows) {
        const reasoning = String(row.reasoning);
        this.#memory.set({ keyId, callId: String(row.call_id), keptAtMs: Number(row.kept_at), reasoning });
      }
    } catch (error) {
      this.#options.log.warn({ error: messageOf(error) }, 'reasoning cannot be read');
    }
  }

  find(keyId: string, callIds: readonly string[]): ReadonlyMap<string, string> {
    const afterMs = this.#now() - dayMs;
    const reasoningByCall = new Map<string, string>();
    for (const callId of callIds) {
      const keptReasoning = this.#memory.get(keyId, storableName(callId));
      if (keptReasoning && keptReasoning.keptAtMs > afterMs) reasoningByCall.set(callId, keptReasoning.reasoning);
    }
    return reasoningByCall;
  }

  flush(): Promise<void> {
    return this.#writing.flush();
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeps);
    await this.#writing.close();
  }

  async #write(): Promise<void> {
    const pending = new Map(this.#pending);
    if (pending.size === 0) return;
    const rows = [...pending.values()].map((keptReasoning) => [
      keptReasoning.keyId,
      keptReasoning.callId,
      keptReasoning.keptAtMs,
      keptReasoning.reasoning,
    ]);
    await this.#options.postgres.ask(upsertSql, ...columnsOf(rows));
    removeWritten(this.#pending, pending);
  }

  async #sweep(): Promise<void> {
    const beforeMs = this.#now() - dayMs;
    this.#memory.deleteUntil(beforeMs);
    await this.#options.postgres.ask('DELETE FROM reasoning WHERE kept_at <= $1', beforeMs);
  }
}
