/**
 * About how many tokens a request's prompt has, from its body. Pure. Text and tools are counted; a picture counts as a
 * square one of 1024 pixels does at OpenAI, a recording or a document as nothing, for its length is not known.
 */
import { isObject } from '../contract/is-object.ts';
import { estimateTokens } from './estimate-tokens.ts';

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

/** `json`: the request's body, one JSON object in UTF-8. Null if it cannot be read or has nothing of a prompt. */
export function estimatePrompt(json: Buffer): number | null {
  const body = parse(withoutPayloads(json));
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

const payloadMark = Buffer.from(';base64,');
const quote = 0x22;

/** Without what stands in data URLs, which may be megabytes and would only be parsed to be left out. */
function withoutPayloads(json: Buffer): string {
  const kept: string[] = [];
  let from = 0;
  for (let at = json.indexOf(payloadMark); at !== -1; at = json.indexOf(payloadMark, from)) {
    kept.push(json.toString('utf8', from, at));
    const end = json.indexOf(quote, at);
    from = end === -1 ? json.length : end;
  }
  kept.push(json.toString('utf8', from));
  return kept.join('');
}

function parse(json: string): Fields | null {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
