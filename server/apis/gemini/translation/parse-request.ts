/** Parses a request of `:generateContent`. Source: Google, "Gemini API reference", v1beta. */

import { isObject } from '../../../contract/is-object.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import type { ClientApi } from '../../neutral/client-api.ts';
import {
  type AnswerFormat,
  addSystem,
  type Conversation,
  type JsonSchema,
  type Part,
  type ReasoningRequest,
  type Tool,
  type ToolChoice,
} from '../../neutral/conversation.ts';
import { Fields } from '../../neutral/fields.ts';
import { invalid, type Losses, refuse } from '../../neutral/losses.ts';
import { mapSchemas, maxSchemaDepth } from '../../neutral/schemas/schema-walk.ts';
import { camel, inCamelCase } from '../request.ts';
import { parseContents, parsePart } from './parse-contents.ts';

const schema = { type: 'object', properties: { path: { type: 'string' } } };

/** Gemini's API as clients of `:generateContent` use it. */
export const generateClient: ClientApi = {
  wire: 'gemini-generate',
  fieldNames: {
    temperature: 'generationConfig.temperature',
    topP: 'generationConfig.topP',
    topK: 'generationConfig.topK',
    seed: 'generationConfig.seed',
    presencePenalty: 'generationConfig.presencePenalty',
    frequencyPenalty: 'generationConfig.frequencyPenalty',
    answers: 'generationConfig.candidateCount',
    logprobs: 'generationConfig.responseLogprobs',
    maxOutputTokens: 'generationConfig.maxOutputTokens',
    stopSequences: 'generationConfig.stopSequences',
    format: 'generationConfig.responseMimeType',
    reasoning: 'generationConfig.thinkingConfig',
    toolChoice: 'toolConfig.functionCallingConfig',
    serviceTier: 'serviceTier',
    messages: 'contents',
  },
  callIds: 'any',
  hasSealedCalls: true,
  takesLateSeals: true,
  callMark: 'functionCall',
  resultId: 'id',
  hasRefusals: false,
  hasCitations: true,
  wantsWholeArguments: true,
  specimen: {
    contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
    tools: [{ functionDeclarations: [{ name: 'read', parameters: schema }] }, { googleSearch: {} }],
    generationConfig: {
      maxOutputTokens: 1_000,
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      seed: 1,
      presencePenalty: 0.5,
      frequencyPenalty: 0.5,
      stopSequences: ['END'],
      responseMimeType: 'application/json',
      thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true },
      mediaResolution: 'MEDIA_RESOLUTION_LOW',
    },
    safetySettings: [],
  },
};

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

type Properties = Record<string, JsonSchema>;

const text = { type: 'string' };
const flag = { type: 'boolean' };
/** Of a grid that stands for the whole screen, whatever its size. */
const coordinate = { type: 'integer', minimum: 0, maximum: 999 };
const place = { x: coordinate, y: coordinate };
const direction = (...values: string[]) => ({ type: 'string', enum: values });
const anyDirection = direction('up', 'down', 'left', 'right');

interface PredefinedFunction {
  description: string;
  properties: Properties;
  /** Properties that may be left out. */
  optional?: readonly string[];
}

const functions: Readonly<Record<string, PredefinedFunction>> = {
  open_web_browser: { description: 'Opens the web browser.', properties: {} },
  wait_5_seconds: { description: 'Waits for 5 seconds, until the page has loaded.', properties: {} },
  go_back: { description: 'Goes back to the previous page in the browser’s history.', properties: {} },
  go_forward: { description: 'Goes forward to the next page in the browser’s history.', properties: {} },
  search: { description: 'Opens the start page of the default search engine.', properties: {} },
  navigate: { description: 'Opens a URL.', properties: { url: text } },
  click_at: { description: 'Clicks at a place on the screen.', properties: place },
  hover_at: { description: 'Moves the mouse to a place on the screen.', properties: place },
  type_text_at: {
    description:
      'Types text at a place on the screen. It clears the field first and presses Enter afterwards, unless told not to.',
    properties: { ...place, text, press_enter: flag, clear_before_typing: flag },
    optional: ['press_enter', 'clear_before_typing'],
  },
  key_combination: {
    description: 'Presses keys together, such as "control+c" or "enter".',
    properties: { keys: text },
  },
  scroll_document: { description: 'Scrolls the whole page.', properties: { direction: anyDirection } },
  scroll_at: {
    description: 'Scrolls what is at a place on the screen.',
    properties: { ...place, direction: anyDirection, magnitude: coordinate },
    optional: ['magnitude'],
  },
  drag_and_drop: {
    description: 'Drags what is at a place on the screen to another place.',
    properties: { ...place, destination_x: coordinate, destination_y: coordinate },
  },
};

const ofPlaces = 'Coordinates are in a grid of 1000 × 1000 over the whole screen, from its upper left corner.';

/**
 * The functions of Gemini's computer use, which its models know without being told: what a model of another service is
 * told of them. They are called as any other function is. Source: Google, "Computer Use", Supported UI actions.
 *
 * All functions but those in `excluded`. `at` is where the tool that stands for them is in the request.
 */
function computerFunctions(excluded: ReadonlySet<string>, at: string): Tool[] {
  return Object.entries(functions)
    .filter(([name]) => !excluded.has(name))
    .map(([name, { description, properties, optional = [] }]) => ({
      kind: 'function',
      name,
      description: 'x' in properties ? `${description} ${ofPlaces}` : description,
      schema: {
        type: 'object',
        properties,
        required: Object.keys(properties).filter((property) => !optional.includes(property)),
      },
      at,
    }));
}

const limits = new Set('minItems maxItems minLength maxLength minProperties maxProperties minimum maximum'.split(' '));
/** Keywords that JSON Schema does not have, and that do not say which values are valid. */
const dropped = new Set(['nullable', 'propertyOrdering']);

/**
 * Google's own schemas as JSON Schema: types in capitals, limits that are texts, and `nullable`. Source: Google,
 * "Gemini API reference", `Schema`; `types.ts` of its SDK, where `minItems` and its kin are strings.
 */
export function fromGoogleSchema(schema: JsonSchema, depth = 0): JsonSchema {
  if (depth > maxSchemaDepth) return schema;
  const known: JsonSchema = {};
  for (const [name, value] of Object.entries(schema)) {
    const keyword = name.startsWith('$') ? name : camel(name);
    if (!dropped.has(keyword)) known[keyword] = limits.has(keyword) ? (numberIn(value) ?? value) : value;
  }
  const { type, example, ...others } = known;
  // Proto3 sends the default of an enumeration for a type that is not set.
  const isTyped = type !== undefined && String(type).toUpperCase() !== 'TYPE_UNSPECIFIED';
  const lowered: JsonSchema = {
    ...(isTyped && { type: inLowerCase(type) }),
    ...others,
    ...(example !== undefined && { examples: [example] }),
  };
  if (Array.isArray(lowered.enum) && lowered.enum.length === 0) delete lowered.enum;
  const mapped = mapSchemas(lowered, (inner) => fromGoogleSchema(inner, depth + 1));
  return schema.nullable === true ? orNull(mapped) : mapped;
}

function inLowerCase(type: unknown): unknown {
  if (Array.isArray(type)) return type.map(inLowerCase);
  return typeof type === 'string' ? type.toLowerCase() : type;
}

function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, anyOf, ...others } = schema;
  const isNullable = Array.isArray(type) ? type.includes('null') : type === 'null';
  return {
    ...(type !== undefined && { type: isNullable ? type : [type, 'null'].flat() }),
    ...(Array.isArray(values) && { enum: values.includes(null) ? values : [...values, null] }),
    ...(Array.isArray(anyOf) && { anyOf: hasNull(anyOf) ? anyOf : [...anyOf, { type: 'null' }] }),
    ...others,
  };
}

function hasNull(alternatives: readonly unknown[]): boolean {
  return alternatives.some((each) => isObject(each) && each.type === 'null');
}

/**
 * Reads Google's requests as its services do, whose JSON is that of protobuf: a single value may stand for a list of
 * one, a number for its digits, and a constant may be written in lower case. Sources: Protocol Buffers, "ProtoJSON
 * format"; requests that Google's own examples send.
 */
class ProtoFields extends Fields {
  protected override nested(value: unknown, at: string): Fields {
    return new ProtoFields(value, at, this.losses);
  }

  override list(name: string): unknown[] | undefined {
    const value = this.any(name);
    return value === undefined || Array.isArray(value) ? value : [value];
  }

  override number(name: string): number | undefined {
    return numberIn(this.any(name)) ?? super.number(name);
  }
}

const digits = boundedPattern(/^-?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?$/);

/** The number that a text of digits stands for; undefined for anything else. */
function numberIn(value: unknown): number | undefined {
  return typeof value === 'string' && digits.test(value) ? Number(value) : undefined;
}
