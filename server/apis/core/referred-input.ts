/**
 * Finds what a request only refers to, on any API: files, documents by URL, stored prompts, caches and containers. Their
 * tokens are nowhere in the request. Pure; searches for marks instead of parsing, since bodies may be long.
 */
import { boundedPattern } from '../../ground/bounded-pattern.ts';

interface ReferredInput {
  /** It refers to something whose size nobody can look up. */
  isOpen: boolean;
  /** Images by URL. */
  pictures: number;
  /** Stored files and earlier responses, as often as it refers to them. */
  ids: readonly string[];
  /** A stored file may be an image, which has more tokens than a small file has bytes. */
  mayShowFiles: boolean;
}

/** The most input that a stored object of this id adds to each request that refers to it; null if that is unknown. */
export type SizeOf = (id: string) => number | null;

const tokensPerPicture = 5_000;
/** Where the model's window is unknown. */
const unknownWindowTokens = 128_000;

/**
 * The most input that a request can have: `ownTokens`, its images by URL, and what else it refers to. Unless the size of
 * all that is known, it counts once as what is left of the model's window.
 */
export function mostInput(
  ownTokens: number,
  referred: ReferredInput,
  contextTokens: number | null,
  sizeOf: SizeOf = () => null,
): number {
  const tokens = ownTokens + referred.pictures * tokensPerPicture;
  const referredTokens = Math.min(tokensReferredTo(referred, sizeOf), contextTokens ?? unknownWindowTokens);
  return Math.min(tokens + referredTokens, contextTokens ?? Number.POSITIVE_INFINITY);
}

function tokensReferredTo({ isOpen, ids, mayShowFiles }: ReferredInput, sizeOf: SizeOf): number {
  if (isOpen) return Number.POSITIVE_INFINITY;
  const least = mayShowFiles ? tokensPerPicture : 0;
  return ids.reduce((sum, id) => sum + Math.max(least, sizeOf(id) ?? Number.POSITIVE_INFINITY), 0);
}

/**
 * Members whose text, or list of texts, names something stored elsewhere. An object is not meant: it is the schema of a
 * tool's parameter.
 */
const openNames = [
  // OpenAI: files of containers, which a model may read many times.
  ...['file_ids', 'file_url', 'vector_store_ids'],
  // Mistral, Qwen and vLLM.
  ...['document_url', 'video_url', 'audio_url'],
  // Gemini, in both spellings.
  ...['cachedContent', 'cached_content'],
].map(keyOf);
/** OpenAI: earlier responses, and files of chats and responses; Anthropic: documents and images. */
const idNames = ['previous_response_id', 'file_id'].map(keyOf);
/** Gemini, in both spellings. */
const uriNames = ['fileUri', 'file_uri'].map(keyOf);
/** Gemini also fetches files elsewhere, whose names mean nothing. */
const geminiFile = boundedPattern(
  /^(?:https:\/\/generativelanguage\.googleapis\.com\/v1beta\/)?files\/([\w-]{1,200})$/,
);
/** Each is looked up. */
const maxIds = 32;
const maxIdBytes = 300;
/** An object with a URL, or the URL itself. Those of data are counted by their bytes. */
const urlNames = new Set(['document_url', 'video_url', 'audio_url'].map(keyOf).map(String));
const imageUrl = keyOf('image_url');
/** OpenRouter takes a URL in place of a file's bytes. */
const fileData = keyOf('file_data');
/** OpenAI: an earlier answer of a chat that was spoken. */
const audio = keyOf('audio');
const container = keyOf('container');
const type = keyOf('type');
const url = Buffer.from('"url"');
const reference = Buffer.from('"item_reference"');
/** Anthropic's file for a container, which a model may read many times. */
const upload = Buffer.from('"container_upload"');
/** Types of stored images: Responses, Anthropic. Gemini states a media type. */
const imageMarks = ['"input_image"', '"image"', '"image/'].map((mark) => Buffer.from(mark));
const documentType = Buffer.from('"document"');
const escapeMark = Buffer.from('\\u00');

const containerId = boundedPattern(/^"(?:cntr|container)_/);
/** A text, or an object with a URL, other than of data. */
const address = boundedPattern(/^(?:"|\{[^{}]{0,150}?"url"\s*:\s*")(?!data:)[^"{]/i);

const spokenAnswer = boundedPattern(/^\{[^{}]{0,150}?"id"\s*:/);

const quote = 0x22;
const colon = 0x3a;
const backslash = 0x5c;
const openBracket = 0x5b;
const openBrace = 0x7b;

const found = new WeakMap<Buffer, ReferredInput>();

/** `json` is null if the body is a form, which refers to nothing. Searched once for all targets of a request. */
export function referredIn(json: Buffer | null): ReferredInput {
  if (json === null) return { isOpen: false, pictures: 0, ids: [], mayShowFiles: false };
  let referred = found.get(json);
  if (!referred) {
    referred = search(json);
    found.set(json, referred);
  }
  return referred;
}

function search(json: Buffer): ReferredInput {
  const byUrl = valuesOf(json, type).filter((at) => json.subarray(at, at + url.length).equals(url)).length;
  const pictures = valuesOf(json, imageUrl).filter((at) => isAddress(json, at)).length;
  const ids = idsIn(json);
  const isOpen =
    ids === null ||
    openNames.some((name) => valuesOf(json, name).some((at) => isReference(json, at, urlNames.has(String(name))))) ||
    valuesOf(json, fileData).some((at) => json.toString('latin1', at + 1, at + 5).toLowerCase() === 'http') ||
    valuesOf(json, container).some((at) => containerId.test(json.toString('latin1', at, at + 16))) ||
    valuesOf(json, audio).some((at) => spokenAnswer.test(json.toString('latin1', at, at + 200))) ||
    json.includes(reference) ||
    json.includes(upload) ||
    (byUrl > 0 && json.includes(documentType)) ||
    hasEscapedLetters(json);
  const mayShowFiles = ids !== null && ids.length > 0 && imageMarks.some((mark) => json.includes(mark));
  return { isOpen, pictures: pictures + byUrl, ids: ids ?? [], mayShowFiles };
}

/** Null if it refers to something that is no id, or to too much. */
function idsIn(json: Buffer): string[] | null {
  const texts = referencesIn(json, idNames).map((at) => shortText(json, at));
  const names = referencesIn(json, uriNames).map((at) => geminiFile.exec(shortText(json, at) ?? '')?.[1] ?? null);
  const ids = [...texts, ...names].filter((id) => id !== null);
  return ids.length === texts.length + names.length && ids.length <= maxIds ? ids : null;
}

function referencesIn(json: Buffer, names: readonly Buffer[]): number[] {
  return names.flatMap((name) => valuesOf(json, name)).filter((at) => isReference(json, at, false));
}

/** Null if this is no text, or one that is long or has escapes. */
function shortText(json: Buffer, at: number): string | null {
  const end = json.subarray(0, at + maxIdBytes).indexOf(quote, at + 1);
  const text = json[at] === quote && end !== -1 ? json.toString('utf8', at + 1, end) : null;
  return text?.includes('\\') ? null : text;
}

function isReference(json: Buffer, at: number, isUrl: boolean): boolean {
  if (isUrl) return isAddress(json, at);
  return (json[at] === quote && json[at + 1] !== quote) || json[at] === openBracket;
}

/** Whether this is a URL, or an object that has one, other than of data. */
function isAddress(json: Buffer, at: number): boolean {
  if (json[at] !== quote && json[at] !== openBrace) return false;
  const text = json.toString('latin1', at, Math.min(json.length, at + 200));
  return address.test(text);
}

/** Offsets of the values of all members of this name, at any depth. Within a text, the quotes would be escaped. */
function valuesOf(json: Buffer, key: Buffer): number[] {
  const values: number[] = [];
  for (let at = json.indexOf(key); at !== -1; at = json.indexOf(key, at + key.length)) {
    const next = skipSpace(json, at + key.length);
    if (json[next] === colon) values.push(skipSpace(json, next + 1));
  }
  return values;
}

/** No encoder escapes letters or an underscore: who does so hides a name from this search. */
export function hasEscapedLetters(json: Buffer): boolean {
  for (let at = json.indexOf(escapeMark); at !== -1; at = json.indexOf(escapeMark, at + escapeMark.length)) {
    const code = Number.parseInt(json.toString('latin1', at + escapeMark.length, at + escapeMark.length + 2), 16);
    const isLetter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f;
    if (isLetter && json[at - 1] !== backslash) return true;
  }
  return false;
}

function skipSpace(json: Buffer, from: number): number {
  let at = from;
  while ((json[at] ?? quote) <= 0x20) at++;
  return at;
}

function keyOf(name: string): Buffer {
  return Buffer.from(`"${name}"`);
}
