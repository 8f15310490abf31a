/** Parses a request of `:generateContent`. Source: Google, "Gemini API reference", v1beta. */

import type {
  AnswerFormat,
  Conversation,
  JsonSchema,
  Part,
  ReasoningRequest,
  Tool,
  ToolChoice,
} from '../../neutral/conversation.ts';
import type { Fields } from '../../neutral/fields.ts';
import { invalid, type Losses, refuse } from '../../neutral/losses.ts';
import { addSystem } from '../../neutral/requests/add-system.ts';
import { inCamelCase } from '../camel-case.ts';
import { generateClient } from './client.ts';
import { computerFunctions } from './computer-use.ts';
import { fromGoogleSchema } from './google-schema.ts';
import { parseContents, parsePart } from './parse-contents.ts';
import { ProtoFields } from './proto-fields.ts';

/**
 * @param body with `model` and `stream` added from the URL
 * @throws GatewayError `invalid_value` that names the invalid field
 */
export function parseGenerateRequest(body: unknown, losses: Losses): Conversation {
  const fields = new ProtoFields(inCamelCase(body), '', losses);
  const config = fields.fields('generationConfig') ?? new ProtoFields({}, 'generationConfig', losses);
  const conversation: Conversation = {
    client: generateClient,
    model: fields.requiredText('model'),
    ...parseConversation(fields),
    tools: parseTools(fields.items('tools')),
    toolChoice: parseChoice(fields.fields('toolConfig')),
    maxOutputTokens: config.number('maxOutputTokens'),
    sampling: {
      temperature: config.number('temperature'),
      topP: config.number('topP'),
      topK: config.number('topK'),
      seed: config.number('seed'),
      presencePenalty: config.number('presencePenalty'),
      frequencyPenalty: config.number('frequencyPenalty'),
      answers: config.number('candidateCount'),
      logprobs: config.boolean('responseLogprobs'),
      topLogprobs: config.number('logprobs'),
    },
    stopSequences: config.texts('stopSequences') ?? [],
    format: parseFormat(config),
    reasoning: parseReasoning(config.fields('thinkingConfig')),
    stream: fields.streamFlag('stream') ?? false,
    streamUsage: true,
    serviceTier: fields.text('serviceTier'),
  };
  dropMedia(config);
  config.dropRest();
  // Cached content contains the beginning of the conversation.
  if (fields.any('cachedContent') !== undefined) refuse('cachedContent', 'foreign-file');
  fields.drop('no-equal', 'safetySettings', 'labels');
  fields.dropRest();
  return conversation;
}

/** Audio and images in answers are not translated; all APIs support text. */
function dropMedia(config: Fields): void {
  const modalities = config.texts('responseModalities') ?? [];
  if (modalities.some((modality) => modality.toUpperCase() !== 'TEXT')) config.drop('media', 'responseModalities');
  config.drop('media', 'speechConfig', 'imageConfig', 'mediaResolution');
}

function parseConversation(fields: Fields): Pick<Conversation, 'instructions' | 'turns'> {
  const system: Pick<Conversation, 'instructions' | 'turns'> = { instructions: [], turns: [] };
  addSystem(system, parseInstruction(fields), fields.losses);
  return { instructions: system.instructions, turns: [...system.turns, ...parseContents(fields)] };
}

/** Accepts a content or, as the SDKs allow, a text. */
function parseInstruction(fields: Fields): Part[] {
  const instruction = fields.any('systemInstruction');
  if (typeof instruction === 'string') return [{ type: 'text', text: instruction, at: 'systemInstruction' }];
  const content = fields.fields('systemInstruction');
  content?.ignore('role');
  const parts = content?.items('parts').flatMap(parsePart) ?? [];
  content?.dropRest();
  return parts;
}

function parseTools(entries: Fields[]): Tool[] {
  const declared = entries.flatMap(parseDeclarations);
  const names = new Set(declared.map(({ name }) => name));
  return [...declared, ...entries.flatMap((entry) => parseComputerUse(entry, names))];
}

/** @param declared names of functions that the client itself describes */
function parseComputerUse(entry: Fields, declared: ReadonlySet<string>): Tool[] {
  const computer = entry.fields('computerUse');
  const excluded = computer?.texts('excludedPredefinedFunctions') ?? [];
  computer?.ignore('environment');
  computer?.dropRest();
  entry.dropRest();
  return computer ? computerFunctions(new Set([...declared, ...excluded]), computer.at) : [];
}

function parseDeclarations(entry: Fields): Tool[] {
  const tools = entry.items('functionDeclarations').map((declaration): Tool => {
    const tool: Tool = {
      kind: 'function',
      name: declaration.requiredText('name'),
      description: declaration.text('description'),
      schema: declaration.object('parametersJsonSchema') ?? googleSchema(declaration.object('parameters')),
      at: declaration.at,
    };
    declaration.drop('no-equal', 'response', 'responseJsonSchema', 'behavior');
    declaration.dropRest();
    return tool;
  });
  entry.drop(
    'provider-tool',
    ...'googleSearch googleSearchRetrieval urlContext codeExecution fileSearch googleMaps mcpServers'.split(' '),
  );
  return tools;
}

function googleSchema(schema: JsonSchema | undefined): JsonSchema | undefined {
  return schema && fromGoogleSchema(schema);
}

function parseChoice(toolConfig: Fields | undefined): ToolChoice | undefined {
  const config = toolConfig?.fields('functionCallingConfig');
  toolConfig?.drop('no-equal', 'retrievalConfig');
  toolConfig?.dropRest();
  if (config === undefined) return undefined;
  const mode = (config.text('mode') ?? 'AUTO').toUpperCase();
  const names = config.texts('allowedFunctionNames') ?? [];
  config.ignore('streamFunctionCallArguments');
  config.dropRest();
  if (mode === 'NONE') return { mode: 'none' };
  const [only] = names;
  if (mode === 'ANY' && names.length === 1 && only !== undefined) return { mode: 'named', name: only };
  if (names.length > 0) return { mode: 'subset', names, isRequired: mode === 'ANY' };
  if (mode === 'ANY') return { mode: 'required' };
  if (mode === 'AUTO' || mode === 'VALIDATED' || mode === 'MODE_UNSPECIFIED') return { mode: 'auto' };
  return invalid(config.path('mode'), 'it is not one of AUTO, ANY, NONE, VALIDATED');
}

function parseFormat(config: Fields): AnswerFormat | undefined {
  const mediaType = config.text('responseMimeType');
  const schema = config.object('responseJsonSchema') ?? googleSchema(config.object('responseSchema'));
  if (schema !== undefined) return { kind: 'schema', name: 'answer', schema };
  return mediaType === 'application/json' ? { kind: 'json' } : undefined;
}

function parseReasoning(thinking: Fields | undefined): ReasoningRequest | undefined {
  if (thinking === undefined) return undefined;
  const level = thinking.text('thinkingLevel');
  const budget = thinking.number('thinkingBudget');
  const isVisible = thinking.boolean('includeThoughts') ?? false;
  thinking.dropRest();
  if (level !== undefined) return { effort: level.toLowerCase(), isVisible };
  // -1 leaves the budget to the model.
  return { budgetTokens: budget === -1 ? undefined : budget, isVisible };
}
