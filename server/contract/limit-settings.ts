/** Limits as the configuration has them. */
import { z } from 'zod';

export const mostBudgets = 16;

const budgetSchema = z.strictObject({
  unit: z.enum(['usd', 'tokens']).describe('What is counted.'),
  amount: z.number().positive().describe('How much of it a period may use.'),
  per: z.enum(['day', 'week', 'month', 'total']).describe('Calendar periods in local time; weeks begin on Monday.'),
  hard: z.boolean().default(true).describe('Refuse requests once the budget is spent; otherwise only report it.'),
  notifyAt: z
    .array(z.number().int().min(1).max(100))
    .max(8)
    .optional()
    .describe('The percentages that are reported when they are reached. Absent: 80 and 100.'),
});

/** Limits of a key, or of all keys of a group together. An absent field means no limit. */
export const limitsSchema = z.strictObject({
  requestsPerMinute: z.number().int().positive().optional().describe('Requests in any minute.'),
  tokensPerMinute: z.number().int().positive().optional().describe('Input and output tokens together.'),
  concurrent: z.number().int().positive().optional().describe('Requests running at the same time.'),
  budgets: z.array(budgetSchema).max(mostBudgets).default([]).describe('Amounts that a calendar period may use.'),
});

export type Limits = z.infer<typeof limitsSchema>;
export type Budget = z.infer<typeof budgetSchema>;

/** US dollars; null if off. */
const amountUsd = z.number().positive().nullable().default(null);

/**
 * Limits for the cost of a single session. Off by default.
 *
 * Counted from a session's first request, or from when it was last resumed.
 */
export const sessionBudgetSchema = z.strictObject({
  notifyAtUsd: amountUsd.describe('Cost of a session at which a notification and a webhook are sent.'),
  stopAtUsd: amountUsd.describe('Cost of a session at which its further requests are refused, until it is resumed.'),
});
export type SessionBudget = z.infer<typeof sessionBudgetSchema>;
