/** Determines how a Claude model should think, and the maximum length of its answer including thinking. */
import { largestAnswer } from '../../../models/largest-answer.ts';
import type { ClaudeFacts } from '../../../models/model-facts.ts';
import { budgetOf, effortOf, isOff, nearestEffort } from '../../neutral/requests/reasoning-effort.ts';
import type { Rendering } from '../../neutral/requests/rendering.ts';

interface Reasoning {
  thinking?: { type: string; budget_tokens?: number; display?: string } | undefined;
  effort?: string | undefined;
  maxTokens: number;
}

/** The smallest `budget_tokens`, according to Anthropic's API reference. */
const minBudget = 1024;

/** Anthropic's API requires a maximum. All models behind it accept this one. */
const unknownMaxTokens = 32_000;

interface Circumstances {
  /** The model must call a tool, which Claude 4.5 and 4.6 accept only without thinking. */
  isForced: boolean;
  isInUnthinkingLoop: boolean;
}

export function renderReasoning(rendering: Rendering, facts: ClaudeFacts, circumstances: Circumstances): Reasoning {
  const { reasoning, maxOutputTokens } = rendering.conversation;
  const { target } = rendering;
  const limit = target.maxOutputTokens ?? largestAnswer(target.model) ?? unknownMaxTokens;
  const maxTokens = Math.min(maxOutputTokens ?? limit, limit);
  if (maxOutputTokens !== undefined && maxOutputTokens > maxTokens)
    rendering.emulate('maxOutputTokens', 'out-of-range');
  const isWanted = reasoning !== undefined && !isOff(reasoning);
  const mustNotThink = circumstances.isForced && facts.forcedTool === 'unthinking';
  if (mustNotThink && isWanted) rendering.emulate('reasoning', 'reasoning-off');
  if (isOff(reasoning) || mustNotThink) return leastThinking(facts, maxTokens);

  const effort = reasoning && effortOf(reasoning);
  // Clients show thoughts unless configured otherwise, but the newest models return none by default.
  const display = reasoning?.isVisible === false ? {} : { display: 'summarized' };
  if (facts.thinking.includes('adaptive')) {
    const nearest = effort === undefined ? undefined : nearestEffort(effort, facts.efforts);
    const thinks = isWanted || facts.thinksByDefault;
    return { thinking: thinks ? { type: 'adaptive', ...display } : undefined, effort: nearest, maxTokens };
  }
  const budget = reasoning && budgetOf(reasoning);
  if (budget === undefined || !facts.thinking.includes('enabled')) {
    if (effort !== undefined) rendering.drop('reasoning', effort, 'model-takes-none');
    return { maxTokens };
  }
  if (circumstances.isInUnthinkingLoop || target.withoutReasoning === true) {
    rendering.emulate('reasoning', 'reasoning-off');
    return { maxTokens };
  }
  return withBudget({ budget, maxTokens, limit, isStated: maxOutputTokens !== undefined });
}

/** The least thinking that the model supports; absent if it does not think by default. */
function leastThinking({ thinking, efforts, thinksByDefault }: ClaudeFacts, maxTokens: number): Reasoning {
  const type = (['disabled', 'between_tools'] as const).find((each) => thinking.includes(each));
  if (type !== undefined) return { thinking: { type }, maxTokens };
  return { effort: thinksByDefault ? nearestEffort('none', efforts) : undefined, maxTokens };
}

interface Budget {
  budget: number;
  maxTokens: number;
  /** Maximum number of tokens that the model can write, including thinking. */
  limit: number;
  /** Whether the client limited the answer; clients do not count thinking towards that limit. */
  isStated: boolean;
}

/** Anthropic counts thinking towards `max_tokens`, which must be greater than the budget. */
function withBudget({ budget, maxTokens, limit, isStated }: Budget): Reasoning {
  const wantedBudget = Math.max(minBudget, budget);
  const total = isStated && wantedBudget >= maxTokens ? Math.min(limit, maxTokens + wantedBudget) : maxTokens;
  const budgetTokens = Math.min(wantedBudget, total - 1);
  if (budgetTokens < minBudget) return { maxTokens };
  return { thinking: { type: 'enabled', budget_tokens: budgetTokens }, maxTokens: total };
}
