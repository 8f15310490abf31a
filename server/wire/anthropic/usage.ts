/** Usage of requests of `POST /v1/messages`. */
import { isObject } from '../../contract/is-object.ts';
import type { Usage } from '../../contract/ledger.ts';
import { conversationUsage } from '../conversation-usage.ts';
import { linesOf } from '../sse-event.ts';
import { sseFraming } from '../sse-framing.ts';
import type { KeptAnswer, MeasuredRequest } from '../wire.ts';

export const messagesUsage = conversationUsage({
  allowedTokens,
  answersPaid: () => 1,
  unknownOutputTokens: 128_000,
  reported,
});

function allowedTokens(body: MeasuredRequest): number | null {
  const maxTokens = body.field('max_tokens');
  return typeof maxTokens === 'number' && maxTokens > 0 ? Math.ceil(maxTokens) : null;
}

/** Streams report usage in `message_start` and, cumulatively, in `message_delta`. */
function reported({ tail, head, contentType }: KeptAnswer): Usage | null {
  const isStream = sseFraming.isStream(contentType);
  return isStream ? usageOfEvents(head, tail) : toUsage(usageIn(parse(tail.toString())));
}

type Fields = Record<string, unknown>;

function usageOfEvents(head: Buffer, tail: Buffer): Usage | null {
  const fields: Fields = {};
  for (const line of linesOf(`${head.toString()}\n${tail.toString()}`)) {
    if (!line.startsWith('data:') || !line.includes('"usage"')) continue;
    const event = parse(line.slice('data:'.length));
    const usage = isObject(event) ? (usageIn(event) ?? usageIn(event.message)) : null;
    // A count of null leaves the value of an earlier event unchanged.
    for (const [name, value] of Object.entries(usage ?? {})) if (value !== null) fields[name] = value;
  }
  return Object.keys(fields).length === 0 ? null : toUsage(fields);
}

function usageIn(value: unknown): Fields | null {
  return isObject(value) && isObject(value.usage) ? value.usage : null;
}

/** Anthropic excludes tokens that are read from a cache, or written to one, from the input. */
function toUsage(fields: Fields | null): Usage | null {
  if (!fields) return null;
  const cacheRead = countOf(fields.cache_read_input_tokens);
  const cacheWritten = countOf(fields.cache_creation_input_tokens);
  const { cache_creation: lifetimes } = fields;
  const forAnHour = isObject(lifetimes) ? countOf(lifetimes.ephemeral_1h_input_tokens) : 0;
  return {
    inputTokens: countOf(fields.input_tokens) + cacheRead + cacheWritten,
    outputTokens: countOf(fields.output_tokens),
    ...(cacheRead > 0 && { cachedInputTokens: cacheRead }),
    ...(cacheWritten > 0 && { cacheWriteTokens: cacheWritten }),
    ...(forAnHour > 0 && { cacheWriteOneHourTokens: forAnHour }),
  };
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
