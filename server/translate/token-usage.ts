/** Token counts as reported by upstreams. */
import type { TokenUsage } from './neutral-answer.ts';

export const noUsage: TokenUsage = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWriteOneHour: 0,
  output: 0,
  reasoning: 0,
};

/** 0 if the value is not a count. Google writes long counts as strings. */
export function countOf(value: unknown): number {
  const count = typeof value === 'string' ? Number(value) : value;
  return typeof count === 'number' && Number.isFinite(count) && count > 0 ? Math.round(count) : 0;
}

/** All tokens that the model read. */
export function promptTokens({ input, cacheRead, cacheWrite }: TokenUsage): number {
  return input + cacheRead + cacheWrite;
}

/** OpenAI counts cached tokens within the input, and reasoning within the output. Here each token is counted once. */
export function countedOnce(
  totals: { input: unknown; output: unknown },
  parts: Omit<TokenUsage, 'input' | 'output'>,
): TokenUsage {
  return {
    ...parts,
    input: Math.max(0, countOf(totals.input) - parts.cacheRead - parts.cacheWrite),
    output: Math.max(0, countOf(totals.output) - parts.reasoning),
  };
}
