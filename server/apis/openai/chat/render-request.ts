/** Renders a request of `POST /v1/chat/completions`, for OpenAI or a provider that serves only this API. */

import { type OpenaiFacts, openaiFacts } from '../../../models/model-facts.ts';
import type { AnswerFormat, Conversation, Tool, ToolChoice } from '../../neutral/conversation.ts';
import type { Losses } from '../../neutral/losses.ts';
import { offeredTools } from '../../neutral/requests/offered-tools.ts';
import { effortFor, temperatureOf, userOf } from '../../neutral/requests/openai-limits.ts';
import { type RenderedRequest, Rendering, type Target } from '../../neutral/requests/rendering.ts';
import { fitSchema } from '../../neutral/schemas/fit-schema.ts';
import { fitFormat, mayBeStrict } from '../answer-format.ts';
import { fitBody } from './fit-body.ts';
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
