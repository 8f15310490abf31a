/** Reads from an error's message how many tokens a request had and how many the model accepts. */
import { boundedPattern } from '../../../ground/bounded-pattern.ts';

interface Overflow {
  /** Tokens sent, or used together with the answer. */
  tokens: number;
  limit: number;
}

/**
 * OpenAI and vLLM: "maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens"; Anthropic:
 * "prompt is too long: 9001 tokens > 8192 maximum" and "… exceed context limit: 8000 + 1001 > 8192"; Google: "The input token
 * count (9001) exceeds the maximum number of tokens allowed (8192)"; llama.cpp: "the request exceeds the available context
 * size" with numbers in other members.
 */
const limitFirst = boundedPattern(/maximum (?:context length|model length)[^\d]{0,40}(\d{1,9})[^\d]{1,200}(\d{1,9})/i);
const tokensFirst = boundedPattern(
  /(\d{1,9})\)? ?(?:tokens? ?)?(?:>|exceeds?|is (?:greater|longer)[a-z ]{0,20} than)[^\d]{0,60}(\d{1,9})/i,
);
const sum = boundedPattern(/(\d{1,9}) \+ (\d{1,9}) > (\d{1,9})/);

/** Null if it is another error, or contains no numbers. */
export function overflowIn({ message, code }: { message: string; code: string | null }): Overflow | null {
  const added = sum.exec(message);
  if (added) return { tokens: Number(added[1]) + Number(added[2]), limit: Number(added[3]) };
  const byTokens = tokensFirst.exec(message);
  if (byTokens && (code === 'context_length_exceeded' || mentionsLength.test(message)))
    return toOverflow(byTokens[1], byTokens[2]);
  const byLimit = limitFirst.exec(message);
  return byLimit ? toOverflow(byLimit[2], byLimit[1]) : null;
}

const mentionsLength = boundedPattern(/prompt is too long|context|input token count/i);

function toOverflow(tokens: string | undefined, limit: string | undefined): Overflow | null {
  const overflow = { tokens: Number(tokens), limit: Number(limit) };
  return overflow.tokens > overflow.limit ? overflow : null;
}
