/**
 * Renders turns as the contents of a Gemini request, under its rules: roles alternate, the first and the last content
 * are the user's, all responses to one turn of calls are in one content, and no part is empty.
 */
import { isObject } from '../../../contract/is-object.ts';
import type { GeminiFacts } from '../../../models/model-facts.ts';
import { entryOf } from '../../core/table-entry.ts';
import { append } from '../../neutral/answers/growing-text.ts';
import type { CallPart, MediaPart, Part, ResultPart, ThinkingPart, Turn } from '../../neutral/conversation.ts';
import { parseLosslessJson, RawJson } from '../../neutral/json-text.ts';
import { refuse } from '../../neutral/losses.ts';
import { fileNameOf, textIn, textOfDocument } from '../../neutral/media.ts';
import { placeholderSignature } from '../../neutral/requests/carried-reasoning.ts';
import { goOn, type Rendering } from '../../neutral/requests/rendering.ts';

type Json = Record<string, unknown>;

interface Content {
  role: 'user' | 'model';
  parts: Json[];
}

export function renderContents(rendering: Rendering, facts: GeminiFacts): Content[] {
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
