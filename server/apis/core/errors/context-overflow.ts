/** Recognises that a request does not fit into the model's context, in the words of any service. The only place that does. */
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import type { Overflow } from '../upstream-error.ts';

interface Words {
  message: string;
  /** Some services name the error in `type`. */
  type?: string;
  code: string | null;
  /** Numbers that stand in members of their own. */
  overflow?: Overflow | undefined;
}

/** OpenAI and most others; LiteLLM; llama.cpp; SambaNova; Perplexity; GitHub Models. Gateways may have them within a message. */
const names = boundedPattern(
  /context_(?:length|window)_exceeded|contextwindowexceeded|exceed_context_size|prompt_too_long|too_many_prompt_tokens|tokens_limit_reached/i,
);
/** Zhipu; Baidu. */
const codes = new Set(['1261', '336103']);

/**
 * - "This model's maximum context length is 8192 tokens", also of prompt, model and input (OpenAI, vLLM, OpenRouter, xAI, TensorRT-LLM)
 * - "exceeds the context window", "is longer than the model's context length", "would exceed context limit" (OpenAI,
 *   Anthropic, llama.cpp, SGLang, Together, LM Studio, Ollama)
 * - "context window exceeds limit" (MiniMax), "context length is only", "context the overflows", "Reached context length of"
 *   (LM Studio), "the configured context size" (DS4), "too large for model with 8192 maximum context length" (Mistral)
 * - "prompt is too long" (Anthropic, Fireworks), "Input is too long for requested model" (Bedrock), "too long to fit" (vLLM)
 * - "too many tokens" (Cohere), "reduce the length of the messages" (Groq, Cerebras), "Reduce the input token count" (Vertex AI)
 * - "The input token count (9001) exceeds" (Google), "prompt token count of 9001 exceeds the limit" (GitHub Copilot), "Input
 *   tokens exceed the configured limit" (OpenAI), "Input Tokens Exceeded" (Nova), "exceed max message tokens" (Volcengine)
 * - "exceeded model token limit" (Moonshot), "token limit exceeded", "total number of tokens … cannot exceed" (Cohere)
 * - "`inputs` must have less than 4096 tokens", "`inputs` tokens + `max_new_tokens` must be <=" (Text Generation Inference)
 * - "Input length 9001 exceeds the maximum length 8192" (Volcengine, NVIDIA NIM), "token count exceeds the upper limit" (iFlytek),
 *   "greater than max_seq_len" (TabbyAPI), "max_model_len" (vLLM's engine), "max tokens of 8192 exceeded" (Snowflake)
 * - "Request body too large for gpt-4o model. Max size: 8000 tokens." (GitHub Models), "conversation is too long"
 * - "tokens in total, larger than the model capacity" (MLC), "greater than the model length" (Nebius), "the maximum supported
 *   sequence length" (SambaNova), "prompt length (9001), query length (0) and max_tokens (1) should not exceed" (TensorRT-LLM)
 * - "Range of input length should be [1, 30720]" (Qwen), "Prompt exceeds max length", "Prompt 超长" (Zhipu)
 */
const wordings = [
  boundedPattern(
    /\bmax(?:imum)?[ _](?:(?:allowed|supported) )?(?:context|prompt|model|sequence|seq|input)[ _](?:len(?:gth)?|window|size|tokens?)\b/i,
  ),
  boundedPattern(
    /(?:exceed\w{0,3}|(?:larg|great|long)er than|beyond|too (?:large|long) for|overflow\w{0,3})\b[^.]{0,80}\bcontext\b/i,
  ),
  boundedPattern(
    /\bcontext (?:length|window|size|limit)\b[^.]{0,60}\b(?:exceed\w{0,3}|overflow\w{0,3}|is only|is too small)/i,
  ),
  boundedPattern(
    /\bcontext (?:the )?overflow|\breached (?:the )?context length|configured context size|too long to fit\b/i,
  ),
  boundedPattern(/\b(?:prompt|input)(?: tokens?| length)?(?: \([^)]{0,40}\))? (?:is |are )?too long\b/i),
  boundedPattern(
    /\btoo many (?:input |prompt )?tokens\b|\breduce the (?:length of (?:the |your )?(?:messages|prompt|input|conversation)|input token count)/i,
  ),
  boundedPattern(
    /\b(?:prompt|input|requested) tokens?(?: count)?\b[^.]{0,40}\bexceed|\bexceed\w{0,3} (?:the )?max message tokens/i,
  ),
  boundedPattern(
    /\bexceeded model token limit|\btoken limit (?:is |was )?exceeded|total number of tokens[^.]{0,60}cannot exceed/i,
  ),
  boundedPattern(
    /`inputs`[^.]{0,60}must (?:have less than|be <=) \d{1,9}|range of input length should be|prompt exceeds (?:the )?(?:max|length)/i,
  ),
  boundedPattern(
    /\b(?:prompt|input) length\b[^.]{0,80}\bexceed|\btoken (?:count|length|number)s?\b[^.]{0,40}\bexceed|\bmax tokens of \d{1,9} exceeded/i,
  ),
  boundedPattern(
    /\b(?:context|conversation|messages) (?:is|are) too long\b|too large for [^\n]{0,80}\bmax size: \d{1,9} tokens/i,
  ),
  boundedPattern(
    /\btokens\b[^.]{0,40}\b(?:larg|great|long)er than the model(?:'s)? (?:max(?:imum)? )?(?:length|capacity)\b/i,
  ),
  boundedPattern(
    /tokens in request more than max tokens|(?:prompt|输入|上下文|token)[^。]{0,20}(?:超长|超限|超过|超出)|超[过出][^。]{0,20}(?:上下文|token|长度)/i,
  ),
];

/** Limits of rates and accounts are told in tokens too, those of texts and files in characters and bytes. */
const otherLimits = boundedPattern(
  /rate.?limit|\b[tr]p[md]\b|too many requests|throttl|\bquota\b|please wait|try again in|(?:per|this) (?:minute|hour|day|month)|daily|monthly|\bplan\b|credits?\b|balance|budget_tokens/i,
);
const otherUnits = boundedPattern(/\b(?:characters?|bytes?|[km]i?b)\b/i);
const tokenUnit = boundedPattern(/token|context|too large for model/i);

/** Errors may echo the request after their first words. */
const maxReadLength = 1024;

/** Null if it is another error. */
export function overflowIn({ message, type = '', code, overflow }: Words): Overflow | null {
  const isNamed = [code ?? '', type, message.slice(0, maxReadLength)].some(
    (each) => names.test(each) || codes.has(each),
  );
  const text = withoutSeparators(message.slice(0, maxReadLength));
  if (!isNamed && !isToldIn(text)) return null;
  return overflow ?? numbersIn(text);
}

function isToldIn(text: string): boolean {
  if (!wordings.some((wording) => wording.test(text)) || otherLimits.test(text)) return false;
  return !otherUnits.test(text) || tokenUnit.test(text);
}

/** "150,000 tokens", but not "[1, 30720]". */
function withoutSeparators(text: string): string {
  return text.replace(/(\d),(?=\d{3}(?!\d))/g, '$1');
}

/** Anthropic: "… exceed context limit: 8000 + 1001 > 8192". */
const sum = boundedPattern(/(\d{1,9}) \+ (\d{1,9}) > (\d{1,9})/);
/** vLLM: "'max_tokens' … is too large: 8000. This model's maximum context length is 8192 tokens and your request has 1000 input tokens". */
const askedAndSent = boundedPattern(
  /too large: (\d{1,9})\D{1,80}maximum context length is (\d{1,9})\D{1,80}has (\d{1,9}) input tokens/i,
);
/** In the order in which they say for certain which number is the limit. 2013 is MiniMax's code for it. */
const limits = [
  boundedPattern(/n_ctx\D{1,12}(\d{1,9})/i),
  boundedPattern(/(\d{1,9}) (?:tokens )?maximum\b/i),
  boundedPattern(/\[1, (\d{1,9})\]/i),
  boundedPattern(/context window limit \((\d{1,9})\)/i),
  boundedPattern(/(?:model (?:length|capacity)|max_num_tokens)\D{1,4}(\d{1,9})/i),
  boundedPattern(
    /(?:context (?:length|window|size)|max(?:imum)?|limit|up to|cannot exceed|less than|<=|>)(?:(?! by |\. )[^\d]){0,48}(?!2013\))(\d{1,9})/i,
  ),
];

function numbersIn(text: string): Overflow {
  const added = sum.exec(text);
  if (added) return { tokens: Number(added[1]) + Number(added[2]), limit: Number(added[3]) };
  const asked = askedAndSent.exec(text);
  if (asked) return { tokens: Number(asked[1]) + Number(asked[3]), limit: Number(asked[2]) };
  const limit = firstOf(limits.map((each) => each.exec(text)?.[1]));
  if (limit === null) return { tokens: null, limit };
  return { tokens: tokensBeside(limit, text), limit };
}

function firstOf(numbers: readonly (string | undefined)[]): number | null {
  const found = numbers.find((number) => number !== undefined);
  return found === undefined ? null : Number(found);
}

/** The first number above the limit; else what prompt and answer need together, where they are told apart. */
function tokensBeside(limit: number, text: string): number | null {
  const others = [...new Set((text.match(/\d{1,9}/g) ?? []).map(Number))].filter((number) => number !== limit);
  const above = others.find((number) => number > limit);
  if (above !== undefined) return above;
  const [sent = 0, wanted = 0] = others;
  return others.length === 2 && sent + wanted > limit ? sent + wanted : null;
}
