/**
 * Stores reasoning that clients do not bring back, by client key and tool call id, for one day. Number and size are limited;
 * the oldest entries are evicted.
 */
import type { MaybePromise } from '../../ground/promises.ts';

/** Maximum length in characters. Longer reasoning of one answer is rare and not stored. */
export const maxEntryLength = 512 * 1024;

export interface ReasoningStore {
  /** Stores `reasoning`, which is opaque to the store. Never throws. */
  keep(keyId: string, callId: string, reasoning: string): void;
  /**
   * Reads entries into memory for the next `find`; null if they are already there. Never rejects. Absent if `find`
   * needs no preparation.
   */
  prefetch?(keyId: string, callIds: readonly string[]): Promise<void> | null;
  /** Returns the stored reasoning by call id. Never throws; entries that cannot be read are omitted. */
  find(keyId: string, callIds: readonly string[]): ReadonlyMap<string, string>;
  flush(): MaybePromise<void>;
  close(): MaybePromise<void>;
}
