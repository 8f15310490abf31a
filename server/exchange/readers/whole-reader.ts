/**
 * Reads a response that is not a stream. It is held until complete, so that another target can replace one that is cut,
 * stalls or is damaged. A response that is too long for that passes as it arrives, as soon as that is known.
 */

import { promisify } from 'node:util';
import { brotliDecompress, crc32, createInflateRaw, gunzip, inflate } from 'node:zlib';
import {
  asUtf8,
  formatOf,
  hasJsonContentType,
  isJsonString,
  isOtherText,
  isPlausibleBeginning,
  type ResponseFormat,
  readJson,
  readMedia,
  readText,
} from '../../apis/core/errors/read-whole.ts';
import { failureBy } from '../../apis/core/errors/verdict.ts';
import { framingOf } from '../../apis/core/sse-framing.ts';
import type { UpstreamError } from '../../apis/core/upstream-error.ts';
import type { Verdict, WholeAnswer } from '../../apis/core/wire.ts';
import { joinBytes } from '../../apis/json/json-peek.ts';
import { parseObject } from '../../apis/json/parse-object.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { endlessFailure } from '../../routing/attempt-result.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import type { TransportError } from '../../transport/transport-error.ts';
import {
  brokenBy,
  brokenTransport,
  damagedBy,
  failWith,
  type RequestFacts,
  type ResponseHead,
  type ResponseReader,
  type Step,
  type Steps,
} from './response-reader.ts';

/** Longer responses pass as they arrive, if the route has answers of that length. */
export const maxHeldBytes = 8 * 1024 * 1024;
/** No JSON response is longer; one that is counts as endless. */
export const maxWrittenBytes = 32 * 1024 * 1024;
/** From this size on, JSON has to look like an answer of its route. */
const plausibleBytes = 1024 * 1024;
/** The minimum amount that counts as progress. */
const progressBytes = 256 * 1024;
/** Shorter responses do not count towards the memory limit. */
const countedFromBytes = 64 * 1024;
const joinedAtOnceBytes = 1024 * 1024;
/** Longer responses are not converted into events. */
const maxConvertedBytes = 256 * 1024;

export class WholeReader implements ResponseReader {
  readonly #facts: RequestFacts;
  readonly #status: number;
  #headers: ResponseHeaders;
  readonly #encodings: readonly Encoding[];
  #format: ResponseFormat;
  /** Whether a longer response may pass as it arrives. */
  readonly #mayPassOn: boolean;
  #maxBytes: number;
  /** Size from which the response has to look like an answer that may continue. */
  #plausibleFrom = plausibleBytes;
  #hasContent = false;
  #isPassing = false;
  /** Size that the response must exceed to count as progress. */
  #progressFrom = 0;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(facts: RequestFacts, head: ResponseHead) {
    this.#facts = facts;
    this.#status = head.status;
    this.#headers = head.headers;
    this.#encodings = encodingsOf(head.headers);
    this.#format = formatOf({ ...facts, wire: facts.route.wire, headers: head.headers });
    const isMedia = this.#format === 'media';
    const { whole } = facts.route.wire;
    this.#mayPassOn = isMedia || (whole.kind === 'json' && !whole.isNeverLonger && !facts.isTranslated);
    if (isMedia) this.#maxBytes = maxBytesOfMedia(head);
    else this.#maxBytes = whole.kind === 'media' || facts.isTranslated ? maxWrittenBytes : whole.maxHeldBytes;
  }

  read(chunk: Buffer): Steps {
    if (this.#isPassing) {
      const pass: Step = { kind: 'pass', bytes: chunk };
      return this.#progressFrom > 0 ? [pass, alive] : [pass];
    }
    const steps: Step[] = [];
    if (!this.#hasContent && !this.#acceptsBeginning(chunk, steps)) return steps;
    if (this.#hasContent && this.#bytes > this.#progressFrom) this.#progressed(steps);
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const isImplausible = this.#bytes > this.#plausibleFrom && !this.#isPlausible();
    if (!isImplausible && this.#bytes <= this.#maxBytes) return steps;
    if (!isImplausible && this.#mayPassOn) this.#passOn(steps);
    else steps.push(damagedBy('sent an answer without end', endlessFailure));
    return steps;
  }

  get heldBytes(): number {
    return this.#bytes < countedFromBytes ? 0 : this.#bytes;
  }

  releaseHeld(): Steps {
    const steps: Step[] = [];
    if (!this.#isPassing && this.#bytes > plausibleBytes) this.#passOn(steps);
    return steps;
  }

  end(): Steps | Promise<Steps> {
    if (this.#isPassing) return [{ kind: 'complete' }];
    if (this.#isPacked || this.#bytes > joinedAtOnceBytes) return this.#settleLong();
    const [first = empty] = this.#chunks;
    const body = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first;
    return this.#settle(body, body);
  }

  fail(error: TransportError): Steps {
    return [this.#isPassing ? { kind: 'break', error: brokenBy(error), event: null } : brokenTransport(error)];
  }

  /**
   * Called until there is content. DeepSeek sends blank lines while a request is queued
   * (api-docs.deepseek.com/quick_start/rate_limit). False: stop reading.
   */
  #acceptsBeginning(chunk: Buffer, steps: Step[]): boolean {
    const start = this.#format === 'media' ? 0 : chunk.findIndex(isNoBlank);
    this.#hasContent = start !== -1;
    if (!this.#hasContent && this.#bytes === 0) steps.push({ kind: 'wait' });
    else if (this.#hasContent && this.#bytes > 0) steps.push({ kind: 'content' });
    if (!this.#hasContent || this.#isPacked) return true;
    if (this.#format === 'media') this.#lookForError(chunk);
    return this.#format !== 'json' || this.#beginsAsJson(chunk, start, steps);
  }

  /** Otherwise the response is damaged, or is an event stream under another content type. */
  #beginsAsJson(chunk: Buffer, start: number, steps: Step[]): boolean {
    const { isStreamAsked, isTextAsked, route } = this.#facts;
    const framing = framingOf(route);
    if (isStreamAsked && framing.beginsLikeAnEvent(chunk.subarray(start))) {
      const headers = { 'content-type': framing.contentType, 'content-length': undefined };
      steps.push({ kind: 'reread', headers, bytes: Buffer.concat([...this.#chunks, chunk]), isWhole: false });
      return false;
    }
    const isGood = isTextAsked || jsonBeginnings.has(chunk[start]);
    if (!isGood) steps.push(damagedBy('sent an answer that is no valid JSON'));
    return isGood;
  }

  /** An error in place of audio is held and judged. */
  #lookForError(chunk: Buffer): void {
    if (!errorOnTop.test(chunk.toString('latin1', 0, 64))) return;
    this.#format = 'json';
    this.#maxBytes = maxHeldBytes;
  }

  /** Not reported for a short response of one piece. */
  #progressed(steps: Step[]): void {
    this.#progressFrom = this.#bytes + progressBytes;
    if (this.#maxBytes > 0) steps.push(alive);
  }

  /** Checked once and early, so that an endless response of nonsense fails soon. */
  #isPlausible(): boolean {
    this.#plausibleFrom = Number.POSITIVE_INFINITY;
    const isReadable = this.#format === 'json' && !this.#isPacked && !this.#facts.isTextAsked;
    return !isReadable || isPlausibleBeginning(Buffer.concat(this.#chunks, plausibleBytes), this.#facts.route.wire);
  }

  #passOn(steps: Step[]): void {
    if (this.#format === 'json') this.#callJson(steps);
    this.#isPassing = true;
    for (const bytes of this.#chunks) steps.push({ kind: 'pass', bytes });
    this.#chunks = [];
  }

  /** SDKs would treat JSON under another content type as plain text. */
  #callJson(steps: Step[]): void {
    if (hasJsonContentType(this.#headers)) return;
    const headers = { 'content-type': 'application/json' };
    this.#headers = { ...this.#headers, ...headers };
    steps.push({ kind: 'headers', headers });
  }

  /**
   * For a long response, which is joined in steps that yield to other requests, or a compressed one: the client gets the
   * bytes of an answer unchanged.
   */
  async #settleLong(): Promise<Steps> {
    const body = await joinBytes(this.#chunks);
    if (!this.#isPacked || body.length === 0) return this.#settle(body, body);
    const plain = await decompress(this.#encodings, body, maxWrittenBytes);
    return plain === null ? [damagedBy('sent a compressed answer that is damaged')] : this.#settle(body, plain);
  }

  get #isPacked(): boolean {
    return this.#encodings.length > 0;
  }

  /** Whether its length or last chunk shows that it is complete. */
  get #isFramed(): boolean {
    return this.#headers['content-length'] !== undefined || this.#headers['transfer-encoding'] !== undefined;
  }

  #settle(body: Buffer, bytes: Buffer): Steps {
    const plain = this.#format === 'json' ? asUtf8(bytes) : bytes;
    const steps: Step[] = [];
    if (this.#format === 'json' && plain.length > 0) this.#callJson(steps);
    const verdict = this.#judge(plain);
    const document = verdict.kind === 'answer' ? verdict.document : undefined;
    if (verdict.kind === 'damaged') steps.push(damagedBy(verdict.what));
    else if (verdict.kind === 'error') steps.push(this.#refusalOf(plain, verdict));
    else if (verdict.kind === 'failed-answer' && !this.#facts.isKept)
      steps.push(this.#refusalOf(plain, { ...verdict, status: this.#status }));
    else steps.push(this.#asStream(plain) ?? this.#complete(body, { plain, document }));
    return steps;
  }

  #complete(body: Buffer, whole: WholeAnswer): Step {
    return { kind: 'complete', bytes: this.#facts.isTranslated ? whole.plain : body, whole };
  }

  #judge(plain: Buffer): Verdict {
    const { method, route } = this.#facts;
    if (method === 'HEAD' || this.#status === 204 || this.#status === 304) return { kind: 'answer' };
    if (this.#format === 'text' || (this.#facts.isTextAsked && isJsonString(plain))) return readText(plain);
    if (this.#format === 'media') return readMedia(plain);
    const isFramed = this.#isFramed || this.#isPacked;
    const verdict = readJson(plain, route.wire, { isFramed, passesUnread: !this.#facts.isTranslated });
    const isText = verdict.kind === 'damaged' && this.#facts.isTextAsked && isOtherText(plain);
    return isText ? readText(plain) : verdict;
  }

  /** The response as events, if the client asked for a stream; null if it did not or that is not possible. */
  #asStream(whole: Buffer): Step | null {
    const { isStreamAsked, route } = this.#facts;
    const isShort = whole.length <= maxConvertedBytes;
    const answer = isStreamAsked && route.stream && isShort ? parseObject(whole.toString('utf8').trim()) : null;
    const events = answer && route.stream ? route.stream.fromWhole(answer) : null;
    if (events === null) return null;
    const type = framingOf(route).contentType;
    const headers = { 'content-type': type, 'content-length': undefined, 'content-encoding': undefined };
    return { kind: 'reread', headers, bytes: Buffer.from(events), isWhole: true };
  }

  /** If no other target succeeds, the error is relayed with the status that it should have had. */
  #refusalOf(body: Buffer, { status, error }: { status: number; error: UpstreamError | null }): Step {
    const headers = { ...this.#headers, 'content-length': String(body.length), 'content-encoding': undefined };
    const failure = failureBy({
      status: status < 400 ? 500 : status,
      headers,
      error,
      isAboutJob: false,
    });
    return failWith({ kind: 'answer', failure, answer: { status, headers, body, error } });
  }
}

const alive: Step = { kind: 'alive' };
const empty = Buffer.alloc(0);

const isNoBlank = (byte: number) => byte > 0x20;

/** First byte of an object, a list or a byte order mark, of UTF-16 as well. */
const jsonBeginnings = new Set<number | undefined>([0x7b, 0x5b, 0xef, 0xfe, 0xff]);
const errorOnTop = boundedPattern(/^\s*\{\s*"error"\s*:/);

function maxBytesOfMedia({ headers }: ResponseHead): number {
  const length = headers['content-length'];
  if (typeof length === 'string') return Number(length) <= maxHeldBytes ? maxHeldBytes : 0;
  // Audio generated during playback must not wait for its end; compressed data is held, since damage would not be
  // noticed.
  return headers['content-encoding'] === undefined ? 0 : maxHeldBytes;
}

/** Compression that an upstream may apply although Sluice asks for none. */
export type Encoding = 'gzip' | 'deflate' | 'br';

const byName = new Map<string, Encoding>([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
]);
/** Each may expand a thousandfold. */
const maxEncodings = 3;
const none: readonly Encoding[] = [];

/**
 * In the order in which they were applied; empty if the response is not compressed, or in an unknown way: then it is read as it is and
 * treated as damaged if it makes no sense.
 */
export function encodingsOf(headers: Readonly<Record<string, unknown>>): readonly Encoding[] {
  const names = namesIn(headers);
  const known = names.flatMap((name) => byName.get(name) ?? []);
  return known.length === names.length && known.length <= maxEncodings ? known : none;
}

function namesIn({ 'content-encoding': value }: Readonly<Record<string, unknown>>): readonly string[] {
  if (typeof value !== 'string') return [];
  const names = value.split(',', maxEncodings + 1).map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== '' && name !== 'identity');
}

const decoders: Record<Encoding, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** Null if the bytes are damaged, or longer than `maxBytes` when decompressed. */
export async function decompress(
  encodings: readonly Encoding[],
  bytes: Buffer,
  maxBytes: number,
): Promise<Buffer | null> {
  let plain: Buffer | null = bytes;
  for (const encoding of encodings.toReversed()) {
    if (plain === null) break;
    const packed: Buffer = plain;
    const decoded = decoders[encoding](packed, { maxOutputLength: maxBytes });
    plain = await decoded.catch(() => (encoding === 'gzip' ? firstMember(packed, maxBytes) : null));
  }
  return plain;
}

const headerBytes = 10;
const trailerBytes = 8;

/**
 * What is in front of bytes that are no gzip, which curl and browsers pass over and Node does not. Null if there are none, or more than
 * they are damaged.
 */
async function firstMember(bytes: Buffer, maxBytes: number): Promise<Buffer | null> {
  const flags = bytes[3];
  // Services add no name, comment or other field to the header (RFC 1952, 2.3.1).
  const member = flags === 0 ? await inflateFirst(bytes.subarray(headerBytes), maxBytes) : null;
  if (!member) return null;
  const end = headerBytes + member.packedBytes;
  const rest = bytes.subarray(end + trailerBytes);
  const isFollowed = rest.length > 0 && !(rest[0] === 0x1f && rest[1] === 0x8b);
  return isFollowed && bytes.readUInt32LE(end) === crc32(member.plain) ? member.plain : null;
}

function inflateFirst(bytes: Buffer, maxBytes: number): Promise<{ plain: Buffer; packedBytes: number } | null> {
  const { promise, resolve } = Promise.withResolvers<{ plain: Buffer; packedBytes: number } | null>();
  const inflating = createInflateRaw();
  const chunks: Buffer[] = [];
  let length = 0;
  inflating.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) inflating.destroy(new Error('too long'));
  });
  inflating.on('end', () => resolve({ plain: Buffer.concat(chunks), packedBytes: inflating.bytesWritten }));
  inflating.on('error', () => resolve(null));
  inflating.end(bytes);
  return promise;
}
