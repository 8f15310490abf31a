/** Converts one captured conversation to an example for fine-tuning a chat model. */
import type { CapturedMessage } from '../contract/capture.ts';
import type { DatasetGap } from '../contract/dataset.ts';
import { GatewayError } from '../contract/errors.ts';
import { isObject } from '../contract/is-object.ts';
import type { LossCode } from '../contract/loss-codes.ts';
import type { CapturedBody, RequestInFull } from '../contract/request-views.ts';
import { writeJson } from '../translate/json-text.ts';
import { type Loss, Losses } from '../translate/losses.ts';
import type { Conversation } from '../translate/neutral.ts';
import { type ReadAnswer, readAnswer } from '../translate/read-answer.ts';
import { translatorBetween } from '../translate/translator.ts';
import { isWireName, upstreamTranslations } from '../translate/wire-translations.ts';
import { Registry, type RouteMatch, servedApis } from '../wire/registry.ts';

export type DatasetLine = { text: string; changed: ReadonlySet<LossCode> } | { gap: DatasetGap };

const registry = new Registry(servedApis);

/** The format is OpenAI's, "Fine-tuning: chat format": `{"messages": […], "tools": […]}`. */
export function datasetLine({ request, capture }: RequestInFull): DatasetLine {
  if (!capture) return { gap: 'not-captured' };
  if (request.outcome !== 'ok') return { gap: 'not-answered' };
  const match = matchOf(capture.request);
  const wire = match?.route.wire.name ?? '';
  if (!match || !isWireName(wire) || match.route.isFree) return { gap: 'no-conversation' };
  const [requestText, answerText] = [textOf(capture.request), textOf(capture.response)];
  if (requestText === null || answerText === null) return { gap: 'not-whole' };
  try {
    const answer = readAnswer(wire, answerText);
    if (answer === null || answer.error !== null) return { gap: 'not-answered' };
    if (answer.stop === null || !finished.has(answer.stop.reason)) return { gap: 'cut-short' };
    const fromUrl = match.model === null ? undefined : { model: match.model, stream: request.stream };
    const { conversation, losses } = translatorBetween(wire, 'openai-chat').read(Buffer.from(requestText), fromUrl);
    return rendered(withAnswer(conversation, answer), losses);
  } catch (error) {
    if (error instanceof GatewayError) return { gap: 'unreadable' };
    throw error;
  }
}

/** Reasons of answers that the model itself ended. */
const finished: ReadonlySet<string> = new Set(['end', 'sequence', 'tool']);

function matchOf({ method, url }: { method: string; url: string | null }): RouteMatch | null {
  if (url === null) return null;
  try {
    return registry.find(method, registry.locate(url));
  } catch {
    return null;
  }
}

/** Null if the message was not kept in full, or is not text. */
function textOf({ body, gap }: CapturedMessage<CapturedBody>): string | null {
  return gap === null && body?.encoding === 'utf8' ? body.data : null;
}

function withAnswer(conversation: Conversation, { parts }: ReadAnswer): Conversation {
  const answerParts = parts.map((part) => ({ ...part, at: 'answer' }));
  return { ...conversation, turns: [...conversation.turns, { role: 'assistant', parts: answerParts }] };
}

/** An API that accepts exactly what OpenAI's reference describes. */
const target = { model: 'gpt-4.1', origin: { provider: '', model: '', account: '' }, withoutReasoning: true };

function rendered(conversation: Conversation, requestLosses: readonly Loss[]): DatasetLine {
  const losses = new Losses();
  const body = renderedBody(conversation, losses);
  const messages = body ? throughAnswer(body.messages) : null;
  if (!body || !messages) return { gap: 'not-expressible' };
  const { tools, parallel_tool_calls } = body;
  const changed = [...requestLosses, ...losses.list].filter(isOfContent).map(({ code }) => code);
  return { text: writeJson({ messages, tools, parallel_tool_calls }), changed: new Set(changed) };
}

/** Null if the answer contained only parts that the format does not support. */
function throughAnswer(messages: unknown): unknown[] | null {
  if (!Array.isArray(messages)) return null;
  // The calls of the answer have no results yet, which a request would require.
  const end = messages.findLastIndex((message) => !isObject(message) || message.role !== 'tool');
  const last: unknown = messages[end];
  return isObject(last) && last.role === 'assistant' ? messages.slice(0, end + 1) : null;
}

function renderedBody(conversation: Conversation, losses: Losses): Record<string, unknown> | null {
  try {
    return upstreamTranslations['openai-chat'].renderRequest({ ...conversation, sampling: {} }, target, losses).body;
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

/** Excludes losses of parameters, such as a temperature, which are not part of an example. */
function isOfContent({ field, fate, code }: Loss): boolean {
  if (field === 'answer' && code === 'missing-result') return false;
  return fate !== 'carried' && contents.some((name) => field.startsWith(name));
}

const contents = ['messages', 'input', 'instructions', 'contents', 'system', 'tools', 'answer'];
