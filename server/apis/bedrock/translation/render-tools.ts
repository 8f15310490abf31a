/**
 * Renders the tools of a request for Bedrock's Converse API, which of them the model must call, and the format of its
 * answer.
 */

import type { JsonSchema, Tool, ToolChoice } from '../../neutral/conversation.ts';
import { formatPrompt } from '../../neutral/requests/format-prompt.ts';
import { offeredTools } from '../../neutral/requests/offered-tools.ts';
import type { Rendering } from '../../neutral/requests/rendering.ts';
import { fitSchema, isOfObjects } from '../../neutral/schemas/fit-schema.ts';
import { strictSchema } from '../../neutral/schemas/strict-schema.ts';
import type { ConverseFacts } from './model-facts.ts';

type Json = Record<string, unknown>;

interface ToolUse {
  /** The value for `toolConfig`; absent if no tools are offered. */
  config?: Json;
  prompts: string[];
  /** The tool whose arguments are the answer. */
  answerTool?: string;
}

const answerToolName = 'answer_in_format';

export function renderTools(rendering: Rendering, facts: ConverseFacts): ToolUse {
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
