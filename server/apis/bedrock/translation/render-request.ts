/** Renders a request of Bedrock's Converse API. The model and whether to stream are in the URL. */

import { isObject } from '../../../contract/is-object.ts';
import { largestAnswer } from '../../../models/model-facts.ts';
import { entryOf } from '../../core/table-entry.ts';
import type {
  CallPart,
  Conversation,
  JsonSchema,
  MediaPart,
  Part,
  ResultPart,
  TextPart,
  ThinkingPart,
  Tool,
  ToolChoice,
  Turn,
} from '../../neutral/conversation.ts';
import { append, parseLosslessJson, RawJson, writeJson } from '../../neutral/json-text.ts';
import { type Losses, refuse } from '../../neutral/losses.ts';
import { fileNameOf } from '../../neutral/media.ts';
import { effortOf, isOff, nearestEffort } from '../../neutral/requests/reasoning-effort.ts';
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
import { type ConverseFacts, converseFacts } from './model-facts.ts';

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

// Renders turns as messages under the rules of Bedrock's Converse API: the first message is the user's, roles
// alternate, results follow their calls, no text is empty, and a message with a document has a text.

interface Message {
  role: 'user' | 'assistant';
  content: Json[];
}

interface Rules {
  facts: ConverseFacts;
  /**
   * Whether the request offers no tools, so that calls and results are written as text: "The toolConfig field must be
   * defined when using toolUse and toolResult content blocks" (vxcontrol/pentagi#196).
   */
  callsAsText: boolean;
}

/** @param leading texts that precede the user's first, for models without `system` */
function renderTurns(rendering: Rendering, rules: Rules, leading: readonly Json[]): Message[] {
  const writer = new TurnWriter(rendering, rules);
  const messages: Message[] = leading.length === 0 ? [] : [{ role: 'user', content: [...leading] }];
  for (const turn of rendering.turns) {
    const role = turn.role === 'assistant' ? 'assistant' : 'user';
    const content = turn.role === 'system' ? asReminder(rendering, turn) : writer.write(turn.parts);
    if (content.length === 0) continue;
    const before = messages.at(-1);
    if (before?.role === role) append(before.content, content);
    else messages.push({ role, content });
  }
  if (messages[0]?.role !== 'user') {
    rendering.emulate('messages', 'added-turn');
    messages.unshift({ role: 'user', content: [{ text: '(The conversation goes on.)' }] });
  }
  if (messages.at(-1)?.role === 'assistant') {
    rendering.emulate('messages', 'added-turn');
    messages.push({ role: 'user', content: [{ text: goOn }] });
  }
  for (const message of messages) settle(rendering, message, rules.facts);
  return messages;
}

/** Kept in its place: moving it to the top would change the prefix on which caches depend. */
function asReminder({ losses }: Rendering, { parts }: Turn): Json[] {
  return parts.flatMap((part) => {
    if (part.type !== 'text' || part.text.trim() === '') return [];
    losses.emulated(part.at, 'as-text');
    return [{ text: `<system-reminder>\n${part.text}\n</system-reminder>` }];
  });
}

/**
 * "The text field must be provided in a message with a document". Some models accept no other content beside tool
 * results.
 */
function settle(rendering: Rendering, message: Message, { mixedResults }: ConverseFacts): void {
  const { content } = message;
  const results = content.filter(({ toolResult }) => isObject(toolResult));
  if (!mixedResults && results.length > 0 && results.length < content.length) {
    rendering.emulate('messages', 'merged-turn');
    message.content = intoResults(content, results);
    return;
  }
  const hasDocument = content.some((block) => 'document' in block);
  if (hasDocument && !content.some((block) => 'text' in block)) content.push({ text: 'See the document.' });
}

/** Moves the other content of the message into the last tool result. */
function intoResults(content: readonly Json[], results: readonly Json[]): Json[] {
  const others = content.filter(({ toolResult }) => !isObject(toolResult));
  return results.map((block, index) => {
    const { toolResult } = block;
    if (index < results.length - 1 || !isObject(toolResult)) return block;
    const existing = Array.isArray(toolResult.content) ? toolResult.content : [];
    return { toolResult: { ...toolResult, content: [...existing, ...others] } };
  });
}

class TurnWriter {
  readonly #rendering: Rendering;
  readonly #rules: Rules;
  readonly #documents = new DocumentNames();

  constructor(rendering: Rendering, rules: Rules) {
    this.#rendering = rendering;
    this.#rules = rules;
  }

  write(parts: readonly Part[]): Json[] {
    return parts.flatMap((part): Json[] => {
      switch (part.type) {
        case 'text':
        case 'refusal':
          // Nothing is lost by omitting empty text.
          return part.text.trim() === '' ? [] : [{ text: part.text }];
        case 'media':
          return [renderMedia(this.#rendering, part, this.#documents)];
        case 'thinking':
          return this.#think(part);
        case 'call':
          return [this.#call(part)];
        case 'result':
          return this.#result(part);
        default:
          this.#rendering.losses.dropped(part.at, 'provider-item');
          return [];
      }
    });
  }

  #think({ text, seal, at }: ThinkingPart): Json[] {
    const { losses } = this.#rendering;
    if (!this.#rendering.opens(seal))
      losses.dropped(at, seal === undefined ? 'unsealed-reasoning' : 'foreign-reasoning');
    else if (!this.#rules.facts.takesReasoning) losses.dropped(at, 'model-takes-none');
    else if (seal.kind === 'redacted') return [{ reasoningContent: { redactedContent: seal.data } }];
    else if (seal.kind === 'signature')
      return [{ reasoningContent: { reasoningText: { text, signature: seal.data } } }];
    else if (seal.kind === 'plain') return text === '' ? [] : [{ reasoningContent: { reasoningText: { text } } }];
    else losses.dropped(at, 'foreign-reasoning');
    return [];
  }

  #call(call: CallPart): Json {
    const { names, losses } = this.#rendering;
    if (call.seal) losses.dropped(call.at, 'foreign-reasoning');
    const name = names.encode(call);
    if (!this.#rules.callsAsText) return { toolUse: { toolUseId: call.id, name, input: inputOf(call) } };
    losses.emulated(call.at, 'as-text');
    return { text: `Called the tool ${name} with:\n${call.arguments.trim() || '{}'}` };
  }

  /** A result requires content, none of which may be empty (hermes-agent#55092). */
  #result({ callId, parts, isError, at }: ResultPart): Json[] {
    const content = parts.flatMap((part) => this.#renderPart(part));
    const output = content.length === 0 ? [{ text: '(no output)' }] : content;
    if (!this.#rules.callsAsText) {
      return [{ toolResult: { toolUseId: callId, content: output, status: isError ? 'error' : undefined } }];
    }
    if (at !== '') this.#rendering.losses.emulated(at, 'as-text');
    return [{ text: isError ? 'The tool failed with:' : 'Result of the tool:' }, ...output];
  }

  #renderPart(part: TextPart | ResultPart['parts'][number]): Json[] {
    if (part.type === 'media') return [renderMedia(this.#rendering, part, this.#documents)];
    return part.text.trim() === '' ? [] : [{ text: part.text }];
  }
}

/** Input that is not a JSON object is wrapped in one and kept: the model wrote it, and its next turn depends on it. */
function inputOf({ kind, arguments: callArguments }: CallPart): unknown {
  if (kind === 'custom') return { input: callArguments };
  if (callArguments.trim() === '') return {};
  return isObject(parseLosslessJson(callArguments)) ? new RawJson(callArguments) : { arguments: callArguments };
}

type Block = 'image' | 'document' | 'video';

/** Sources: Amazon Bedrock API reference, `ImageBlock`, `DocumentBlock`, `VideoBlock`, `format`. */
const formats: Record<Block, Record<string, string>> = {
  image: { 'image/png': 'png', 'image/jpeg': 'jpeg', 'image/gif': 'gif', 'image/webp': 'webp' },
  document: {
    'application/pdf': 'pdf',
    'application/msword': 'doc',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.ms-excel': 'xls',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
    'text/csv': 'csv',
    'text/html': 'html',
    'text/plain': 'txt',
    'text/markdown': 'md',
  },
  video: {
    'video/mp4': 'mp4',
    'video/quicktime': 'mov',
    'video/x-matroska': 'mkv',
    'video/webm': 'webm',
    'video/x-flv': 'flv',
    'video/mpeg': 'mpeg',
    'video/x-ms-wmv': 'wmv',
    'video/3gpp': 'three_gp',
  },
};

/**
 * Renders images, documents and videos as blocks of Bedrock's Converse API, which accepts their bytes but does not
 * fetch URLs.
 *
 * Assigns names to the documents of one request, which must be unique.
 */
class DocumentNames {
  readonly #usedNames = new Set<string>();
  readonly #numbers = new Map<string, number>();

  /** Bedrock accepts letters, digits, hyphens, brackets and single spaces, and at most 200 characters. */
  give(name: string): string {
    const allowedName = Array.from(name.slice(0, maxNameLength), (character) =>
      isAllowed(character) ? character : ' ',
    ).join('');
    const base = allowedName.split(' ').filter(Boolean).join(' ') || 'document';
    let uniqueName = base;
    for (let number = this.#numbers.get(base) ?? 1; this.#usedNames.has(uniqueName); ) {
      uniqueName = `${base} ${++number}`;
      this.#numbers.set(base, number);
    }
    this.#usedNames.add(uniqueName);
    return uniqueName;
  }
}

/** Leaves room for a number. */
const maxNameLength = 190;

function isAllowed(character: string): boolean {
  const isLetter = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
  const isDigit = character >= '0' && character <= '9';
  return character.length === 1 && (isLetter || isDigit || '-()[]'.includes(character));
}

/** @throws GatewayError `invalid_value` for media that Converse does not accept */
function renderMedia(rendering: Rendering, part: MediaPart, names: DocumentNames): Json {
  const { kind, source, at } = part;
  rendering.dropDetail(part);
  if (source.type === 'file') return refuse(at, 'foreign-file');
  if (source.type === 'text')
    return document('txt', { bytes: Buffer.from(source.text).toString('base64') }, part, names);
  if (kind === 'audio') return refuse(at, 'media');
  const format = entryOf(formats[kind], source.mediaType ?? '');
  const location = source.type === 'base64' ? { bytes: source.data } : s3Location(source.url);
  if (format === undefined || location === null) return refuse(at, 'media');
  if (kind === 'document') return document(format, location, part, names);
  return { [kind]: { format, source: location } };
}

/** Null for addresses other than those of Amazon S3. */
function s3Location(url: string): Json | null {
  return url.startsWith('s3://') ? { s3Location: { uri: url } } : null;
}

function document(format: string, source: Json, part: MediaPart, names: DocumentNames): Json {
  return { document: { format, name: names.give(fileNameOf(part)), source } };
}
