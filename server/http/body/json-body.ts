/** JSON bodies: received, searched for what decides, and sent on in pieces. */

import { Readable } from 'node:stream';
import type { BodyOutline } from '../../apis/core/chat-flavour.ts';
import { readStreamFlag } from '../../apis/core/requests/deciding-fields.ts';
import { servedObjectMembers } from '../../apis/core/requests/object-members.ts';
import { maxTextBytes, type RawField } from '../../apis/core/wire.ts';
import { JsonNames, WatchedMembers } from '../../apis/json/json-names.ts';
import {
  fieldEdit,
  fieldValue,
  type JsonEdit,
  type JsonField,
  type JsonPeek,
  joinBytes,
  peekJson,
  peekLongJson,
  piecesOf,
  usageEdits,
} from '../../apis/json/json-peek.ts';
import type { MarkedElement } from '../../apis/json/json-scan.ts';
import { watchedMembers } from '../../apis/registry.ts';
import { marksOfSluice } from '../../apis/translation/returned-seals.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { BodyChanges, PreparedBody, RequestBody, RequestFields } from '../../exchange/request/request-body.ts';
import { yieldToEventLoop } from '../../ground/promises.ts';
import { collectedFields } from './incoming-body.ts';
import { releaseBody } from './read-body.ts';

const names = new JsonNames(collectedFields);
const watched = new WatchedMembers(watchedMembers, servedObjectMembers);

/** Longer values are not parsed, since that would block the event loop. */
const maxParsedBytes = 64 * 1024;
/** The longest name of a model or response. */
const maxNameBytes = 4096;

/** Bodies from this length on are sent in chunks. */
const pieceByPieceBytes = 1024 * 1024;

const quote = 0x22;

/** A body of an API whose own parser takes trailing commas: it is sent as it came, unless it is changed or translated. */
export function readLooseJsonBody(bytes: Buffer, isStream: boolean | null): JsonBody | Promise<JsonBody> {
  const peek = peekLongJson(bytes, names, marksOfSluice, watched);
  if (peek instanceof Promise) return peek.then((peeked) => looseBody(bytes, peeked, isStream));
  return peek.ok ? new JsonBody(bytes, peek, isStream) : looseBody(bytes, peek, isStream);
}

async function looseBody(bytes: Buffer, peek: JsonPeek, isStream: boolean | null): Promise<JsonBody> {
  const plain = peek.ok ? null : await withoutTrailingCommas(bytes);
  if (plain === null) return new JsonBody(bytes, peek, isStream);
  const body = await readJsonBody(plain, isStream);
  body.sendAs(bytes);
  return body;
}

/**
 * Returns a promise for a long body. Throws or rejects with a GatewayError if the body is not a JSON object, or ambiguous.
 * `isStream`: whether the path requests a stream; null if the body decides.
 */
export function readJsonBody(
  bytes: Buffer,
  isStream: boolean | null,
  continuesId?: string,
): JsonBody | Promise<JsonBody> {
  const peek = peekLongJson(bytes, names, marksOfSluice, watched);
  if (peek instanceof Promise) return peek.then((peeked) => new JsonBody(bytes, peeked, isStream, continuesId));
  return new JsonBody(bytes, peek, isStream, continuesId);
}

export class JsonBody implements RequestBody {
  readonly fields: RequestFields;
  readonly contentType = 'application/json';
  readonly continuesId: string | undefined;
  readonly #bytes: Buffer;
  /** What is sent if nothing is changed. */
  #asSent: Buffer;
  readonly #size: number;
  /** Made for long bodies only. */
  #readers: Set<BodyReader> | undefined;
  readonly #peek: Extract<JsonPeek, { ok: true }>;

  constructor(
    bytes: Buffer,
    peek: JsonPeek = peekJson(bytes, names, marksOfSluice, watched),
    isStream: boolean | null = null,
    continuesId?: string,
  ) {
    if (!peek.ok) {
      throw new GatewayError(
        'malformed_json',
        `We could not parse the JSON body of your request: ${peek.reason} at byte ${peek.offset}. Send one valid JSON object.`,
      );
    }
    refuseAmbiguous(peek.ambiguous);
    this.continuesId = continuesId;
    this.#bytes = bytes;
    this.#asSent = bytes;
    this.#size = bytes.length;
    this.#peek = peek;
    this.fields = {
      model: this.#name('model'),
      stream: isStream ?? readStreamFlag(this.#read(peek.fields.get('stream'))) === true,
      previousResponseId: this.#name('previous_response_id'),
      store: this.#read(peek.fields.get('store')) !== false,
    };
  }

  get size(): number {
    return this.#size;
  }

  get captured(): Buffer {
    return this.#bytes;
  }

  get values(): number {
    return this.#peek.values;
  }

  field(name: string): unknown {
    try {
      return this.#read(this.#peek.fields.get(name));
    } catch {
      return undefined;
    }
  }

  raw(name: string): RawField | null {
    const field = this.#peek.fields.get(name);
    const bytes = field && this.#bytes.subarray(field.start, field.end);
    return bytes && !bytes.equals(nullBytes) ? { bytes, items: field.items } : null;
  }

  get mayNameObjects(): boolean {
    return this.#peek.namesObjects;
  }

  get marked(): readonly MarkedElement[] {
    return this.#peek.marked;
  }

  get outline(): BodyOutline {
    return { bytes: this.#bytes, members: this.#peek.members, watched: this.#peek.watched };
  }

  sendable({ model, askUsage, previousResponseId, edits: further = [] }: BodyChanges): PreparedBody {
    const usage = askUsage && this.fields.stream ? usageEdits(this.#bytes, this.#peek) : [];
    const previous = this.#peek.fields.get('previous_response_id');
    const renamed = previous && previousResponseId ? [fieldEdit(previous, previousResponseId)] : [];
    const edits = [...this.#modelEdits(model), ...usage, ...renamed, ...further];
    const usageAsked = usage.length > 0;
    const pieces = edits.length > 0 ? piecesOf(this.#bytes, edits) : [this.#asSent];
    const bytes = () => joinBytes(pieces);
    if (this.#isLong) {
      const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
      const beginning = (maxBytes: number) => beginningOf(pieces, maxBytes);
      return { length, open: () => this.#send(pieces), bytes, beginning, usageAsked };
    }
    const whole = edits.length === 0 ? this.#asSent : Buffer.concat(pieces);
    return { length: whole.length, open: () => whole, bytes: async () => whole, usageAsked };
  }

  /** Frees the memory of long bodies, which no socket refers to. */
  dispose(): void {
    if (!this.#isLong) return;
    for (const reader of this.#readers ?? []) reader.destroy();
    releaseBody(this.#bytes);
    if (this.#asSent !== this.#bytes) releaseBody(this.#asSent);
  }

  /** `bytes`: the same document of the same length, in a spelling that its own API takes. */
  sendAs(bytes: Buffer): void {
    this.#asSent = bytes;
  }

  get #isLong(): boolean {
    return this.#size >= pieceByPieceBytes;
  }

  #send(pieces: readonly Buffer[]): BodyReader {
    const reader = new BodyReader(pieces);
    this.#readers ??= new Set();
    this.#readers.add(reader);
    return reader.once('close', () => this.#readers?.delete(reader));
  }

  #modelEdits(model: string | null): JsonEdit[] {
    if (model === null || model === this.fields.model) return [];
    const field = this.#peek.fields.get('model');
    if (field) return [fieldEdit(field, model)];
    const start = this.#bytes.indexOf(0x7b) + 1;
    return [{ start, end: start, text: `"model":${JSON.stringify(model)}${this.#peek.empty ? '' : ','}` }];
  }

  #name(name: 'model' | 'previous_response_id'): string | null {
    const field = this.#peek.fields.get(name);
    if (field && field.end - field.start > maxNameBytes) {
      throw new GatewayError('invalid_value', `Invalid '${name}': it is longer than ${maxNameBytes} bytes.`, {
        param: name,
      });
    }
    const value = this.#read(field);
    if (value === undefined || value === null || value === '') return null;
    if (typeof value === 'string') return value;
    throw new GatewayError('invalid_value', `Invalid type for '${name}': expected a string.`, { param: name });
  }

  #read(field: JsonField | undefined): unknown {
    if (!field) return undefined;
    const maxBytes = this.#bytes[field.start] === quote ? maxTextBytes : maxParsedBytes;
    if (field.end - field.start > maxBytes) return undefined;
    try {
      return fieldValue(this.#bytes, field);
    } catch (error) {
      throw new GatewayError(
        'malformed_json',
        'We could not parse the JSON body of your request: a string in it is not valid JSON.',
        { cause: error },
      );
    }
  }
}

/** The first `maxBytes` bytes. */
function beginningOf(pieces: readonly Buffer[], maxBytes: number): Buffer {
  const beginning: Buffer[] = [];
  let room = maxBytes;
  for (const piece of pieces) {
    if (room <= 0) break;
    beginning.push(piece.subarray(0, room));
    room -= piece.length;
  }
  return Buffer.concat(beginning);
}

const nullBytes = Buffer.from('null');

/**
 * Refuses keys that parsers read differently, since the upstream must see what was admitted. JSON leaves the meaning of
 * duplicate keys open (RFC 8259, section 4); Go's encoding/json also ignores case (documented at `Unmarshal`). See Bishop Fox, "An Exploration of JSON
 * Interoperability Vulnerabilities" (2021).
 */
function refuseAmbiguous(ambiguous: ReadonlySet<string>): void {
  if (ambiguous.size === 0) return;
  const [param = null] = ambiguous;
  throw new GatewayError(
    'invalid_value',
    `Invalid '${param}': its key is written more than once, in another case or with escapes, so that servers may differ in what it says. Write it once, as "${param}".`,
    { param },
  );
}

const comma = 0x2c;
const backslash = 0x5c;
const blank = 0x20;
/** Between two turns of the event loop. */
const sliceBytes = 256 * 1024;

/**
 * Commas before a closing bracket, which JSON does not have, but Google's parser and its examples do. They are blanked,
 * so that all offsets stay as they are.
 *
 * A copy of the body without them; null if it has none. Other faults are left in it.
 */
export async function withoutTrailingCommas(body: Buffer): Promise<Buffer | null> {
  let copy: Buffer | null = null;
  let isInString = false;
  /** Of the last byte that was no blank, if it is a comma after a value. */
  let commaAt = -1;
  let isAfterValue = false;
  let nextPause = sliceBytes;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0;
    if (isInString) {
      if (byte === backslash) at++;
      else if (byte === quote) isInString = false;
      continue;
    }
    if (byte <= blank) continue;
    if (isClosing(byte) && commaAt !== -1) {
      copy ??= Buffer.from(body);
      copy[commaAt] = blank;
    }
    commaAt = byte === comma && isAfterValue ? at : -1;
    isAfterValue = !startsOrSeparates.has(byte);
    isInString = byte === quote;
    if (at < nextPause) continue;
    nextPause = at + sliceBytes;
    await yieldToEventLoop();
  }
  return copy;
}

/** `[`, `{`, `:` and `,`, which no value ends in. */
const startsOrSeparates = new Set([0x5b, 0x7b, 0x3a, comma]);

/** `]` or `}`. */
function isClosing(byte: number): boolean {
  return byte === 0x5d || byte === 0x7d;
}

const pieceBytes = 256 * 1024;

/**
 * Sends a body from memory in copied chunks. Sent as one buffer, a long body would be encrypted in one go and be held by the
 * socket a second time, and its memory could not be freed early.
 */
class BodyReader extends Readable {
  readonly #segments: Buffer[];
  #at = 0;

  /** @param segments the consecutive parts of the body */
  constructor(segments: readonly Buffer[]) {
    // Chunks are copied only as the socket accepts them.
    super({ highWaterMark: 0 });
    this.#segments = [...segments];
  }

  override _read(): void {
    const chunk = Buffer.allocUnsafeSlow(pieceBytes);
    let filled = 0;
    while (filled < chunk.length) {
      const [segment] = this.#segments;
      if (!segment) break;
      const copied = segment.copy(chunk, filled, this.#at);
      filled += copied;
      this.#at += copied;
      if (this.#at < segment.length) continue;
      this.#segments.shift();
      this.#at = 0;
    }
    this.push(filled > 0 ? chunk.subarray(0, filled) : null);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#segments.length = 0;
    done(error);
  }
}
