/** Usage of requests of `POST /v1/messages`. */
import { isObject } from '../../contract/is-object.ts';
import type { Usage } from '../../contract/ledger.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { plausibleUsage, unbounded } from '../plausible-usage.ts';
import { promptTokensOf } from '../prompt-tokens.ts';
import { linesOf } from '../sse-event.ts';
import { sseFraming } from '../sse-framing.ts';
import type { ExtractedUsage, KeptAnswer, MeasuredRequest, ModelBounds, UsageFormat, UsageHints } from '../wire.ts';

/** English text has about four bytes per token. */
const bytesPerToken = 4;
/** Images within JSON are large and cost few tokens. */
const mostLikelyInput = 32_000;
/** Clients allow far more output than they get: Claude Code 32,000 tokens. */
const mostLikelyOutput = 4_096;
/** Output limit of the largest current model. */
const unknownOutputTokens = 128_000;
/** For content that is only referenced, such as a file: no model's context is larger. */
const mostReferredTokens = 10_000_000;
/** Thinking whose text the response omits. */
const mostHiddenTokens = 1_000_000;

export const messagesUsage: UsageFormat = {
  likely: (body) => ({
    inputTokens: Math.min(Math.ceil(body.size / bytesPerToken), mostLikelyInput),
    outputTokens: Math.min(allowedTokens(body) ?? mostLikelyOutput, mostLikelyOutput),
  }),
  worst,
  hints: ({ size }, answerBytes) => ({
    most: { ...unbounded, inputTokens: size + mostReferredTokens, outputTokens: answerBytes + mostHiddenTokens },
  }),
  read,
  text: { ofPrompt, ofAnswer, isOnlyPrompt: false },
};

function allowedTokens(body: MeasuredRequest): number | null {
  const most = body.field('max_tokens');
  return typeof most === 'number' && most > 0 ? Math.ceil(most) : null;
}

function worst(body: MeasuredRequest, { outputTokens, contextTokens }: ModelBounds): Usage {
  const window = contextTokens ?? Number.POSITIVE_INFINITY;
  const input = body.captured ? promptTokensOf(body.captured) : body.size;
  const output = allowedTokens(body) ?? unknownOutputTokens;
  return { inputTokens: Math.min(input, window), outputTokens: Math.min(output, outputTokens ?? output, window) };
}

/** Streams report usage in `message_start` and, cumulatively, in `message_delta`. */
function read({ tail, head, contentType, document }: KeptAnswer, hints: UsageHints): ExtractedUsage {
  const isStream = sseFraming.isStream(contentType);
  const told = isStream ? usageOfEvents(head, tail) : toUsage(usageIn(document ?? parse(tail.toString())));
  if (!told) return { usage: null, certainty: 'none', status: null };
  const { usage, isMended } = plausibleUsage(told, hints.most ?? unbounded);
  return { usage, certainty: isMended ? 'estimated' : 'reported', status: null };
}

type Fields = Record<string, unknown>;

function usageOfEvents(head: Buffer, tail: Buffer): Usage | null {
  const fields: Fields = {};
  for (const line of linesOf(`${head.toString()}\n${tail.toString()}`)) {
    if (!line.startsWith('data:') || !line.includes('"usage"')) continue;
    const event = parse(line.slice('data:'.length));
    const told = isObject(event) ? (usageIn(event) ?? usageIn(event.message)) : null;
    if (told) Object.assign(fields, told);
  }
  return Object.keys(fields).length === 0 ? null : toUsage(fields);
}

function usageIn(value: unknown): Fields | null {
  return isObject(value) && isObject(value.usage) ? value.usage : null;
}

/** Anthropic excludes tokens that are read from a cache, or written to one, from the input. */
function toUsage(fields: Fields | null): Usage | null {
  if (!fields) return null;
  const read = countOf(fields.cache_read_input_tokens);
  const written = countOf(fields.cache_creation_input_tokens);
  return {
    inputTokens: countOf(fields.input_tokens) + read + written,
    outputTokens: countOf(fields.output_tokens),
    ...(read > 0 && { cachedInputTokens: read }),
    ...(written > 0 && { cacheWriteTokens: written }),
  };
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

function ofPrompt(json: Buffer): number {
  return Math.ceil(promptTokensOf(json) / bytesPerToken);
}

function ofAnswer({ tail, bytes }: KeptAnswer): number {
  const shown = Math.max(1, tail.length);
  return Math.ceil((estimateTokens(tail.toString()) * bytes) / shown);
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
