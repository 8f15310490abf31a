/** Converts between efforts and budgets of reasoning. */

import type { OpenaiFacts } from '../../../models/model-facts.ts';
import { entryOf } from '../../core/table-entry.ts';
import type { ReasoningRequest } from '../conversation.ts';
import type { Rendering } from './rendering.ts';

/** Tokens for each effort, close to what the services themselves use. */
const budgets: Record<string, number> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 128_000,
};

/** Undefined if the client specified neither, or an unknown effort. */
export function budgetOf({ effort, budgetTokens }: ReasoningRequest): number | undefined {
  return budgetTokens ?? (effort === undefined ? undefined : entryOf(budgets, effort));
}

/** OpenAI's name for the effort; undefined if the client leaves it to the model. */
export function effortOf({ effort, budgetTokens }: ReasoningRequest): string | undefined {
  if (effort !== undefined || budgetTokens === undefined || budgetTokens < 0) return effort;
  const level = Object.entries(budgets).find(([, tokens]) => budgetTokens <= tokens)?.[0] ?? 'xhigh';
  return level === 'max' ? 'xhigh' : level;
}

export function isOff(reasoning: ReasoningRequest | undefined): boolean {
  return reasoning?.effort === 'none' || reasoning?.budgetTokens === 0;
}

/**
 * The closest effort that a model accepts, and not more than `effort` if possible. `accepted`: from least to most. An
 * unknown effort counts as medium. Undefined if the model accepts none.
 */
export function nearestEffort<Effort extends string>(effort: string, accepted: readonly Effort[]): Effort | undefined {
  const requestedTokens = entryOf(budgets, effort) ?? budgets.medium ?? 0;
  return accepted.findLast((each) => (entryOf(budgets, each) ?? 0) <= requestedTokens) ?? accepted[0];
}

/** Undefined for models that do not reason, which refuse the parameter. */
export function effortFor(rendering: Rendering, { efforts }: OpenaiFacts): string | undefined {
  const { reasoning } = rendering.conversation;
  const effort = reasoning && effortOf(reasoning);
  if (effort === undefined) return undefined;
  const nearest = nearestEffort(effort, efforts);
  if (nearest === undefined && !isOff(reasoning)) rendering.drop('reasoning', effort, 'model-takes-none');
  else if (nearest !== undefined && nearest !== effort) rendering.emulate('reasoning', 'out-of-range');
  return nearest;
}
