/** Renders a request of `:generateContent`. The URL contains the model and whether the answer is streamed. */

import { isObject } from '../../../contract/is-object.ts';
import { type GeminiFacts, geminiFacts } from '../../../models/model-facts.ts';
import { entryOf } from '../../core/table-entry.ts';
import type {
  CallPart,
  Conversation,
  MediaPart,
  Part,
  ResultPart,
  ThinkingPart,
  Tool,
  Turn,
} from '../../neutral/conversation.ts';
import { append, parseLosslessJson, RawJson } from '../../neutral/json-text.ts';
import { type Losses, refuse } from '../../neutral/losses.ts';
import { fileNameOf, textIn, textOfDocument } from '../../neutral/media.ts';
import { placeholderSignature } from '../../neutral/requests/carried-reasoning.ts';
import { budgetOf, effortOf, isOff } from '../../neutral/requests/reasoning-effort.ts';
import { goOn, offeredTools, type RenderedRequest, Rendering, type Target } from '../../neutral/requests/rendering.ts';
import { fitSchema } from '../../neutral/schemas/fit-schema.ts';

type Json = Record<string, unknown>;

/** Google, "Function calling": names of functions; "GenerationConfig": up to five stop sequences. */
const nameRule = { maxLength: 64, others: '_.:-', beginsWithLetter: true };
const maxStops = 5;

/** @throws GatewayError `invalid_value` if the model does not support the request */
export function renderGenerateRequest(conversation: Conversation, target: Target, losses: Losses): RenderedRequest {
  const facts = geminiFacts(target.model);
  const rendering = new Rendering(conversation, target, { ids: 'any', names: nameRule, losses });
  if ((conversation.sampling.answers ?? 1) > 1) rendering.refuse('answers', 'no-equal');
  const instructions = conversation.instructions.filter(({ text }) => text.trim() !== '');
  const system = facts.takesSystemInstruction && instructions.length > 0;
  const body: Json = {
    systemInstruction: system ? { parts: instructions.map(({ text }) => ({ text })) } : undefined,
    contents: renderContents(rendering, facts),
    ...renderTools(rendering),
    generationConfig: renderConfig(rendering, facts),
  };
  dropHints(rendering);
  return { body, names: rendering.names };
}

function renderTools(rendering: Rendering): Json {
  const { tools, toolChoice: choice } = rendering.conversation;
  if (tools.length === 0) return {};
  const isNarrowed = choice?.mode === 'subset' && !choice.isRequired;
  if (isNarrowed) rendering.emulate('toolChoice', 'no-equal');
  const offered = isNarrowed ? offeredTools(rendering.conversation) : tools;
  const config = renderChoice(rendering);
  return {
    tools: [{ functionDeclarations: offered.map((tool) => renderTool(rendering, tool)) }],
    toolConfig: config && { functionCallingConfig: config },
  };
}

function renderTool(rendering: Rendering, tool: Tool): Json {
  const { description, schema } = rendering.asFunction(tool);
  rendering.dropStrict(tool, 'no-equal');
  const isEmpty = schema === undefined || Object.keys(schema).length === 0;
  const fitted = isEmpty
    ? undefined
    : fitSchema(schema, { hasBareReferences: true }, { at: tool.at, losses: rendering.losses });
  return { name: rendering.names.encode(tool), description, parametersJsonSchema: fitted };
}

function renderChoice({ conversation, names }: Rendering): Json | undefined {
  const { toolChoice: choice } = conversation;
  if (choice === undefined) return undefined;
  if (choice.mode === 'none') return { mode: 'NONE' };
  if (choice.mode === 'required') return { mode: 'ANY' };
  if (choice.mode === 'named') return { mode: 'ANY', allowedFunctionNames: [names.encode(choice)] };
  if (choice.mode !== 'subset' || !choice.isRequired) return { mode: 'AUTO' };
  return { mode: 'ANY', allowedFunctionNames: choice.names.map((name) => names.encode({ name })) };
}

function renderConfig(rendering: Rendering, facts: GeminiFacts): Json | undefined {
  const { sampling, maxOutputTokens, format } = rendering.conversation;
  const config: Json = {
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    seed: sampling.seed,
    presencePenalty: sampling.presencePenalty,
    frequencyPenalty: sampling.frequencyPenalty,
    maxOutputTokens,
    stopSequences: rendering.stopsUpTo(maxStops),
    responseMimeType: format === undefined ? undefined : 'application/json',
    responseJsonSchema: format?.kind === 'schema' ? format.schema : undefined,
    thinkingConfig: renderThinking(rendering, facts),
  };
  return Object.values(config).every((value) => value === undefined) ? undefined : config;
}

const levels: Record<string, string> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
};

/** A level or a budget, never both. */
function renderThinking(rendering: Rendering, facts: GeminiFacts): Json | undefined {
  const { reasoning } = rendering.conversation;
  if (reasoning === undefined) return undefined;
  if (!facts.thinks) {
    if (!isOff(reasoning)) rendering.drop('reasoning', reasoning, 'model-takes-none');
    return undefined;
  }
  const includeThoughts = reasoning.isVisible !== false && !isOff(reasoning) ? true : undefined;
  const effort = effortOf(reasoning);
  if (effort === undefined) return includeThoughts && { includeThoughts };
  if (facts.levels.length === 0) {
    const budget = Math.min(facts.mostBudget, Math.max(facts.leastBudget, budgetOf(reasoning) ?? 0));
    return { includeThoughts, thinkingBudget: budget };
  }
  const level = entryOf(levels, effort) ?? 'HIGH';
  return { includeThoughts, thinkingLevel: facts.levels.includes(level) ? level : facts.levels[0] };
}

function dropHints(rendering: Rendering): void {
  const { sampling, parallelToolCalls, user, cacheKey, serviceTier, metadata, verbosity } = rendering.conversation;
  rendering.drop('logprobs', sampling.logprobs || sampling.topLogprobs || undefined, 'no-equal');
  rendering.drop('logitBias', sampling.logitBias, 'no-equal');
  rendering.drop('parallelToolCalls', parallelToolCalls === false ? false : undefined, 'no-equal');
  rendering.drop('user', user, 'no-equal');
  rendering.drop('cacheKey', cacheKey, 'no-equal');
  rendering.drop('serviceTier', serviceTier, 'no-equal');
  rendering.drop('metadata', metadata, 'no-equal');
  rendering.drop('verbosity', verbosity, 'no-equal');
}

interface Content {
  role: 'user' | 'model';
  parts: Json[];
}

/**
 * Renders turns as the contents of a Gemini request, under its rules: roles alternate, the first and the last content
 * are the user's, all responses to one turn of calls are in one content, and no part is empty.
 */
function renderContents(rendering: Rendering, facts: GeminiFacts): Content[] {
  const { instructions } = rendering.conversation;
  const contents: Content[] = [];
  /** Function names by call id, because responses must name their function. */
  const names = new Map<string, string>();
  const writer = new ContentWriter(rendering, facts, names);
  const leading = facts.takesSystemInstruction ? [] : instructions.filter(({ text }) => text.trim() !== '');
  if (leading.length > 0) contents.push({ role: 'user', parts: leading.map(({ text }) => ({ text })) });
  for (const turn of rendering.turns) {
    const role = turn.role === 'assistant' ? 'model' : 'user';
    const parts = writer.write(turn);
    const before = contents.at(-1);
    if (parts.length === 0) continue;
    if (before?.role === role) append(before.parts, parts);
    else contents.push({ role, parts });
  }
  if (contents[0]?.role !== 'user') {
    rendering.emulate('messages', 'added-turn');
    contents.unshift({ role: 'user', parts: [{ text: '(The conversation goes on.)' }] });
  }
  if (contents.at(-1)?.role === 'model') {
    rendering.emulate('messages', 'added-turn');
    contents.push({ role: 'user', parts: [{ text: goOn }] });
  }
  return contents;
}

class ContentWriter {
  readonly #rendering: Rendering;
  readonly #facts: GeminiFacts;
  readonly #names: Map<string, string>;

  constructor(rendering: Rendering, facts: GeminiFacts, names: Map<string, string>) {
    this.#rendering = rendering;
    this.#facts = facts;
    this.#names = names;
  }

  write({ role, parts }: Turn): Json[] {
    const written: Json[] = [];
    /** The signature of a thought, for the part that follows it. */
    let signature: string | undefined;
    let isFirstCall = true;
    const isOwnTurn = parts.some((part) => isSealable(part) && this.#rendering.opens(part.seal));
    for (const part of parts) {
      if (part.type === 'thinking') {
        const own = this.#signatureOf(part, isOwnTurn);
        const said = written.at(-1);
        // It came after the text that it signs, and was told without a thought.
        const isOfText = own !== undefined && part.text === '' && said?.text !== undefined && role === 'assistant';
        if (isOfText && said.thoughtSignature === undefined) said.thoughtSignature = own;
        else signature = own ?? signature;
      }
      if (part.type === 'call') {
        written.push(this.#call(part, { signature, isFirstCall }));
        isFirstCall = false;
        signature = undefined;
      } else {
        const [first, ...rest] = this.#others(part, role);
        if (first)
          written.push(
            role === 'assistant' && signature !== undefined ? { ...first, thoughtSignature: signature } : first,
            ...rest,
          );
        if (first) signature = undefined;
      }
    }
    const last = written.at(-1);
    if (signature !== undefined && last && !('thoughtSignature' in last)) last.thoughtSignature = signature;
    return written;
  }

  #signatureOf({ seal, at }: ThinkingPart, isOwnTurn: boolean): string | undefined {
    if (this.#rendering.opens(seal)) return seal.kind === 'thought-signature' ? seal.data : undefined;
    if (seal) this.#rendering.losses.dropped(at, 'foreign-reasoning');
    // A thought of Gemini itself without a signature is no loss, because its summaries are never sent back to the
    // model.
    else if (!isOwnTurn) this.#rendering.losses.dropped(at, 'unsealed-reasoning');
    return undefined;
  }

  /** On models that require signatures, the first call of a turn must have one. */
  #call(call: CallPart, { signature, isFirstCall }: { signature: string | undefined; isFirstCall: boolean }): Json {
    const name = this.#rendering.names.encode(call);
    this.#names.set(call.id, name);
    const own = this.#rendering.opens(call.seal) ? call.seal.data : undefined;
    if (call.seal && own === undefined) this.#rendering.losses.dropped(call.at, 'foreign-reasoning');
    const needed = this.#facts.needsSignatures && isFirstCall ? placeholderSignature : undefined;
    return { functionCall: { name, args: argsOf(call) }, thoughtSignature: own ?? signature ?? needed };
  }

  #others(part: Exclude<Part, CallPart>, role: Turn['role']): Json[] {
    if (part.type === 'text' || part.type === 'refusal') return this.#text(part.text, part.at, role);
    if (part.type === 'media') return [...nameOf(this.#rendering, part), renderMedia(this.#rendering, part)];
    if (part.type === 'result') return this.#result(part);
    if (part.type === 'foreign') this.#rendering.losses.dropped(part.at, 'provider-item');
    return [];
  }

  #text(text: string, at: string, role: Turn['role']): Json[] {
    if (text === '') return [];
    if (role !== 'system') return [{ text }];
    this.#rendering.losses.emulated(at, 'as-text');
    return [{ text: `<system-reminder>\n${text}\n</system-reminder>` }];
  }

  #result({ callId, parts, isError }: ResultPart): Json[] {
    const text = parts.flatMap((part) => textIn(part) ?? []).join('\n');
    const others = parts.filter((part): part is MediaPart => textIn(part) === null);
    const media = others.map((part) => renderMedia(this.#rendering, part));
    const response = isError ? { error: text } : { output: text };
    const name = this.#names.get(callId) ?? callId;
    const isInside = this.#facts.resultMedia === 'inside' && media.length > 0;
    const functionResponse = { name, response, parts: isInside ? media : undefined };
    return [{ functionResponse }, ...(isInside ? [] : media)];
  }
}

function isSealable(part: Part): part is ThinkingPart | CallPart {
  return part.type === 'thinking' || part.type === 'call';
}

function argsOf({ kind, arguments: callArguments }: CallPart): unknown {
  if (kind === 'custom') return { input: callArguments };
  if (callArguments.trim() === '') return {};
  return isObject(parseLosslessJson(callArguments)) ? new RawJson(callArguments) : { arguments: callArguments };
}

/** Gemini's API has no field for a file's name, so the name is written as text before the file. */
function nameOf({ losses }: Rendering, part: MediaPart): Json[] {
  const { kind, source, name, at } = part;
  const isNamed = kind === 'document' && source.type !== 'text' && name !== undefined;
  if (!isNamed || name === fileNameOf({ ...part, name: undefined })) return [];
  losses.emulated(at, 'as-text');
  return [{ text: `File: ${name}` }];
}

/** Google, "File input methods": the service fetches a URL that is publicly readable. */
function renderMedia(rendering: Rendering, part: MediaPart): Json {
  const { kind, source, at } = part;
  rendering.dropDetail(part);
  if (source.type === 'file') return refuse(at, 'foreign-file');
  if (source.type === 'text') return { text: textOfDocument(part, source.text) };
  if (source.type === 'base64') return { inlineData: { mimeType: source.mediaType, data: source.data } };
  const mimeType = source.mediaType ?? typeOfName(source.url) ?? (kind === 'image' ? 'image/jpeg' : 'application/pdf');
  return { fileData: { mimeType, fileUri: source.url } };
}

const types: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  txt: 'text/plain',
  mp4: 'video/mp4',
};

function typeOfName(url: string): string | undefined {
  const [beforeQuery = ''] = url.split('?', 1);
  const [path = ''] = beforeQuery.split('#', 1);
  return entryOf(types, path.slice(path.lastIndexOf('.') + 1).toLowerCase());
}
