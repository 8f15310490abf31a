/** Renders a request of `POST /v1/messages`, version 2023-06-01. */

import { isObject } from '../../../contract/is-object.ts';
import { type ClaudeFacts, claudeFacts, largestAnswer } from '../../../models/model-facts.ts';
import type {
  CallPart,
  Conversation,
  MediaPart,
  Part,
  ResultPart,
  ThinkingPart,
  Tool,
  ToolChoice,
  Turn,
} from '../../neutral/conversation.ts';
import { append, parseLosslessJson, RawJson } from '../../neutral/json-text.ts';
import { type Losses, refuse } from '../../neutral/losses.ts';
import { budgetOf, effortOf, isOff, nearestEffort } from '../../neutral/requests/reasoning-effort.ts';
import {
  dropHints,
  formatPrompt,
  goOn,
  offeredTools,
  type RenderedRequest,
  Rendering,
  type Target,
} from '../../neutral/requests/rendering.ts';
import { fitSchema, isOfObjects } from '../../neutral/schemas/fit-schema.ts';
import { strictSchema } from '../../neutral/schemas/schema-walk.ts';

type Json = Record<string, unknown>;

/** Names of tools, according to Anthropic's API reference. */
const nameRule = { maxLength: 128, others: '_-', beginsWithLetter: false };
const answerToolName = 'answer_in_format';

/** @throws GatewayError `invalid_value` if the model does not support the request */
export function renderMessagesRequest(conversation: Conversation, target: Target, losses: Losses): RenderedRequest {
  const facts = claudeFacts(target.model);
  const rendering = new Rendering(conversation, target, { ids: 'anthropic', names: nameRule, losses });
  if ((conversation.sampling.answers ?? 1) > 1) rendering.refuse('answers', 'no-equal');
  const format = renderFormat(rendering, facts);
  const choice = renderChoice(rendering, facts, format.tool !== undefined);
  const messages = renderTurns(rendering, facts);
  const { isForced } = choice;
  const reasoning = renderReasoning(rendering, facts, { isForced, isInUnthinkingLoop: isInUnthinkingLoop(messages) });
  const system = [...conversation.instructions.map(({ text }) => text), ...format.prompts, ...choice.prompts];
  const tools = [
    ...choice.offered.map((tool) => renderTool(rendering, tool, facts)),
    ...(format.tool ? [format.tool] : []),
  ];
  const body: Json = {
    model: target.model,
    max_tokens: reasoning.maxTokens,
    system: renderSystem(system),
    messages,
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: tools.length === 0 ? undefined : choice.value,
    ...renderSampling(rendering, facts, isThinking(reasoning.thinking)),
    stop_sequences: renderStops(rendering),
    thinking: reasoning.thinking,
    output_config: outputConfig(reasoning.effort, format.schema),
    // Clients of other APIs rely on automatic caching. Without a breakpoint, each turn would be billed in full.
    cache_control: facts.automaticCache ? { type: 'ephemeral' } : undefined,
    metadata: conversation.user === undefined ? undefined : { user_id: conversation.user },
    service_tier: conversation.serviceTier === 'default' ? 'standard_only' : undefined,
    stream: conversation.stream ? true : undefined,
  };
  dropHints(rendering);
  return { body, names: rendering.names, answerTool: format.tool ? answerToolName : undefined };
}

function renderSystem(texts: readonly string[]): Json[] | undefined {
  const blocks = texts.filter((text) => text.trim() !== '').map((text) => ({ type: 'text', text }));
  return blocks.length === 0 ? undefined : blocks;
}

function outputConfig(effort: string | undefined, schema: Json | undefined): Json | undefined {
  const format = schema && { type: 'json_schema', schema };
  return effort === undefined && format === undefined ? undefined : { effort, format };
}

function renderTool(rendering: Rendering, tool: Tool, { structuredOutput }: ClaudeFacts): Json {
  const { description, schema, strict } = rendering.asFunction(tool);
  const isStrict = strict === true && structuredOutput && schema !== undefined;
  if (!isStrict) rendering.dropStrict(tool, 'model-takes-none');
  const fitted = fitSchema(schema, {}, { at: tool.at, losses: rendering.losses });
  return {
    name: rendering.names.encode(tool),
    description,
    input_schema: isStrict ? strictSchema(fitted, tool.at, rendering.losses) : fitted,
    strict: isStrict ? true : undefined,
  };
}

interface Format {
  /** The value for `output_config.format`; absent if that is not used. */
  schema?: Json;
  tool?: Json;
  prompts: string[];
}

/** Uses the API's own output format if the model supports it, otherwise a forced tool or an instruction. */
function renderFormat(rendering: Rendering, facts: ClaudeFacts): Format {
  const { format, toolChoice } = rendering.conversation;
  if (format === undefined) return { prompts: [] };
  if (format.kind === 'json') {
    rendering.emulate('format', 'in-prompt');
    return { prompts: [formatPrompt(undefined)] };
  }
  const field = rendering.nameOf('format');
  if (facts.structuredOutput) return { schema: strictSchema(format.schema, field, rendering.losses), prompts: [] };
  const isFree = toolChoice === undefined || toolChoice.mode === 'auto' || toolChoice.mode === 'none';
  if (facts.forcedTool === 'no' || !isFree || !isOfObjects(format.schema)) {
    rendering.emulate('format', 'in-prompt');
    return { prompts: [formatPrompt(format.schema)] };
  }
  rendering.emulate('format', 'as-tool');
  const description = format.description ?? 'Gives the answer in the format that is wanted.';
  const input_schema = fitSchema(format.schema, {}, { at: field, losses: rendering.losses });
  return { tool: { name: answerToolName, description, input_schema }, prompts: [] };
}

interface Choice {
  value: Json | undefined;
  /** Whether the model must call a tool. */
  isForced: boolean;
  offered: readonly Tool[];
  prompts: string[];
}

function renderChoice(rendering: Rendering, facts: ClaudeFacts, isAnswerTool: boolean): Choice {
  const { toolChoice, parallelToolCalls } = rendering.conversation;
  const offered = offeredTools(rendering.conversation);
  if (toolChoice?.mode === 'subset') rendering.emulate('toolChoice', 'no-equal');
  const single = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  if (isAnswerTool) {
    const isAlone = toolChoice?.mode === 'none' || offered.length === 0;
    const value = isAlone ? { type: 'tool', name: answerToolName } : { type: 'any', ...single };
    return { value, isForced: true, offered: toolChoice?.mode === 'none' ? [] : offered, prompts: [] };
  }
  const forced = forcedPrompt(rendering, toolChoice);
  if (forced !== null && facts.forcedTool === 'no') {
    rendering.emulate('toolChoice', 'in-prompt');
    return { value: { type: 'auto', ...single }, isForced: false, offered, prompts: [forced] };
  }
  const value = choiceValue(rendering, toolChoice, single);
  return { value, isForced: forced !== null, offered, prompts: [] };
}

/** An instruction for models that do not accept a forced choice; null if none is needed. */
function forcedPrompt({ names }: Rendering, choice: ToolChoice | undefined): string | null {
  if (choice?.mode === 'named') return `Answer by calling the tool ${names.encode(choice)}.`;
  const isRequired = choice?.mode === 'required' || (choice?.mode === 'subset' && choice.isRequired);
  return isRequired ? 'Answer by calling one of the tools.' : null;
}

function choiceValue({ names }: Rendering, choice: ToolChoice | undefined, single: Json): Json | undefined {
  if (choice === undefined) return 'disable_parallel_tool_use' in single ? { type: 'auto', ...single } : undefined;
  if (choice.mode === 'none') return { type: 'none' };
  if (choice.mode === 'named') return { type: 'tool', name: names.encode(choice), ...single };
  const isRequired = choice.mode === 'required' || (choice.mode === 'subset' && choice.isRequired);
  return { type: isRequired ? 'any' : 'auto', ...single };
}

/** Thinking excludes other sampling than the default, also if the model decides how much it thinks (Claude 4.6). */
function isThinking(thinking: { type: string } | undefined): boolean {
  return thinking?.type === 'enabled' || thinking?.type === 'adaptive';
}

/** Newer models accept only the default sampling; models from 4.1 on accept temperature or top_p, but not both. */
function renderSampling(rendering: Rendering, { sampling }: ClaudeFacts, isThinkingOn: boolean): Json {
  const { temperature, topP, topK } = rendering.conversation.sampling;
  if (sampling === 'none' || isThinkingOn) {
    rendering.drop('temperature', temperature === 1 ? undefined : temperature, 'model-takes-none');
    rendering.drop('topP', topP === 1 ? undefined : topP, 'model-takes-none');
    rendering.drop('topK', topK, 'model-takes-none');
    return {};
  }
  if ((temperature ?? 0) > 1) rendering.emulate('temperature', 'out-of-range');
  const clamped = temperature === undefined ? undefined : Math.min(1, Math.max(0, temperature));
  const isOneTooMany = sampling === 'one' && clamped !== undefined && topP !== undefined;
  if (isOneTooMany) rendering.drop('topP', topP === 1 ? undefined : topP, 'model-takes-none');
  return { temperature: clamped, top_p: isOneTooMany ? undefined : topP, top_k: topK };
}

function renderStops(rendering: Rendering): string[] | undefined {
  const { stopSequences } = rendering.conversation;
  const nonBlank = stopSequences.filter((sequence) => sequence.trim() !== '');
  if (nonBlank.length < stopSequences.length) rendering.drop('stopSequences', stopSequences, 'empty-text');
  return nonBlank.length === 0 ? undefined : nonBlank;
}

interface Reasoning {
  thinking?: { type: string; budget_tokens?: number; display?: string } | undefined;
  effort?: string | undefined;
  maxTokens: number;
}

/** The smallest `budget_tokens`, according to Anthropic's API reference. */
const minBudget = 1024;

/** Anthropic's API requires a maximum. All models behind it accept this one. */
const unknownMaxTokens = 32_000;

interface Circumstances {
  /** The model must call a tool, which Claude 4.5 and 4.6 accept only without thinking. */
  isForced: boolean;
  isInUnthinkingLoop: boolean;
}

/** Determines how a Claude model should think, and the maximum length of its answer including thinking. */
function renderReasoning(rendering: Rendering, facts: ClaudeFacts, circumstances: Circumstances): Reasoning {
  const { reasoning, maxOutputTokens } = rendering.conversation;
  const { target } = rendering;
  const limit = target.maxOutputTokens ?? largestAnswer(target.model) ?? unknownMaxTokens;
  const maxTokens = Math.min(maxOutputTokens ?? limit, limit);
  if (maxOutputTokens !== undefined && maxOutputTokens > maxTokens)
    rendering.emulate('maxOutputTokens', 'out-of-range');
  const isWanted = reasoning !== undefined && !isOff(reasoning);
  const mustNotThink = circumstances.isForced && facts.forcedTool === 'unthinking';
  if (mustNotThink && isWanted) rendering.emulate('reasoning', 'reasoning-off');
  if (isOff(reasoning) || mustNotThink) return leastThinking(facts, maxTokens);

  const effort = reasoning && effortOf(reasoning);
  // Clients show thoughts unless configured otherwise, but the newest models return none by default.
  const display = reasoning?.isVisible === false ? {} : { display: 'summarized' };
  if (facts.thinking.includes('adaptive')) {
    const nearest = effort === undefined ? undefined : nearestEffort(effort, facts.efforts);
    const thinks = isWanted || facts.thinksByDefault;
    return { thinking: thinks ? { type: 'adaptive', ...display } : undefined, effort: nearest, maxTokens };
  }
  const budget = reasoning && budgetOf(reasoning);
  if (budget === undefined || !facts.thinking.includes('enabled')) {
    if (effort !== undefined) rendering.drop('reasoning', effort, 'model-takes-none');
    return { maxTokens };
  }
  if (circumstances.isInUnthinkingLoop || target.withoutReasoning === true) {
    rendering.emulate('reasoning', 'reasoning-off');
    return { maxTokens };
  }
  return withBudget({ budget, maxTokens, limit, isStated: maxOutputTokens !== undefined });
}

/** The least thinking that the model supports; absent if it does not think by default. */
function leastThinking({ thinking, efforts, thinksByDefault }: ClaudeFacts, maxTokens: number): Reasoning {
  const type = (['disabled', 'between_tools'] as const).find((each) => thinking.includes(each));
  if (type !== undefined) return { thinking: { type }, maxTokens };
  return { effort: thinksByDefault ? nearestEffort('none', efforts) : undefined, maxTokens };
}

interface Budget {
  budget: number;
  maxTokens: number;
  /** Maximum number of tokens that the model can write, including thinking. */
  limit: number;
  /** Whether the client limited the answer; clients do not count thinking towards that limit. */
  isStated: boolean;
}

/** Anthropic counts thinking towards `max_tokens`, which must be greater than the budget. */
function withBudget({ budget, maxTokens, limit, isStated }: Budget): Reasoning {
  const wantedBudget = Math.max(minBudget, budget);
  const total = isStated && wantedBudget >= maxTokens ? Math.min(limit, maxTokens + wantedBudget) : maxTokens;
  const budgetTokens = Math.min(wantedBudget, total - 1);
  if (budgetTokens < minBudget) return { maxTokens };
  return { thinking: { type: 'enabled', budget_tokens: budgetTokens }, maxTokens: total };
}

interface Message {
  role: 'user' | 'assistant' | 'system';
  content: Json[];
}

/**
 * Renders turns as messages under the rules of Anthropic's API: the first message is the user's, roles alternate,
 * results are at the beginning of the message after their calls, no text is empty, and the last message is not the
 * assistant's on models without prefill.
 */
function renderTurns(rendering: Rendering, facts: ClaudeFacts): Message[] {
  const messages: Message[] = [];
  for (const [index, turn] of rendering.turns.entries()) {
    const isNative = turn.role === 'system' && facts.systemTurns && mayBeSystem(rendering.turns, index);
    const role = turn.role === 'system' && !isNative ? 'user' : turn.role;
    const content =
      isNative || turn.role !== 'system' ? renderParts(rendering, turn.parts) : asReminder(rendering, turn);
    if (content.length === 0) continue;
    const before = messages.at(-1);
    if (before?.role === role) append(before.content, content);
    else messages.push({ role, content });
  }
  if (messages[0]?.role !== 'user') {
    rendering.emulate('messages', 'added-turn');
    messages.unshift({ role: 'user', content: [{ type: 'text', text: '(The conversation goes on.)' }] });
  }
  return endWithUser(rendering, messages, facts);
}

/**
 * Whether the last message has results for a turn whose thinking is missing. With `thinking.type` `enabled` such a
 * request is refused: "Expected `thinking`, but found `tool_use`".
 */
function isInUnthinkingLoop(messages: readonly Message[]): boolean {
  const [callMessage, results] = messages.slice(-2);
  if (callMessage?.role !== 'assistant' || results?.content[0]?.type !== 'tool_result') return false;
  return callMessage.content[0]?.type !== 'thinking' && callMessage.content[0]?.type !== 'redacted_thinking';
}

/**
 * Anthropic, "Mid-conversation system messages": allowed after the user's turn, as the last one or before the
 * assistant's, and never two in a row.
 */
function mayBeSystem(turns: readonly Turn[], index: number): boolean {
  const next = turns[index + 1];
  return turns[index - 1]?.role === 'user' && (next === undefined || next.role === 'assistant');
}

/** Kept in its place: moving it to the top would change the prefix on which caches and signatures depend. */
function asReminder({ losses }: Rendering, { parts }: Turn): Json[] {
  return parts.flatMap((part) => {
    if (part.type !== 'text' || part.text.trim() === '') return [];
    losses.emulated(part.at, 'as-text');
    return [{ type: 'text', text: `<system-reminder>\n${part.text}\n</system-reminder>` }];
  });
}

/** Models from 4.6 on do not continue an answer; older ones refuse trailing whitespace in it. */
function endWithUser(rendering: Rendering, messages: Message[], { prefill }: ClaudeFacts): Message[] {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return messages;
  if (!prefill) {
    rendering.emulate('messages', 'added-turn');
    return [...messages, { role: 'user', content: [{ type: 'text', text: goOn }] }];
  }
  const block = last.content.at(-1);
  if (typeof block?.text === 'string') block.text = block.text.trimEnd();
  return messages;
}

function renderParts(rendering: Rendering, parts: readonly Part[]): Json[] {
  return parts.flatMap((part): Json[] => {
    switch (part.type) {
      case 'text':
      case 'refusal':
        // Nothing is lost by omitting empty text.
        return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
      case 'media':
        return [renderMedia(rendering, part)];
      case 'thinking':
        return renderThinking(rendering, part);
      case 'call':
        return [renderCall(rendering, part)];
      case 'result':
        return [renderResult(rendering, part)];
      default:
        rendering.losses.dropped(part.at, 'provider-item');
        return [];
    }
  });
}

/** Sent unchanged with its signature, or not at all, because a block without a signature is refused. */
function renderThinking(rendering: Rendering, { text, seal, at }: ThinkingPart): Json[] {
  if (!rendering.opens(seal)) {
    rendering.losses.dropped(at, seal === undefined ? 'unsealed-reasoning' : 'foreign-reasoning');
    return [];
  }
  if (seal.kind === 'redacted') return [{ type: 'redacted_thinking', data: seal.data }];
  if (seal.kind === 'signature') return [{ type: 'thinking', thinking: text, signature: seal.data }];
  rendering.losses.dropped(at, 'foreign-reasoning');
  return [];
}

function renderCall({ names, losses }: Rendering, call: CallPart): Json {
  if (call.seal) losses.dropped(call.at, 'foreign-reasoning');
  return { type: 'tool_use', id: call.id, name: names.encode(call), input: inputOf(call) };
}

/** Input that is not a JSON object is wrapped in one and kept: the model wrote it, and its next turn depends on it. */
function inputOf({ kind, arguments: callArguments }: CallPart): unknown {
  if (kind === 'custom') return { input: callArguments };
  if (callArguments.trim() === '') return {};
  return isObject(parseLosslessJson(callArguments)) ? new RawJson(callArguments) : { arguments: callArguments };
}

function renderResult(rendering: Rendering, { callId, parts, isError }: ResultPart): Json {
  const content = parts.flatMap((part): Json[] => {
    if (part.type === 'media') return [renderMedia(rendering, part)];
    return part.text === '' ? [] : [{ type: 'text', text: part.text }];
  });
  return { type: 'tool_result', tool_use_id: callId, content, is_error: isError ? true : undefined };
}

const imageTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

function renderMedia(rendering: Rendering, part: MediaPart): Json {
  const { kind, source, name, at } = part;
  rendering.dropDetail(part);
  if (source.type === 'file') return refuse(at, 'foreign-file');
  if (source.type === 'text') {
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: source.text }, title: name };
  }
  if (kind === 'audio' || kind === 'video') return refuse(at, 'media');
  const title = kind === 'document' ? name : undefined;
  const type = kind === 'image' ? 'image' : 'document';
  if (source.type === 'url') return { type, source: { type: 'url', url: source.url }, title };
  const { mediaType, data } = source;
  if (kind === 'image' && !imageTypes.includes(mediaType)) return refuse(at, 'media');
  if (kind === 'image' || mediaType === 'application/pdf') {
    return { type, source: { type: 'base64', media_type: mediaType, data }, title };
  }
  if (!mediaType.startsWith('text/')) return refuse(at, 'media');
  const text = Buffer.from(data, 'base64').toString();
  return { type, source: { type: 'text', media_type: 'text/plain', data: text }, title };
}
