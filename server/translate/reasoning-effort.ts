/** Efforts and budgets of reasoning, into one another. */

import { entryOf } from '../wire/table-entry.ts';
import type { ReasoningRequest } from './neutral.ts';

/** Tokens that each effort stands for; about what the services themselves spend. */
const budgets: Record<string, number> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 128_000,
};

/** Undefined where the client has said neither, or an effort that nobody knows. */
export function budgetOf({ effort, budgetTokens }: ReasoningRequest): number | undefined {
  return budgetTokens ?? (effort === undefined ? undefined : entryOf(budgets, effort));
}

/** OpenAI's name of what was asked for; undefined where the client leaves it to the model. */
export function effortOf({ effort, budgetTokens }: ReasoningRequest): string | undefined {
  if (effort !== undefined || budgetTokens === undefined || budgetTokens < 0) return effort;
  const found = Object.entries(budgets).find(([, tokens]) => budgetTokens <= tokens)?.[0] ?? 'xhigh';
  return found === 'max' ? 'xhigh' : found;
}

export function isOff(reasoning: ReasoningRequest | undefined): boolean {
  return reasoning?.effort === 'none' || reasoning?.budgetTokens === 0;
}

/** The nearest of those that a model takes, from the least to the most; undefined where it knows none. */
export function nearestEffort<Taken extends string>(effort: string, taken: readonly Taken[]): Taken | undefined {
  const wanted = entryOf(budgets, effort) ?? budgets.medium ?? 0;
  return taken.findLast((each) => (entryOf(budgets, each) ?? 0) <= wanted) ?? taken[0];
}
