/**
 * Renders turns as messages under the rules of Bedrock's Converse API: the first message is the user's, roles
 * alternate, results follow their calls, no text is empty, and a message with a document has a text.
 */
import { isObject } from '../../../contract/is-object.ts';
import { entryOf } from '../../core/table-entry.ts';
import { append } from '../../neutral/answers/growing-text.ts';
import type {
  CallPart,
  MediaPart,
  Part,
  ResultPart,
  TextPart,
  ThinkingPart,
  Turn,
} from '../../neutral/conversation.ts';
import { parseLosslessJson, RawJson } from '../../neutral/json-text.ts';
import { refuse } from '../../neutral/losses.ts';
import { fileNameOf } from '../../neutral/media.ts';
import { goOn, type Rendering } from '../../neutral/requests/rendering.ts';
import type { ConverseFacts } from './model-facts.ts';

type Json = Record<string, unknown>;

export interface Message {
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
export function renderTurns(rendering: Rendering, rules: Rules, leading: readonly Json[]): Message[] {
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
