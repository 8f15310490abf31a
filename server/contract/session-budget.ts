/** Limits for the cost of a single session. Off by default. */
import { z } from 'zod';

/** US dollars; null if off. */
const amountUsd = z.number().positive().nullable().default(null);

/** Counted from a session's first request, or from when it was last resumed. */
export const sessionBudgetSchema = z.strictObject({
  notifyAtUsd: amountUsd.describe('Cost of a session at which a notification and a webhook are sent.'),
  stopAtUsd: amountUsd.describe('Cost of a session at which its further requests are refused, until it is resumed.'),
});
export type SessionBudget = z.infer<typeof sessionBudgetSchema>;

/** A session has reached an amount of its budget. Reported once for each amount. */
export interface SessionBudgetReached {
  /** As in `SessionView`. */
  sessionId: string;
  keyId: string | null;
  /** `client` of its latest request, as in `RequestRecord`. */
  client: string | null;
  /** `stop`: its further requests are refused. */
  amount: 'notify' | 'stop';
  amountUsd: number;
  usedUsd: number;
}
