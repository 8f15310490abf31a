/**
 * The `usage` objects of OpenAI's API, as its many implementations write them. Counts as OpenAI does: the input includes
 * cached tokens, the output includes reasoning.
 */
import { isObject } from '../../../contract/is-object.ts';
import type { PriceTerms, Usage } from '../../../contract/ledger.ts';
import { fieldsAt, tierNamed } from '../../core/usage/price-terms.ts';
import { anthropicUsage, countOf, firstCount, type UsageReports } from '../../core/usage/reported-usage.ts';

type Fields = Record<string, unknown>;

/**
 * Of everything but responses. Events have it at the top level; Groq's in `x_groq` (Portkey-AI/gateway#1072), Moonshot's
 * in the last choice (earendil-works/pi#2017).
 */
export const plainReports: UsageReports = {
  name: 'usage',
  places: [['usage'], ['x_groq', 'usage'], ['choices', '*', 'usage']],
  isComplete: () => true,
  toUsage,
};

export const responseReports: UsageReports = {
  name: 'usage',
  places: [['response', 'usage']],
  isComplete: () => true,
  toUsage,
};

/** Of a chat or a response, or an event of either. Opening a page that was found costs nothing more. */
export function openaiTerms(object: Fields): PriceTerms {
  const response = isObject(object.response) ? object.response : object;
  const items = Array.isArray(response.output) ? response.output.filter(isObject) : [];
  const searches = items.filter(
    (item) => item.type === 'web_search_call' && (fieldsAt(item, 'action').type ?? 'search') === 'search',
  );
  return { tier: tierNamed(response.service_tier), searches: searches.length || chatSearches(object) };
}

/**
 * A chat tells the number of its searches beside its tokens, at OpenRouter, LiteLLM and Perplexity. OpenAI tells none: its models that
 * search do so once for an answer, which then cites what was found.
 */
function chatSearches({ usage, choices }: Fields): number {
  const told = isObject(usage)
    ? firstCount(
        fieldsAt(usage, 'server_tool_use').web_search_requests,
        fieldsAt(usage, 'prompt_tokens_details').web_search_requests,
        usage.num_search_queries,
      )
    : undefined;
  if (told !== undefined) return told;
  return Array.isArray(choices) && choices.filter(isObject).some(citesPages) ? 1 : 0;
}

function citesPages({ message, delta }: Fields): boolean {
  const { annotations } = firstObject(message, delta);
  return Array.isArray(annotations) && annotations.some((each) => isObject(each) && each.type === 'url_citation');
}

/** Null if the object has an unknown shape or no usable number. */
export function toUsage(fields: Fields): Usage | null {
  const usage = ofShape(fields);
  return usage === null || Object.keys(usage).length === 0 ? null : usage;
}

function ofShape(fields: Fields): Usage | null {
  if ('prompt_tokens' in fields || 'completion_tokens' in fields) return ofChat(fields);
  if ('cache_read_input_tokens' in fields || 'cache_creation_input_tokens' in fields) return anthropicUsage(fields);
  if ('input_tokens' in fields || 'output_tokens' in fields) return ofResponses(fields);
  const seconds = fields.type === 'duration' ? countOf(fields.seconds) : undefined;
  return seconds === undefined ? null : { seconds };
}

/** Chat, completions, embeddings. */
function ofChat(fields: Fields): Usage {
  const { prompt_tokens_details, completion_tokens_details } = fields;
  const input = isObject(prompt_tokens_details) ? prompt_tokens_details : {};
  const output = isObject(completion_tokens_details) ? completion_tokens_details : {};
  // Without the details: DeepSeek's, Moonshot's, and that of gateways in front of Claude, such as LiteLLM's.
  const { prompt_cache_hit_tokens, cached_tokens, cache_read_input_tokens, cache_creation_input_tokens } = fields;
  const hits = [prompt_cache_hit_tokens, cached_tokens, cache_read_input_tokens];
  return withPartsBeside(
    defined({
      inputTokens: countOf(fields.prompt_tokens),
      outputTokens: countOf(fields.completion_tokens),
      cachedInputTokens: firstCount(input.cached_tokens, ...hits),
      cacheWriteTokens: firstCount(input.cache_write_tokens, cache_creation_input_tokens),
      ...kindsOf(input, output),
    }),
    countOf(fields.total_tokens),
  );
}

/** Responses, images, transcriptions and speech events; transcriptions use the singular `input_token_details`. */
function ofResponses(fields: Fields): Usage {
  const input = firstObject(fields.input_tokens_details, fields.input_token_details);
  const output = firstObject(fields.output_tokens_details, fields.output_token_details);
  return withPartsBeside(
    defined({
      inputTokens: countOf(fields.input_tokens),
      outputTokens: countOf(fields.output_tokens),
      cachedInputTokens: countOf(input.cached_tokens),
      cacheWriteTokens: countOf(input.cache_write_tokens),
      ...kindsOf(input, output),
    }),
    countOf(fields.total_tokens),
  );
}

/** Each token once: what was cached of a kind is counted, and billed, as cached alone. */
function kindsOf(input: Fields, output: Fields): Partial<Record<keyof Usage, number | undefined>> {
  const cached = firstObject(input.cached_tokens_details);
  return {
    audioInputTokens: without(countOf(input.audio_tokens), countOf(cached.audio_tokens)),
    imageInputTokens: without(countOf(input.image_tokens), countOf(cached.image_tokens)),
    reasoningTokens: firstCount(output.reasoning_tokens, output.thinking_tokens),
    audioOutputTokens: countOf(output.audio_tokens),
    imageOutputTokens: countOf(output.image_tokens),
  };
}

/**
 * Some services count a part beside its total, which the sum of all tokens shows: xAI the reasoning beside the completion
 * (vercel/ai#12425), gateways in front of Claude the cache beside the prompt.
 */
function withPartsBeside(usage: Usage, total: number | undefined): Usage {
  const { inputTokens, outputTokens, reasoningTokens = 0, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  if (total === undefined || inputTokens === undefined || outputTokens === undefined) return usage;
  const beside = total - inputTokens - outputTokens;
  if (beside <= 0) return usage;
  const cache = cachedInputTokens + cacheWriteTokens;
  if (beside === reasoningTokens) return { ...usage, outputTokens: outputTokens + reasoningTokens };
  if (beside === cache) return { ...usage, inputTokens: inputTokens + cache };
  if (beside !== cache + reasoningTokens) return usage;
  return { ...usage, inputTokens: inputTokens + cache, outputTokens: outputTokens + reasoningTokens };
}

function without(all: number | undefined, part = 0): number | undefined {
  return all === undefined || part <= 0 ? all : Math.max(0, all - part);
}

function firstObject(...values: readonly unknown[]): Fields {
  return values.find(isObject) ?? {};
}

function defined(counts: Partial<Record<keyof Usage, number | undefined>>): Usage {
  const usage: Usage = {};
  for (const name in counts) {
    const count = counts[name as keyof Usage];
    if (count !== undefined) usage[name as keyof Usage] = count;
  }
  return usage;
}
