/** Renders a request of Bedrock's Converse API. The model and whether to stream are in the URL. */

import { largestAnswer } from '../../../models/largest-answer.ts';
import type { Conversation } from '../../neutral/conversation.ts';
import type { Losses } from '../../neutral/losses.ts';
import { dropHints } from '../../neutral/requests/drop-hints.ts';
import { effortOf, isOff, nearestEffort } from '../../neutral/requests/reasoning-effort.ts';
import { type RenderedRequest, Rendering, type Target } from '../../neutral/requests/rendering.ts';
import { type ConverseFacts, converseFacts } from './model-facts.ts';
import { renderFormat } from './render-format.ts';
import { renderTools } from './render-tools.ts';
import { type Message, renderTurns } from './render-turns.ts';

type Json = Record<string, unknown>;

/** Source: Amazon Bedrock API reference, `ToolSpecification`. */
const nameRule = { maxLength: 64, others: '_-', beginsWithLetter: false };

/** @throws GatewayError `invalid_value` if the model does not support the request */
export function renderConverseRequest(conversation: Conversation, target: Target, losses: Losses): RenderedRequest {
  const facts = converseFacts(target.model);
  const rendering = new Rendering(conversation, target, { ids: facts.callIds, names: nameRule, losses });
  if ((conversation.sampling.answers ?? 1) > 1) rendering.refuse('answers', 'no-equal');
  const { config, prompts, answerTool } = renderTools(rendering, facts);
  const system = renderSystem(rendering, facts, prompts);
  const rules = { facts, callsAsText: config === undefined };
  const messages = renderTurns(rendering, rules, facts.system ? [] : system);
  const body: Json = {
    messages: facts.cachePoints ? withCachePoint(messages) : messages,
    system: facts.system && system.length > 0 ? [...system, ...(facts.cachePoints ? [cachePoint] : [])] : undefined,
    inferenceConfig: renderInference(rendering),
    toolConfig: config,
    outputConfig: renderFormat(rendering, facts),
    additionalModelRequestFields: renderEffort(rendering, facts),
  };
  rendering.drop('topK', conversation.sampling.topK, 'no-equal');
  dropHints(rendering);
  rendering.drop('user', conversation.user, 'no-equal');
  return { body, names: rendering.names, answerTool };
}

function renderSystem(rendering: Rendering, facts: ConverseFacts, prompts: readonly string[]): Json[] {
  const { instructions } = rendering.conversation;
  const texts = [...instructions.map(({ text }) => text), ...prompts].filter((text) => text.trim() !== '');
  if (!facts.system) for (const { at } of instructions) rendering.losses.emulated(at, 'as-text');
  return texts.map((text) => ({ text }));
}

const cachePoint = { cachePoint: { type: 'default' } };

/**
 * Clients of other APIs rely on automatic caching. Amazon, "Prompt caching": Nova caches only text, so no cache point
 * is set after other content.
 */
function withCachePoint(messages: readonly Message[]): Message[] {
  const last = messages.at(-1);
  if (!last?.content.every((block) => 'text' in block)) return [...messages];
  return [...messages.slice(0, -1), { ...last, content: [...last.content, cachePoint] }];
}

/** Both temperature and topP are at most 1. */
function renderInference(rendering: Rendering): Json | undefined {
  const { sampling, maxOutputTokens } = rendering.conversation;
  const limit = rendering.target.maxOutputTokens ?? largestAnswer(rendering.target.model);
  const maxTokens = maxOutputTokens === undefined ? undefined : Math.min(maxOutputTokens, limit ?? maxOutputTokens);
  if (maxTokens !== maxOutputTokens) rendering.emulate('maxOutputTokens', 'out-of-range');
  const { temperature, topP } = sampling;
  if ((temperature ?? 0) > 1) rendering.emulate('temperature', 'out-of-range');
  const config = {
    maxTokens,
    temperature: temperature === undefined ? undefined : Math.min(1, Math.max(0, temperature)),
    topP,
    stopSequences: rendering.stopsUpTo(Number.POSITIVE_INFINITY),
  };
  return Object.values(config).every((value) => value === undefined) ? undefined : config;
}

function renderEffort(rendering: Rendering, { effortField, efforts }: ConverseFacts): Json | undefined {
  const { reasoning } = rendering.conversation;
  const requested = reasoning && effortOf(reasoning);
  if (requested === undefined) return undefined;
  // Nova thinks only if requested; for the others thinking cannot be turned off.
  const isUnasked = isOff(reasoning) && effortField !== 'reasoning_effort';
  const effort = isUnasked ? undefined : nearestEffort(requested, efforts);
  if (effortField === null || effort === undefined) {
    rendering.drop('reasoning', isUnasked ? undefined : requested, 'model-takes-none');
    return undefined;
  }
  if (effort !== requested) rendering.emulate('reasoning', 'out-of-range');
  if (effortField === 'reasoning_effort') return { reasoning_effort: effort };
  return { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } };
}
