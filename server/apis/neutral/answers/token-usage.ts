/** Token counts for clients, from the usage that upstreams report. */
import type { Usage } from '../../../contract/ledger.ts';
import { plausibleUsage, unbounded } from '../../core/token-counts.ts';
import { StreamedUsage, type UsageReports } from '../../core/usage/reported-usage.ts';
import type { AnswerEvent, TokenUsage } from '../neutral-answer.ts';

export const noUsage: TokenUsage = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWriteOneHour: 0,
  output: 0,
  reasoning: 0,
};

/** The usage that the events of a stream report. */
export class EventUsage {
  readonly #usage: StreamedUsage;

  constructor(reports: UsageReports) {
    this.#usage = new StreamedUsage(reports);
  }

  /** An event with the usage so far, if this one reports any. */
  eventsOf(event: Record<string, unknown>): AnswerEvent[] {
    const usage = this.#usage.push(event);
    return usage === null ? [] : [{ type: 'usage', usage: tokensOf(usage) }];
  }
}

/** The usage as the ledger has it, with each token counted once. */
function tokensOf(reported: Usage): TokenUsage {
  const { usage } = plausibleUsage(reported, unbounded);
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  return {
    input: Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens),
    cacheRead: cachedInputTokens,
    cacheWrite: cacheWriteTokens,
    cacheWriteOneHour: usage.cacheWriteOneHourTokens ?? 0,
    output: Math.max(0, outputTokens - reasoningTokens),
    reasoning: reasoningTokens,
  };
}

/** All tokens that the model read. */
export function promptTokens({ input, cacheRead, cacheWrite }: TokenUsage): number {
  return input + cacheRead + cacheWrite;
}
