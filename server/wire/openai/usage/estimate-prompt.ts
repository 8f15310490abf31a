/**
 * About how many tokens a request's prompt has, from its body. Pure. Text and tools are counted; a picture counts as a
 * square one of 1024 pixels does at OpenAI, a recording or a document as nothing, for its length is not known.
 */
import { isObject } from '../../../contract/is-object.ts';
import { estimateTokens } from '../../estimate-tokens.ts';

const tokensPerMessage = 4;
const tokensOfPicture = 765;
const tokensOfSmallPicture = 85;

/** Members whose text is not read by a model. */
const unread = new Set([
  'type',
  'role',
  'id',
  'call_id',
  'tool_call_id',
  'data',
  'file_data',
  'image_url',
  'url',
  'detail',
]);
/** Of chat, completions, responses and embeddings. */
const prompts = ['messages', 'prompt', 'input', 'instructions', 'suffix'] as const;
const schemas = ['tools', 'functions', 'response_format', 'text'] as const;

/**
 * `json`: the request's body, one JSON object in UTF-8. Null if it cannot be read or has nothing of a prompt; a long one is
 * not parsed but estimated by its length, and what stands in a few places of it.
 */
export function estimatePrompt(json: Buffer): number | null {
  const { text, textBytes, pictures } = withoutPayloads(json);
  if (textBytes > parsedBytes) return tokensByLength(text, textBytes) + pictures * tokensOfPicture;
  const body = parse(text.map((piece) => piece.toString('utf8')).join(''));
  if (body === null) return null;
  let tokens = 0;
  for (const name of prompts) tokens += tokensOf(body[name]);
  if (tokens === 0) return null;
  for (const name of schemas) {
    if (typeof body[name] === 'object' && body[name] !== null) tokens += estimateTokens(JSON.stringify(body[name]));
  }
  return tokens;
}

type Fields = Record<string, unknown>;

/** Not recursive without end: what nests deeper than any prompt does is left out. */
function tokensOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return estimateTokens(value);
  if (depth > 12) return 0;
  if (Array.isArray(value)) return tokensOfList(value, depth);
  if (!isObject(value)) return 0;
  let tokens = 'role' in value ? tokensPerMessage : 0;
  if (value.type === 'image_url' || value.type === 'input_image') tokens += tokensOfImage(value);
  for (const [name, member] of Object.entries(value)) {
    if (!unread.has(name)) tokens += tokensOf(member, depth + 1);
  }
  return tokens;
}

/** A prompt may be given as tokens. */
function tokensOfList(list: unknown[], depth: number): number {
  if (typeof list[0] === 'number') return list.length;
  return list.reduce<number>((sum, item) => sum + tokensOf(item, depth + 1), 0);
}

function tokensOfImage(part: Fields): number {
  const { detail } = isObject(part.image_url) ? part.image_url : part;
  return detail === 'low' ? tokensOfSmallPicture : tokensOfPicture;
}

/** Up to this a prompt is parsed: some ten milliseconds at worst. */
const parsedBytes = 128 * 1024;
const payloadMark = Buffer.from(';base64,');
/** What stands before it names what it is: `data:image/png;base64,`. */
const pictureMark = 'data:image/';
const longestName = 40;
/** More than any prompt has; what is beyond counts as text. */
const mostPayloads = 10_000;
const quote = 0x22;

/** Without what stands in data URLs, which may be megabytes and would only be parsed to be left out. */
function withoutPayloads(json: Buffer): { text: Buffer[]; textBytes: number; pictures: number } {
  const text: Buffer[] = [];
  let pictures = 0;
  let from = 0;
  let at = json.indexOf(payloadMark);
  while (at !== -1 && text.length < mostPayloads) {
    text.push(json.subarray(from, at));
    if (json.toString('latin1', Math.max(from, at - longestName), at).includes(pictureMark)) pictures++;
    const end = json.indexOf(quote, at);
    from = end === -1 ? json.length : end;
    at = json.indexOf(payloadMark, from);
  }
  text.push(json.subarray(from));
  return { text, textBytes: text.reduce((sum, { length }) => sum + length, 0), pictures };
}

const samples = 8;
const sampleBytes = 4096;

/** Samples spread over the text stand for the whole. */
function tokensByLength(text: readonly Buffer[], textBytes: number): number {
  const stride = textBytes / samples;
  let passed = 0;
  let read = 0;
  let tokens = 0;
  let wantedAt = 0;
  for (const piece of text) {
    for (; wantedAt < passed + piece.length; wantedAt += stride) {
      const start = Math.floor(wantedAt - passed);
      const sample = piece.subarray(start, start + sampleBytes);
      read += sample.length;
      tokens += estimateTokens(sample.toString('utf8'));
    }
    passed += piece.length;
  }
  return Math.round((tokens * textBytes) / read);
}

function parse(json: string): Fields | null {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
