/** Renders a request of `POST /v1/responses` that stores nothing at the upstream. */

import { type OpenaiFacts, openaiFacts } from '../../../models/model-facts.ts';
import type { AnswerFormat, Conversation, Tool, ToolChoice } from '../../neutral/conversation.ts';
import type { Losses } from '../../neutral/losses.ts';
import { effortFor, temperatureOf, userOf } from '../../neutral/requests/openai-limits.ts';
import { type RenderedRequest, Rendering, type Target } from '../../neutral/requests/rendering.ts';
import { fitSchema } from '../../neutral/schemas/fit-schema.ts';
import { fitFormat, mayBeStrict } from '../answer-format.ts';
import { renderInput } from './render-input.ts';

type Json = Record<string, unknown>;

/** OpenAI's API reference, "Create a model response". */
const nameRule = { maxLength: 64, others: '_-', beginsWithLetter: false };
const minOutputTokens = 16;
const tiers = ['auto', 'default', 'flex', 'priority'];

/** @throws GatewayError `invalid_value` if a response cannot express the conversation */
export function renderResponsesRequest(conversation: Conversation, target: Target, losses: Losses): RenderedRequest {
  const facts = openaiFacts(target.model);
  const rendering = new Rendering(conversation, target, { ids: 'openai', names: nameRule, losses });
  const { sampling, instructions, stream, serviceTier } = conversation;
  if ((sampling.answers ?? 1) > 1) rendering.refuse('answers', 'no-equal');
  dropUnequalled(rendering);
  const { format, prompts } = fitFormat(rendering, facts.isOpenai);
  const system = [...instructions.map(({ text }) => text), ...prompts];
  const body: Json = {
    model: target.model,
    instructions: system.length === 0 ? undefined : system.join('\n\n'),
    input: renderInput(rendering, facts),
    ...renderTools(rendering, facts),
    max_output_tokens: renderLimit(rendering),
    ...temperatureOf(rendering, facts),
    text: renderText(format, conversation.verbosity),
    reasoning: renderReasoning(rendering, facts),
    store: false,
    include: facts.efforts.length > 0 ? ['reasoning.encrypted_content'] : undefined,
    safety_identifier: userOf(rendering),
    prompt_cache_key: conversation.cacheKey,
    service_tier: tiers.includes(serviceTier ?? '') ? serviceTier : undefined,
    metadata: conversation.metadata,
    stream: stream ? true : undefined,
  };
  return { body, names: rendering.names };
}

function dropUnequalled(rendering: Rendering): void {
  const { sampling, stopSequences, serviceTier } = rendering.conversation;
  rendering.drop('topK', sampling.topK, 'no-equal');
  rendering.drop('logprobs', sampling.logprobs || sampling.topLogprobs || undefined, 'no-equal');
  rendering.drop('seed', sampling.seed, 'no-equal');
  rendering.drop('presencePenalty', sampling.presencePenalty || undefined, 'no-equal');
  rendering.drop('frequencyPenalty', sampling.frequencyPenalty || undefined, 'no-equal');
  rendering.drop('logitBias', sampling.logitBias, 'no-equal');
  rendering.drop('stopSequences', stopSequences.length === 0 ? undefined : stopSequences, 'no-equal');
  if (!tiers.includes(serviceTier ?? '')) rendering.drop('serviceTier', serviceTier, 'no-equal');
}

function renderLimit(rendering: Rendering): number | undefined {
  const { maxOutputTokens } = rendering.conversation;
  if (maxOutputTokens === undefined || maxOutputTokens >= minOutputTokens) return maxOutputTokens;
  rendering.emulate('maxOutputTokens', 'out-of-range');
  return minOutputTokens;
}

function renderTools(rendering: Rendering, { isOpenai }: OpenaiFacts): Json {
  const { tools, toolChoice, parallelToolCalls } = rendering.conversation;
  if (tools.length === 0) return {};
  const customTools = isOpenai ? tools.filter(({ kind }) => kind === 'custom') : [];
  const customNames = new Set(customTools.map(({ name }) => name));
  return {
    tools: tools.map((tool) => renderTool(rendering, tool, isOpenai)),
    tool_choice: toolChoice && renderChoice(rendering, toolChoice, customNames),
    parallel_tool_calls: parallelToolCalls,
  };
}

/** Sets `strict` explicitly, because Responses treats its absence as true. */
function renderTool(rendering: Rendering, tool: Tool, isOpenai: boolean): Json {
  const name = rendering.names.encode(tool);
  if (tool.kind === 'custom' && isOpenai) {
    return { type: 'custom', name, description: tool.description, format: tool.format };
  }
  const { description, schema, strict } = rendering.asFunction(tool);
  const parameters = fitSchema(schema, {}, { at: tool.at, losses: rendering.losses });
  const isStrict = strict === true && (!isOpenai || mayBeStrict(rendering, parameters));
  if (!isStrict) rendering.dropStrict(tool, 'no-equal');
  return { type: 'function', name, description, parameters, strict: isStrict };
}

function renderChoice(rendering: Rendering, choice: ToolChoice, customNames: ReadonlySet<string>): unknown {
  if (choice.mode === 'named') return renderNamed(rendering, choice.name, customNames);
  if (choice.mode !== 'subset') return choice.mode;
  const tools = choice.names.map((name) => renderNamed(rendering, name, customNames));
  return { type: 'allowed_tools', mode: choice.isRequired ? 'required' : 'auto', tools };
}

function renderNamed({ names }: Rendering, name: string, customNames: ReadonlySet<string>): Json {
  return { type: customNames.has(name) ? 'custom' : 'function', name: names.encode({ name }) };
}

function renderText(format: AnswerFormat | undefined, verbosity: string | undefined): Json | undefined {
  if (format === undefined && verbosity === undefined) return undefined;
  return { format: format && renderFormat(format), verbosity };
}

function renderFormat(format: AnswerFormat): Json {
  if (format.kind === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return { type: 'json_schema', name, description, schema, strict: strict ?? false };
}

function renderReasoning(rendering: Rendering, facts: OpenaiFacts): Json | undefined {
  const { reasoning } = rendering.conversation;
  const effort = effortFor(rendering, facts);
  if (reasoning === undefined || facts.efforts.length === 0) return undefined;
  return { effort, summary: reasoning.isVisible === false || effort === 'none' ? undefined : 'auto' };
}
