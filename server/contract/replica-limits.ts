/** Limits counted together with other replicas in Valkey: the view of its state, and its setting. */
import { z } from 'zod';

/** Why Valkey cannot be used at present. */
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
  /** Null if limits are counted together. Otherwise each replica counts on its own. */
  problem: SharedCountsProblem | null;
  /** Time of the last change of this state, in Unix milliseconds. */
  sinceMs: number;
  /** Number of replicas last seen, including this one. On its own, each allows an equal share of a limit. */
  replicas: number;
}

/** How requests under a hard budget are handled while Valkey cannot be used. */
export const sharedCountsSchema = z.strictObject({
  hardBudgets: z
    .enum(['closed', 'open'])
    .default('closed')
    .describe(
      'Requests under a hard budget while Valkey cannot be used. `closed`: they are refused with 503. `open`: each replica may spend an equal share of the remaining amount.',
    ),
});

export type SharedCountsSettings = z.infer<typeof sharedCountsSchema>;
