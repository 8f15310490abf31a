/** Renders a request of `POST /v1/chat/completions`, for OpenAI or a provider that serves only this API. */
import { isObject } from '../../../contract/is-object.ts';
import type { LossCode } from '../../../contract/loss-codes.ts';
import { type OpenaiFacts, openaiFacts } from '../../../models/model-facts.ts';
import type { ChatFlavour, RefusedMembers } from '../../core/chat-flavour.ts';
import { entryOf } from '../../core/table-entry.ts';
import type { FieldName } from '../../neutral/client-api.ts';
import type {
  AnswerFormat,
  CallPart,
  Conversation,
  MediaPart,
  Part,
  ResultPart,
  Seal,
  ThinkingPart,
  Tool,
  ToolChoice,
  Turn,
} from '../../neutral/conversation.ts';
import { append, writeJson } from '../../neutral/json-text.ts';
import { type Losses, refuse } from '../../neutral/losses.ts';
import { fileNameOf, textIn, textOfDocument, urlOfSource } from '../../neutral/media.ts';
import { effortFor } from '../../neutral/requests/reasoning-effort.ts';
import {
  errorText,
  goOn,
  offeredTools,
  type RenderedRequest,
  Rendering,
  type Target,
  temperatureOf,
  userOf,
} from '../../neutral/requests/rendering.ts';
import { fitSchema } from '../../neutral/schemas/fit-schema.ts';
import { fitFormat, mayBeStrict } from '../answer-format.ts';
import { joinedTexts, lacksReasoning, missingSignature } from '../wire/fit-request.ts';
import { membersOf } from './parse-message.ts';

type Json = Record<string, unknown>;

/** OpenAI's API reference, "Create chat completion": names of functions; `stop` accepts up to four. */
const nameRule = { maxLength: 64, others: '_-', beginsWithLetter: false };
const maxStops = 4;

/** @throws GatewayError `invalid_value` if a chat cannot express the conversation */
export function renderChatRequest(conversation: Conversation, target: Target, losses: Losses): RenderedRequest {
  const facts = openaiFacts(target.model);
  const rendering = new Rendering(conversation, target, { ids: facts.callIds, names: nameRule, losses });
  const { sampling, stream } = conversation;
  if ((sampling.answers ?? 1) > 1) rendering.refuse('answers', 'no-equal');
  rendering.drop('topK', sampling.topK, 'no-equal');
  rendering.drop('logprobs', sampling.logprobs || sampling.topLogprobs || undefined, 'no-equal');
  const { format, prompts } = fitFormat(rendering, facts.isOpenai);
  const messages = renderMessages(rendering, facts, prompts);
  const body: Json = {
    model: target.model,
    messages,
    ...renderTools(rendering, facts),
    ...renderLimits(rendering, facts),
    ...temperatureOf(rendering, facts),
    seed: sampling.seed,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    logit_bias: sampling.logitBias,
    response_format: renderFormat(format),
    reasoning_effort: effortFor(rendering, facts),
    ...renderHints(rendering, facts),
    ...(messages.at(-1)?.role === 'assistant' ? target.prefill?.request : {}),
    ...(stream ? { stream } : {}),
    ...(stream && target.refusesStreamUsage !== true ? { stream_options: { include_usage: true } } : {}),
  };
  const { chatFlavour } = target;
  return { body: chatFlavour ? fitBody(rendering, body, chatFlavour) : body, names: rendering.names };
}

function renderLimits(rendering: Rendering, { isOpenai }: OpenaiFacts): Json {
  const { maxOutputTokens } = rendering.conversation;
  const limit = rendering.target.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const isExceeded = maxOutputTokens !== undefined && maxOutputTokens > limit;
  if (isExceeded) rendering.emulate('maxOutputTokens', 'out-of-range');
  return {
    [isOpenai ? 'max_completion_tokens' : 'max_tokens']: isExceeded ? limit : maxOutputTokens,
    stop: rendering.stopsUpTo(maxStops),
  };
}

function renderTools(rendering: Rendering, facts: OpenaiFacts): Json {
  const { tools, toolChoice, parallelToolCalls } = rendering.conversation;
  if (tools.length === 0) return {};
  const isFiltered = toolChoice?.mode === 'subset' && !facts.isOpenai;
  if (isFiltered) rendering.emulate('toolChoice', 'no-equal');
  const offered = isFiltered ? offeredTools(rendering.conversation) : tools;
  return {
    tools: offered.map((tool) => renderTool(rendering, tool, facts)),
    tool_choice: toolChoice && renderChoice(rendering, toolChoice, facts),
    parallel_tool_calls: parallelToolCalls === false ? false : undefined,
  };
}

function renderTool(rendering: Rendering, tool: Tool, { isOpenai }: OpenaiFacts): Json {
  const { description, schema, strict } = rendering.asFunction(tool);
  const name = rendering.names.encode(tool);
  const parameters = fitSchema(schema, {}, { at: tool.at, losses: rendering.losses });
  const isLoose = isOpenai && strict === true && !mayBeStrict(rendering, parameters);
  if (isLoose) rendering.dropStrict(tool, 'no-equal');
  return { type: 'function', function: { name, description, parameters, strict: isLoose ? undefined : strict } };
}

function renderChoice(rendering: Rendering, choice: ToolChoice, { isOpenai }: OpenaiFacts): unknown {
  if (choice.mode === 'named') return renderNamed(rendering, choice.name);
  if (choice.mode !== 'subset') return choice.mode;
  const mode = choice.isRequired ? 'required' : 'auto';
  if (!isOpenai) return mode;
  const tools = choice.names.map((name) => renderNamed(rendering, name));
  return { type: 'allowed_tools', allowed_tools: { mode, tools } };
}

function renderNamed({ names }: Rendering, name: string): Json {
  return { type: 'function', function: { name: names.encode({ name }) } };
}

function renderFormat(format: AnswerFormat | undefined): Json | undefined {
  if (format === undefined) return undefined;
  if (format.kind === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return { type: 'json_schema', json_schema: { name, description, schema, strict } };
}

const tiers = ['auto', 'default', 'flex', 'priority'];

/** Other services, such as Mistral's, may refuse parameters that only OpenAI has. */
function renderHints(rendering: Rendering, { isOpenai }: OpenaiFacts): Json {
  const { user, cacheKey, serviceTier, metadata, verbosity } = rendering.conversation;
  rendering.drop('metadata', metadata, 'no-equal');
  const isTier = isOpenai && tiers.includes(serviceTier ?? '');
  if (!isTier) rendering.drop('serviceTier', serviceTier, 'no-equal');
  if (isOpenai)
    return {
      safety_identifier: userOf(rendering),
      prompt_cache_key: cacheKey,
      service_tier: isTier ? serviceTier : undefined,
      verbosity,
    };
  rendering.drop('user', user, 'no-equal');
  rendering.drop('cacheKey', cacheKey, 'no-equal');
  rendering.drop('verbosity', verbosity, 'no-equal');
  return {};
}

/** What the client asked for by a member; undefined: nothing, or nothing that any client would miss. */
const askedBy: Readonly<Record<string, FieldName>> = {
  max_tokens: 'maxOutputTokens',
  max_completion_tokens: 'maxOutputTokens',
  temperature: 'temperature',
  top_p: 'topP',
  seed: 'seed',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  logit_bias: 'logitBias',
  stop: 'stopSequences',
  response_format: 'format',
  reasoning_effort: 'reasoning',
  verbosity: 'verbosity',
  tool_choice: 'toolChoice',
  parallel_tool_calls: 'parallelToolCalls',
  safety_identifier: 'user',
  prompt_cache_key: 'cacheKey',
  service_tier: 'serviceTier',
  strict: 'strictTool',
};

/** Fits a chat request that Sluice has written to a service that refuses some of what OpenAI takes. */
function fitBody(rendering: Rendering, body: Json, flavour: ChatFlavour): Json {
  const { request, messages, functions } = flavour;
  const fitted = withoutRefused(rendering, body, request);
  const { joinsTexts, wantsReasoning, signsCalls } = flavour;
  const isOfMessages =
    Object.keys(messages).length > 0 || joinsTexts || wantsReasoning !== 'of none' || signsCalls !== null;
  if (Array.isArray(fitted.messages) && isOfMessages)
    fitted.messages = fitted.messages.map((message) => fitMessage(rendering, message, flavour));
  if (Array.isArray(fitted.tools) && Object.keys(functions).length > 0)
    fitted.tools = fitted.tools.map((tool) => fitTool(rendering, tool, functions));
  return fitted;
}

function fitMessage(rendering: Rendering, message: unknown, flavour: ChatFlavour): unknown {
  const { messages, joinsTexts, wantsReasoning, signsCalls } = flavour;
  if (!isObject(message)) return message;
  const fitted = withoutRefused(rendering, message, messages);
  const text = joinsTexts ? joinedTexts(fitted.content) : undefined;
  const members = Object.entries(fitted).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [{ name }],
  );
  if (lacksReasoning(members, fitted.role, wantsReasoning)) fitted.reasoning_content = '';
  return { ...signed(fitted, signsCalls), ...(text !== undefined && { content: text }) };
}

function signed(message: Json, place: ChatFlavour['signsCalls']): Json {
  const missing = missingSignature(message, place);
  if (missing === null) return message;
  if ('ofMessage' in missing) return { ...message, ...missing.ofMessage };
  const [first, ...others] = message.tool_calls as Json[];
  return { ...message, tool_calls: [{ ...first, ...missing.ofFirstCall }, ...others] };
}

function fitTool(rendering: Rendering, tool: unknown, functions: RefusedMembers): unknown {
  if (!isObject(tool) || !isObject(tool.function)) return tool;
  return { ...tool, function: withoutRefused(rendering, tool.function, functions) };
}

/** Tells only of what the client asked for and does not get: under another name it is the same to him. */
function withoutRefused(rendering: Rendering, object: Json, refused: RefusedMembers): Json {
  const fitted: Json = {};
  for (const [name, value] of Object.entries(object)) {
    const instead = entryOf(refused, name);
    if (instead === undefined || value === undefined) fitted[name] = value;
    else if (instead !== null && object[instead] === undefined) fitted[instead] = value;
    else {
      const field = entryOf(askedBy, name);
      if (field !== undefined) rendering.drop(field, value, 'provider-refuses');
    }
  }
  return fitted;
}

// Renders turns as the messages of a chat request.

/**
 * Renders one system message at the beginning, as plain text, because chat templates such as Qwen's accept nothing
 * else.
 */
function renderMessages(rendering: Rendering, facts: OpenaiFacts, prompts: readonly string[]): Json[] {
  const { instructions } = rendering.conversation;
  const system = [...instructions.map(({ text }) => text), ...prompts].join('\n\n');
  const messages: Json[] = system === '' ? [] : [{ role: 'system', content: system }];
  for (const turn of rendering.turns) append(messages, renderTurn(rendering, turn, facts));
  return messages.at(-1)?.role === 'assistant' ? withPrefill(rendering, messages, facts) : messages;
}

/** OpenAI's models start over after an answer; of other services only some say whether theirs do. */
function withPrefill(rendering: Rendering, messages: readonly Json[], { isOpenai }: OpenaiFacts): Json[] {
  const { prefill } = rendering.target;
  if (prefill) return [...messages.slice(0, -1), { ...messages.at(-1), ...prefill.message }];
  rendering.emulate('messages', isOpenai ? 'added-turn' : 'prefill');
  return isOpenai ? [...messages, { role: 'user', content: goOn }] : [...messages];
}

function renderTurn(rendering: Rendering, { role, parts }: Turn, facts: OpenaiFacts): Json[] {
  if (role === 'assistant') return renderAssistant(rendering, parts, facts);
  const results = parts.filter((part) => part.type === 'result');
  const rest = renderContent(
    rendering,
    parts.filter((part) => part.type !== 'result'),
  );
  const message = role === 'system' ? { role, content: joinTexts(parts) } : { role, content: plainest(rest) };
  return [...renderResults(rendering, results), ...(rest.length === 0 ? [] : [message])];
}

function renderAssistant(rendering: Rendering, parts: readonly Part[], facts: OpenaiFacts): Json[] {
  const calls = parts.filter((part) => part.type === 'call');
  const refusals = parts.flatMap((part) => (part.type === 'refusal' ? [part.text] : []));
  const refusal = refusals.length === 0 ? undefined : refusals.join('\n\n');
  const content = joinTexts(parts);
  for (const { type, at } of parts) if (type === 'foreign') rendering.losses.dropped(at, 'provider-item');
  if (content === '' && calls.length === 0 && refusal === undefined) {
    for (const { type, at } of parts) if (type === 'thinking') rendering.losses.dropped(at, 'no-equal');
    return [];
  }
  const thoughts = renderThoughts(rendering, parts, facts);
  const message: Json = { role: 'assistant', content: content === '' ? null : content, refusal, ...thoughts };
  if (calls.length > 0) message.tool_calls = calls.map((call) => renderCall(rendering, call));
  return [message];
}

/**
 * Members that the provider itself sent go back to it as they came. DeepSeek and Kimi require reasoning to be returned with
 * calls, whoever thought it, unless the service refuses the field.
 */
function renderThoughts(rendering: Rendering, parts: readonly Part[], facts: OpenaiFacts): Json {
  const thinking = parts.filter((part) => part.type === 'thinking');
  const takesMembers = takes(rendering, 'reasoning_details');
  const own = thinking.flatMap(({ seal }) =>
    takesMembers && rendering.opens(seal) && isOfMembers(seal) ? [seal] : [],
  );
  const others = thinking.filter(({ seal }) => seal === undefined || !own.includes(seal));
  const isWanted = facts.needsReasoningBack && own.length === 0 && parts.some(({ type }) => type === 'call');
  if (isWanted && others.length > 0 && takes(rendering, 'reasoning_content'))
    return { reasoning_content: joinThoughts(rendering, others) };
  for (const { at, seal } of others) rendering.losses.dropped(at, whyDropped(rendering, seal));
  return membersOf(own);
}

function takes({ target }: Rendering, member: string): boolean {
  return entryOf(target.chatFlavour?.messages ?? {}, member) !== null;
}

function isOfMembers({ kind, data }: Seal): boolean {
  return kind === 'members' || (kind === 'plain' && data !== '');
}

/** Its own as it wrote them. */
function joinThoughts(rendering: Rendering, thinking: readonly ThinkingPart[]): string {
  const isOwn = thinking.every(({ seal }) => rendering.opens(seal));
  return thinking.map(({ text }) => text).join(isOwn ? '' : '\n\n');
}

function whyDropped(rendering: Rendering, seal: Seal | undefined): LossCode {
  if (seal === undefined) return 'unsealed-reasoning';
  if (!rendering.opens(seal)) return 'foreign-reasoning';
  return takes(rendering, isOfMembers(seal) ? 'reasoning_details' : 'reasoning_content')
    ? 'model-takes-none'
    : 'provider-refuses';
}

function renderCall(rendering: Rendering, call: CallPart): Json {
  const name = rendering.names.encode(call);
  const isCustom = call.kind === 'custom';
  const callArguments = isCustom ? writeJson({ input: call.arguments }) : call.arguments.trim() || '{}';
  const rendered: Json = { id: call.id, type: 'function', function: { name, arguments: callArguments } };
  if (rendering.opens(call.seal)) return { ...rendered, ...membersOf([call.seal]) };
  if (call.seal) rendering.losses.dropped(call.at, 'foreign-reasoning');
  return rendered;
}

/** Renders all results first, followed by one user message with the media that a `tool` message cannot contain. */
function renderResults(rendering: Rendering, results: readonly ResultPart[]): Json[] {
  const messages: Json[] = [];
  const moved: Json[] = [];
  for (const { callId, parts, isError, at } of results) {
    const texts = parts.flatMap((part) => textIn(part) ?? []);
    const media = parts.filter((part): part is MediaPart => textIn(part) === null);
    for (const part of media) rendering.losses.emulated(part.at, 'moved-media');
    if (media.length > 0)
      append(moved, [{ type: 'text', text: `from ${callId}:` }, ...renderContent(rendering, media)]);
    if (isError && at !== '') rendering.losses.emulated(`${at}.is_error`, 'as-text');
    const output = texts.join('\n') || (media.length > 0 ? 'The result follows in the next message.' : '(no output)');
    messages.push({ role: 'tool', tool_call_id: callId, content: isError ? errorText(output) : output });
  }
  return moved.length === 0 ? messages : [...messages, { role: 'user', content: moved }];
}

function renderContent(rendering: Rendering, parts: readonly Part[]): Json[] {
  return parts.flatMap((part) => {
    if (part.type === 'text' || part.type === 'refusal')
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    if (part.type === 'media') return [renderMedia(part)];
    rendering.losses.dropped(part.at, 'provider-item');
    return [];
  });
}

function renderMedia(part: MediaPart): Json {
  const { kind, source, detail, at } = part;
  if (source.type === 'text') return { type: 'text', text: textOfDocument(part, source.text) };
  if (source.type === 'file') return refuse(at, 'foreign-file');
  if (kind === 'image') return { type: 'image_url', image_url: { url: urlOfSource(source), detail } };
  if (source.type === 'url') return refuse(at, 'media');
  if (kind === 'document') {
    return { type: 'file', file: { filename: fileNameOf(part), file_data: urlOfSource(source) } };
  }
  const format = entryOf(soundFormats, source.mediaType);
  return format === undefined
    ? refuse(at, 'media')
    : { type: 'input_audio', input_audio: { data: source.data, format } };
}

const soundFormats: Record<string, string> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mp3': 'mp3',
  'audio/mpeg': 'mp3',
};

/** A single text is sent as a string, which every service accepts. */
function plainest(content: readonly Json[]): unknown {
  const [only] = content;
  return content.length === 1 && only?.type === 'text' ? only.text : content;
}

/** Joins adjacent texts that citations had divided. */
function joinTexts(parts: readonly Part[]): string {
  let text = '';
  let before: Part | undefined;
  for (const part of parts) {
    if (part.type === 'text') {
      const goesOn = before?.type === 'text' && before.isApart !== true && part.isApart !== true;
      text += text === '' || goesOn ? part.text : `\n\n${part.text}`;
    }
    before = part;
  }
  return text;
}
