/** Counting limits together with other replicas, in Valkey: its state for people, and its setting. */
import { z } from 'zod';

/** Why Valkey cannot be used now. */
export type SharedCountsProblem =
  | 'unreachable'
  | 'slow'
  | 'read-only'
  | 'out-of-memory'
  | 'credential-refused'
  | 'not-permitted'
  | 'not-ready';

export interface SharedCountsView {
  /** Such as `valkey://valkey.example:6379`, without user and password. */
  address: string;
  /** Null: limits are counted together. Otherwise each replica counts for itself. */
  problem: SharedCountsProblem | null;
  /** Since when it is as it is, in Unix milliseconds. */
  sinceMs: number;
  /** Replicas last seen, with this one. Alone, each allows an equal share of a limit. */
  replicas: number;
}

/** What becomes of requests under a hard budget while Valkey cannot be used. */
export const sharedCountsSchema = z.strictObject({
  /** `closed`: they are refused with 503. `open`: each replica spends an equal share of what was left. */
  hardBudgets: z.enum(['closed', 'open']).default('closed'),
});

export type SharedCountsSettings = z.infer<typeof sharedCountsSchema>;
