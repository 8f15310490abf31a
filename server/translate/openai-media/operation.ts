/** Code shared by OpenAI's routes for images and audio when other APIs serve them. */
import { isObject } from '../../contract/is-object.ts';
import type { Fields } from '../fields.ts';
import { candidateOf, partsOf } from '../gemini-generate/parse-answer.ts';
import { invalid, type Losses } from '../losses.ts';
import type { AnswerError } from '../neutral-answer.ts';

type Json = Record<string, unknown>;

/** A client's request in the format of the upstream's API, and the rendering of its answer. */
export interface MediaRequest {
  /** The body for the upstream. */
  body: Json;
  /** The content type of the client's answer, unless that is a stream. */
  contentType: string;
  /** Null if the upstream's body is not an answer of its API. `createdAt`: seconds since 1970. */
  render(answer: Json, createdAt: number): MediaAnswer | null;
}

export type MediaAnswer =
  | { ok: true; body: Buffer }
  /** The model answered but produced nothing. A retry would cost as much and have the same result. */
  | { ok: false; error: AnswerError };

/** @throws GatewayError `invalid_value` that names the field */
export type MediaOperation = (fields: Fields, losses: Losses) => MediaRequest;

export interface InlineData {
  mimeType: string;
  /** Base64. */
  data: string;
}

/** The media that an answer contains. */
export function mediaIn(answer: Json): InlineData[] {
  return partsIn(answer).flatMap(({ inlineData: media, thought }) =>
    isObject(media) && typeof media.data === 'string' && thought !== true
      ? [{ mimeType: String(media.mimeType), data: media.data }]
      : [],
  );
}

/** The text of an answer, without thoughts. */
export function textIn(answer: Json): string {
  return partsIn(answer)
    .map(({ text, thought }) => (typeof text === 'string' && thought !== true ? text : ''))
    .join('');
}

function partsIn(answer: Json): Json[] {
  const candidate = candidateOf(answer);
  return candidate === null ? [] : partsOf(candidate);
}

/** Why an answer contains no media: Google's filters, or text instead. */
export function whyNothing(answer: Json, product: string): AnswerError {
  const feedback = isObject(answer.promptFeedback) ? answer.promptFeedback.blockReason : undefined;
  const reason = String(feedback ?? candidateOf(answer)?.finishReason ?? 'STOP');
  const answerText = textIn(answer).slice(0, maxQuoted);
  const words = answerText === '' ? '' : ` It said: ${answerText}`;
  const message = `The model made no ${product} (${reason}).${words}`;
  const isFiltered = feedback !== undefined || !ordinaryEnds.has(reason);
  return { message, type: 'invalid_request_error', code: isFiltered ? 'moderation_blocked' : null };
}

const maxQuoted = 500;
const ordinaryEnds = new Set(['STOP', 'MAX_TOKENS', 'NO_IMAGE']);

/** Usage as OpenAI's image and audio routes report it; undefined if the upstream reports none. */
export function openaiUsageOf({ usageMetadata }: Json): Json | undefined {
  if (!isObject(usageMetadata)) return undefined;
  const { promptTokenCount: input, candidatesTokenCount: output, thoughtsTokenCount: thoughts } = usageMetadata;
  const [inputTokens, outputTokens] = [Number(input ?? 0), Number(output ?? 0) + Number(thoughts ?? 0)];
  return { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}

/** Refuses a value that the provider does not support, and names the supported ones. */
export function oneOf<T extends string>(fields: Fields, name: string, allowed: readonly T[]): T | undefined {
  const value = fields.text(name);
  if (value === undefined) return undefined;
  const found = allowed.find((each) => each === value);
  return found ?? invalid(fields.path(name), `this provider can only send ${allowed.join(' or ')}`);
}

/** One event of an OpenAI stream. */
export function typedEvent(value: { type: string } & Json): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}
