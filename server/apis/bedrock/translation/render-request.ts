/** Renders a request of Bedrock's Converse API. The model and whether to stream are in the URL. */
import { largestAnswer } from '../../../models/model-facts.ts';
import type { Conversation, JsonSchema, Tool, ToolChoice } from '../../neutral/conversation.ts';
import { writeJson } from '../../neutral/json-text.ts';
import type { Losses } from '../../neutral/losses.ts';
import { effortOf, isOff, nearestEffort } from '../../neutral/requests/reasoning-effort.ts';
import {
  dropHints,
  formatPrompt,
  offeredTools,
  type RenderedRequest,
  Rendering,
  type Target,
} from '../../neutral/requests/rendering.ts';
import { fitSchema, isOfObjects } from '../../neutral/schemas/fit-schema.ts';
import { strictSchema } from '../../neutral/schemas/schema-walk.ts';
import { type ConverseFacts, converseFacts } from './model-facts.ts';
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

interface ToolUse {
  /** The value for `toolConfig`; absent if no tools are offered. */
  config?: Json;
  prompts: string[];
  /** The tool whose arguments are the answer. */
  answerTool?: string;
}

const answerToolName = 'answer_in_format';

/**
 * Renders the tools of a request for Bedrock's Converse API, which of them the model must call, and the format of its
 * answer.
 */
function renderTools(rendering: Rendering, facts: ConverseFacts): ToolUse {
  const { toolChoice, parallelToolCalls, format } = rendering.conversation;
  rendering.drop('parallelToolCalls', parallelToolCalls === false ? false : undefined, 'no-equal');
  const offered = toolsToOffer(rendering);
  const tools = offered.map((tool) => renderTool(rendering, tool, facts));
  const isNative = format?.kind === 'schema' && facts.structuredOutput;
  if (format === undefined || isNative) return withChoice(rendering, facts, { tools, offered, choice: toolChoice });
  const isFree = toolChoice === undefined || toolChoice.mode === 'auto' || toolChoice.mode === 'none';
  if (format.kind === 'json' || facts.forcedTool === 'none' || !isFree || !isOfObjects(format.schema)) {
    rendering.emulate('format', 'in-prompt');
    const prompt = formatPrompt(format.kind === 'schema' ? format.schema : undefined);
    const chosenTools = withChoice(rendering, facts, { tools, offered, choice: toolChoice });
    return { ...chosenTools, prompts: [...chosenTools.prompts, prompt] };
  }
  rendering.emulate('format', 'as-tool');
  const description = format.description ?? 'Gives the answer in the format that is wanted.';
  const schema = schemaFor(rendering, format.schema, rendering.nameOf('format'), facts);
  const answer = { toolSpec: { name: answerToolName, description, inputSchema: { json: schema } } };
  return { config: { tools: [...tools, answer], toolChoice: { any: {} } }, prompts: [], answerTool: answerToolName };
}

/** Converse has no choice `none`, so no tools are offered in that case. */
function toolsToOffer(rendering: Rendering): readonly Tool[] {
  const { toolChoice } = rendering.conversation;
  if (toolChoice?.mode === 'none') return [];
  if (toolChoice?.mode === 'subset') rendering.emulate('toolChoice', 'no-equal');
  return offeredTools(rendering.conversation);
}

function renderTool(rendering: Rendering, tool: Tool, facts: ConverseFacts): Json {
  const { description, schema, strict } = rendering.asFunction(tool);
  const isStrict = strict === true && facts.structuredOutput && schema !== undefined;
  if (!isStrict) rendering.dropStrict(tool, 'model-takes-none');
  const fitted = schemaFor(rendering, schema, tool.at, facts);
  const json = isStrict ? strictSchema(fitted, tool.at, rendering.losses) : fitted;
  return {
    toolSpec: {
      name: rendering.names.encode(tool),
      description: description === '' ? undefined : description,
      inputSchema: { json },
      strict: isStrict ? true : undefined,
    },
  };
}

function schemaFor(
  rendering: Rendering,
  toolSchema: JsonSchema | undefined,
  at: string,
  facts: ConverseFacts,
): JsonSchema {
  return fitSchema(toolSchema, { isPlainAtTop: facts.plainSchemas }, { at, losses: rendering.losses });
}

interface Choosing {
  tools: readonly Json[];
  offered: readonly Tool[];
  choice: ToolChoice | undefined;
}

function withChoice(
  rendering: Rendering,
  { forcedTool }: ConverseFacts,
  { tools, offered, choice }: Choosing,
): ToolUse {
  if (tools.length === 0) return { prompts: [] };
  const isNamed = choice?.mode === 'named';
  const isForced = isNamed || choice?.mode === 'required' || (choice?.mode === 'subset' && choice.isRequired);
  if (!isForced) return { config: { tools }, prompts: [] };
  const name = isNamed ? rendering.names.encode(choice) : undefined;
  if (forcedTool === 'none') {
    rendering.emulate('toolChoice', 'in-prompt');
    const prompt = name === undefined ? 'Answer by calling one of the tools.' : `Answer by calling the tool ${name}.`;
    return { config: { tools }, prompts: [prompt] };
  }
  if (name === undefined) return { config: { tools, toolChoice: { any: {} } }, prompts: [] };
  if (forcedTool === 'named') return { config: { tools, toolChoice: { tool: { name } } }, prompts: [] };
  rendering.emulate('toolChoice', 'no-equal');
  const only = tools.filter((_, index) => offered[index] && rendering.names.encode(offered[index]) === name);
  return { config: { tools: only, toolChoice: { any: {} } }, prompts: [] };
}

/**
 * The format of an answer, for models that support schemas themselves. Source: Amazon Bedrock API reference,
 * `OutputFormat`.
 *
 * The value for `outputConfig`; undefined if the format is emulated, or if none is requested.
 */
function renderFormat(rendering: Rendering, { structuredOutput }: ConverseFacts): object | undefined {
  const { format } = rendering.conversation;
  if (format?.kind !== 'schema' || !structuredOutput) return undefined;
  const { name, description } = format;
  const schema = strictSchema(format.schema, rendering.nameOf('format'), rendering.losses);
  // The schema is JSON within JSON.
  const jsonSchema = { schema: writeJson(schema), name, description };
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}
