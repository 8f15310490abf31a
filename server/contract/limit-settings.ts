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
