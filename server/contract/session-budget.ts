/** What a single session may cost. Off by default. */
import { z } from 'zod';

/** US dollars; null: off. */
const amountUsd = z.number().positive().nullable().default(null);

/** Counted from a session's first request, or from when it was last resumed. */
export const sessionBudgetSchema = z.strictObject({
  /** A notification and a webhook report a session that has cost this much. */
  notifyAtUsd: amountUsd,
  /** Further requests of a session that has cost this much are refused until it is resumed. */
  stopAtUsd: amountUsd,
});
export type SessionBudget = z.infer<typeof sessionBudgetSchema>;

/** A session has reached an amount of its budget; reported once for each amount. */
export interface SessionBudgetReached {
  /** As in `SessionView`. */
  sessionId: string;
  keyId: string | null;
  /** As in `RequestRecord`, of its latest request. */
  client: string | null;
  /** `stop`: its further requests are refused. */
  amount: 'notify' | 'stop';
  amountUsd: number;
  usedUsd: number;
}
