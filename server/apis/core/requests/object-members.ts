/**
 * Members of requests by which the APIs of OpenAI, Anthropic and Google name objects that a provider stores, wherever
 * they stand in a body, a form or a query. Sources: the references of the three APIs. A name may be that of something
 * else in another place, which does no harm: Sluice looks for ids that it knows.
 */

import { yieldToEventLoop } from '../../../ground/promises.ts';
import { addressText, idHolder, idText, MemberMeanings } from '../../json/json-names.ts';
import { isEscaped, JsonFault } from '../../json/json-scan.ts';

const ids = [
  // OpenAI
  ...['file_id', 'file_ids', 'input_file_id', 'training_file', 'validation_file', 'part_ids', 'vector_store_id'],
  ...['vector_store_ids', 'container', 'container_id', 'skill_id', 'assistant_id', 'eval_id', 'run_id', 'video'],
  ...['conversation', 'consent', 'agent', 'chatkit_thread_id'],
  // Anthropic, beside files, containers, skills and agents
  ...['agent_id', 'environment_id', 'vault_id', 'vault_ids', 'memory_store_id', 'session_id', 'session_thread_id'],
  ...['deployment_id', 'user_profile_id', 'credential_id'],
  // Google, by resource names such as `files/abc`
  ...['file_name', 'filename', 'cached_content', 'cachedcontent', 'previous_interaction_id', 'previousinteractionid'],
  ...['file_search_store_names', 'filesearchstorenames', 'document_name', 'documentname'],
];

/** A file of Google's is also named by its address; a translation makes one out of any client's. */
const addresses = [
  ...['file_uri', 'fileuri', 'uri', 'url', 'image_url', 'file_url', 'document_url', 'video_url', 'audio_url'],
  ...['thumbnail_url', 'input_image', 'input_file'],
];

/** Whose object's `id` is meant: `{"voice": {"id": "voice_1"}}`. */
const holders = ['conversation', 'container', 'video', 'prompt', 'voice', 'characters', 'workflow', 'agent'];
/** The `source` of an evaluation's run. Elsewhere, images have one, and none of them has an `id`. */
const passedHolder = 'source';
/** On routes that Sluice serves itself, this decides whose a request is. */
const plannedId = 'previous_response_id';

export const objectMembers = new MemberMeanings({
  ids: [...ids, plannedId],
  addresses,
  holders: [...holders, passedHolder],
});
/** Of the routes that Sluice serves itself: bodies without any of them are not searched. */
export const servedObjectMembers = new MemberMeanings({ ids, addresses, holders });

/** The ids in the parameters of a query, without its question mark, or of a form like that. */
export function idsInParameters(text: string): readonly string[] {
  return [...new URLSearchParams(text)].flatMap(([name, value]) => idsIn(value, objectMembers.ofParameter(name)));
}

/** Longer texts are no ids and no addresses of files: an id of 200 characters, each of them in escapes. */
const maxTextBytes = 2_048;
const maxIdLength = 200;
/** As for bodies that Sluice reads itself. */
const maxDepth = 10_000;
const sliceBytes = 128 * 1024;

const quote = 0x22;
const comma = 0x2c;
const openArray = 0x5b;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
const nothing = Buffer.alloc(0);
const none: readonly string[] = [];

const meaningBits = idText | addressText | idHolder;
/** In an object; it is that of a holder; a key comes next. */
const inObject = 16;
const isHeld = 32;
const expectsKey = 64;

/** What stands outside of texts besides brackets and commas: blanks, colons, numbers, words, and a byte order mark. */
const plain = new Uint8Array(256);
for (const byte of Buffer.from('\t\n\r :+-.0123456789\ufeff')) plain[byte] = 1;
for (let letter = 0; letter < 26; letter++) plain[0x41 + letter] = plain[0x61 + letter] = 1;

interface SearchOptions {
  /** What is no JSON is refused, with a JsonFault; otherwise the search ends there. */
  isStrict: boolean;
}

/**
 * Finds the ids of stored objects in a JSON document, or in several after each other, that arrives in pieces of any
 * size: no piece is kept but for an unfinished short text. Knows from `MemberMeanings` where ids stand. It does not
 * check the grammar, but it ends at a byte that JSON has only within texts, since nobody can say what would be a text
 * behind that.
 */
export class IdSearch {
  readonly #meanings: MemberMeanings;
  readonly #isStrict: boolean;
  /** A text that is not over. */
  #rest: Buffer = nothing;
  /** Such a text is too long to be of interest; whether its last byte escapes the next. */
  #isInLongText = false;
  #isEscaping = false;
  #offset = 0;
  #isOver = false;
  /** Of the current list or object: what its texts mean, and where in it the search is. */
  #state = 0;
  readonly #outer: number[] = [];
  #found: string[] = [];

  constructor(meanings: MemberMeanings, { isStrict }: SearchOptions) {
    this.#meanings = meanings;
    this.#isStrict = isStrict;
  }

  /** The ids whose last byte is in this chunk. Throws a JsonFault. */
  take(chunk: Buffer): readonly string[] {
    if (this.#isOver || chunk.length === 0) return none;
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    this.#offset -= this.#rest.length;
    this.#rest = nothing;
    this.#found = [];
    let at = this.#isInLongText ? this.#passLongText(bytes) : 0;
    while (at < bytes.length && !this.#isOver) {
      const byte = bytes[at] ?? 0;
      at = byte === quote ? this.#passText(bytes, at) : this.#passMark(byte, at);
    }
    this.#offset += bytes.length;
    return this.#found;
  }

  /** Returns where to go on. */
  #passText(bytes: Buffer, start: number): number {
    const end = endOfText(bytes, start + 1);
    if (end !== -1) {
      this.#tell(bytes, start, end);
      return end + 1;
    }
    if (bytes.length - start <= maxTextBytes) this.#rest = Buffer.from(bytes.subarray(start));
    else {
      this.#isInLongText = true;
      this.#isEscaping = isEscaped(bytes, start + 1, bytes.length);
      this.#tell(bytes, start, bytes.length);
    }
    return bytes.length;
  }

  #passLongText(bytes: Buffer): number {
    const from = this.#isEscaping ? 1 : 0;
    const end = endOfText(bytes, from);
    this.#isInLongText = end === -1;
    if (end !== -1) return end + 1;
    this.#isEscaping = isEscaped(bytes, from, bytes.length);
    return bytes.length;
  }

  /** A text, from its quote up to the closing one. */
  #tell(bytes: Buffer, start: number, end: number): void {
    if ((this.#state & expectsKey) !== 0) {
      const meaning = this.#meanings.of(bytes, start + 1, end, (this.#state & isHeld) !== 0);
      this.#state = (this.#state & (inObject | isHeld)) | meaning;
    } else if ((this.#state & (idText | addressText)) !== 0 && end - start <= maxTextBytes) {
      this.#found.push(...idsIn(decoded(bytes.toString('utf8', start + 1, end)), this.#state));
    }
  }

  #passMark(byte: number, at: number): number {
    const state = this.#state;
    if (byte === comma) {
      if ((state & inObject) !== 0) this.#state = (state & (inObject | isHeld)) | expectsKey;
    } else if (byte === openObject) {
      this.#open(inObject | expectsKey | ((state & idHolder) === 0 ? 0 : isHeld), at);
    } else if (byte === openArray) this.#open(state & meaningBits, at);
    else if (byte === closeObject || byte === closeArray) this.#state = this.#outer.pop() ?? 0;
    else if (plain[byte] !== 1) this.#end(at, 'expected no such byte outside of a string');
    return at + 1;
  }

  #open(state: number, at: number): void {
    if (this.#outer.length === maxDepth) this.#end(at, `nested deeper than ${maxDepth}`);
    this.#outer.push(this.#state);
    this.#state = state;
  }

  #end(at: number, reason: string): void {
    if (this.#isStrict) throw new JsonFault(this.#offset + at, reason);
    this.#isOver = true;
  }
}

/** Those in a whole document. Returns a promise for a long one, which is searched in slices. */
export function idsInJson(json: Buffer, meanings: MemberMeanings): readonly string[] | Promise<readonly string[]> {
  const search = new IdSearch(meanings, { isStrict: false });
  return json.length <= 2 * sliceBytes ? search.take(json) : idsInSlices(json, search);
}

async function idsInSlices(json: Buffer, search: IdSearch): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let from = 0; from < json.length; from += sliceBytes) {
    for (const id of search.take(json.subarray(from, from + sliceBytes))) ids.push(id);
    await yieldToEventLoop();
  }
  return ids;
}

/** Ids in the text of a member or parameter of this meaning. */
export function idsIn(text: string, meaning: number): readonly string[] {
  if (meaning === 0 || text.length > maxTextBytes) return none;
  const ids = (meaning & idText) === 0 ? [] : [lastSegment(text)];
  const named = (meaning & addressText) === 0 ? [] : filesIn(text);
  return [...ids, ...named].filter((id) => id !== '' && id.length <= maxIdLength);
}

function lastSegment(text: string): string {
  const path = text.trim();
  return path.slice(path.lastIndexOf('/') + 1);
}

/** `https://generativelanguage.googleapis.com/v1beta/files/abc?alt=media`, also in escapes. */
function filesIn(address: string): readonly string[] {
  const segments = unescaped(address).split('/');
  const collections = segments.map((segment) => segment.toLowerCase() === 'files');
  return segments.filter((_, index) => collections[index - 1]).map(plainBeginning);
}

/** Up to a query, a fragment or a verb (`abc:download`). */
function plainBeginning(segment: string): string {
  const ends = ['?', '#', ':'].map((mark) => segment.indexOf(mark)).filter((at) => at !== -1);
  return segment.slice(0, Math.min(segment.length, ...ends));
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** As lenient parsers read it, if it is malformed. */
function decoded(text: string): string {
  if (!text.includes('\\')) return text;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text.replaceAll('\\', '');
  }
}

/** Offset of the closing quote; -1 if it is not there. */
function endOfText(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(quote, from);
  while (at !== -1 && isEscaped(bytes, from, at)) at = bytes.indexOf(quote, at + 1);
  return at;
}
