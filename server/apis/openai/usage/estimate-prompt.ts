/**
 * Estimates the number of prompt tokens from a request body. Pure. Counts text and tools; an image counts as a square one
 * of 1024 pixels at OpenAI, a recording or document as nothing, since its length is unknown.
 */
import { isObject } from '../../../contract/is-object.ts';
import { estimateTokens } from '../../core/usage/estimate-tokens.ts';

const tokensPerMessage = 4;
const tokensOfPicture = 765;
const tokensOfSmallPicture = 85;

/** Members that models do not read as text. */
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
/** Prompt fields of chat, completions, responses and embeddings. */
const prompts = ['messages', 'prompt', 'input', 'instructions', 'suffix'] as const;
const schemas = ['tools', 'functions', 'response_format', 'text'] as const;

/**
 * `json`: the request body, one JSON object in UTF-8. Null if it cannot be parsed or contains no prompt. A long body is
 * not parsed but estimated by its length and samples of its text.
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

/** Bounded in depth; anything nested deeper than a prompt can be is ignored. */
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

/** A prompt may be given as a list of tokens. */
function tokensOfList(list: unknown[], depth: number): number {
  if (typeof list[0] === 'number') return list.length;
  return list.reduce<number>((sum, item) => sum + tokensOf(item, depth + 1), 0);
}

function tokensOfImage(part: Fields): number {
  const { detail } = isObject(part.image_url) ? part.image_url : part;
  return detail === 'low' ? tokensOfSmallPicture : tokensOfPicture;
}

/** Longer prompts are not parsed; this takes about ten milliseconds at worst. */
const parsedBytes = 128 * 1024;
const payloadMark = Buffer.from(';base64,');
/** The start of an image's data URL: `data:image/png;base64,`. */
const pictureMark = 'data:image/';
const longestName = 40;
/** More than any prompt has; the rest counts as text. */
const maxPayloads = 10_000;
const quote = 0x22;

/** Removes the content of data URLs, which may be megabytes long and would only be parsed to be ignored. */
function withoutPayloads(json: Buffer): { text: Buffer[]; textBytes: number; pictures: number } {
  const text: Buffer[] = [];
  let pictures = 0;
  let from = 0;
  let at = json.indexOf(payloadMark);
  while (at !== -1 && text.length < maxPayloads) {
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

/** Extrapolates from samples spread over the text. */
function tokensByLength(text: readonly Buffer[], textBytes: number): number {
  const stride = textBytes / samples;
  let passedBytes = 0;
  let sampledBytes = 0;
  let tokens = 0;
  let wantedAt = 0;
  for (const piece of text) {
    for (; wantedAt < passedBytes + piece.length; wantedAt += stride) {
      const start = Math.floor(wantedAt - passedBytes);
      const sample = piece.subarray(start, start + sampleBytes);
      sampledBytes += sample.length;
      tokens += estimateTokens(sample.toString('utf8'));
    }
    passedBytes += piece.length;
  }
  return Math.round((tokens * textBytes) / sampledBytes);
}

function parse(json: string): Fields | null {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
