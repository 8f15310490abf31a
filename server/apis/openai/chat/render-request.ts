/** Renders a request of `POST /v1/chat/completions`, for OpenAI or a provider that serves only this API. */

import { isObject } from '../../../contract/is-object.ts';
import { type OpenaiFacts, openaiFacts } from '../../../models/model-facts.ts';
import type { ChatFlavour, RefusedMembers } from '../../core/chat-flavour.ts';
import { entryOf } from '../../core/table-entry.ts';
import type { FieldName } from '../../neutral/client-api.ts';
import type { AnswerFormat, Conversation, Tool, ToolChoice } from '../../neutral/conversation.ts';
import type { Losses } from '../../neutral/losses.ts';
import { effortFor, temperatureOf, userOf } from '../../neutral/requests/reasoning-effort.ts';
import { offeredTools, type RenderedRequest, Rendering, type Target } from '../../neutral/requests/rendering.ts';
import { fitSchema } from '../../neutral/schemas/fit-schema.ts';
import { fitFormat, mayBeStrict } from '../answer-format.ts';
import { joinedTexts, lacksReasoning, missingSignature } from '../wire/fit-request.ts';
import { renderMessages } from './render-messages.ts';

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
