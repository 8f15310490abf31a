/**
 * A response that is no stream, held until all of it is there, so that one that is cut, stalls or is damaged can be had from
 * another target. One that is too long for that passes as it comes, from the moment that is known.
 */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { pattern } from '../../bounded-pattern.ts';
import { endlessFailure } from '../../routing/classify-failure.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import type { TransportError } from '../../transport/transport-error.ts';
import { joinBytes } from '../../wire/json/join-bytes.ts';
import { parseObject } from '../../wire/json/parse-object.ts';
import {
  formatOf,
  isJsonString,
  mayGoOn,
  type ResponseFormat,
  readJson,
  readMedia,
  readText,
  saysJson,
} from '../../wire/read-whole.ts';
import { framingOf } from '../../wire/sse-framing.ts';
import type { UpstreamError } from '../../wire/upstream-error.ts';
import type { Verdict } from '../../wire/wire.ts';
import { type Encoding, encodingOf } from '../encodings.ts';
import { brokenBy } from './broken-off.ts';
import {
  type Asked,
  brokenTransport,
  damagedBy,
  failWith,
  type ResponseHead,
  type ResponseReader,
  type Step,
  type Steps,
} from './response-reader.ts';

/** What is longer passes as it comes, if there are answers of that length. */
export const maxHeldBytes = 8 * 1024 * 1024;
/** No other JSON is ever as long as this: such a reply has no end. */
const maxWrittenBytes = 32 * 1024 * 1024;
/** From here on JSON has to look like an answer of its route. */
const plausibleBytes = 1024 * 1024;
/** So much at least has to come while more of use is waited for, or the end. */
const progressBytes = 256 * 1024;
/** Short ones are not counted among what lies in memory. */
const countedFromBytes = 64 * 1024;
const joinedAtOnceBytes = 1024 * 1024;
/** What would take longer to be told in events is told as it is. */
const maxConvertedBytes = 256 * 1024;

const decoders: Record<Encoding, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

export class WholeReader implements ResponseReader {
  readonly #asked: Asked;
  readonly #status: number;
  #headers: ResponseHeaders;
  readonly #encoding: Encoding | null;
  #format: ResponseFormat;
  /** What is longer may pass as it comes. */
  readonly #mayPassOn: boolean;
  #maxBytes: number;
  /** From how many bytes on it has to look like an answer that may go on. */
  #plausibleFrom = plausibleBytes;
  #hasContent = false;
  #isPassing = false;
  /** More than so many bytes are progress. */
  #progressFrom = 0;
  #held: Buffer[] = [];
  #bytes = 0;

  constructor(asked: Asked, head: ResponseHead) {
    this.#asked = asked;
    this.#status = head.status;
    this.#headers = head.headers;
    this.#encoding = encodingOf(head.headers);
    this.#format = formatOf({ ...asked, wire: asked.route.wire, headers: head.headers });
    const isMedia = this.#format === 'media';
    const { whole } = asked.route.wire;
    this.#mayPassOn = isMedia || (whole.kind === 'json' && !whole.isNeverLonger);
    if (isMedia) this.#maxBytes = maxBytesOfMedia(head);
    else this.#maxBytes = whole.kind === 'media' ? maxWrittenBytes : whole.maxHeldBytes;
  }

  read(chunk: Buffer): Steps {
    if (this.#isPassing) {
      const pass: Step = { kind: 'pass', bytes: chunk };
      return this.#progressFrom > 0 ? [pass, alive] : [pass];
    }
    const steps: Step[] = [];
    if (!this.#hasContent && !this.#beginsWell(chunk, steps)) return steps;
    if (this.#hasContent && this.#bytes > this.#progressFrom) this.#progressed(steps);
    this.#held.push(chunk);
    this.#bytes += chunk.length;
    const isRubbish = this.#bytes > this.#plausibleFrom && !this.#isPlausible();
    if (!isRubbish && this.#bytes <= this.#maxBytes) return steps;
    if (!isRubbish && this.#mayPassOn) this.#passOn(steps);
    else steps.push(damagedBy('sent an answer without end', endlessFailure));
    return steps;
  }

  get heldBytes(): number {
    return this.#bytes < countedFromBytes ? 0 : this.#bytes;
  }

  letPass(): Steps {
    const steps: Step[] = [];
    if (!this.#isPassing && this.#bytes > plausibleBytes) this.#passOn(steps);
    return steps;
  }

  end(): Steps | Promise<Steps> {
    if (this.#isPassing) return [{ kind: 'complete' }];
    if (this.#encoding !== null || this.#bytes > joinedAtOnceBytes) return this.#settleLong();
    const [first = empty] = this.#held;
    const body = this.#held.length > 1 ? Buffer.concat(this.#held) : first;
    return this.#settle(body, body);
  }

  fail(error: TransportError): Steps {
    return [this.#isPassing ? { kind: 'break', error: brokenBy(error), event: null } : brokenTransport(error)];
  }

  /** Asked until there is content. DeepSeek sends blank lines while a request waits for its turn. False: nothing more is to be read. */
  #beginsWell(chunk: Buffer, steps: Step[]): boolean {
    const start = this.#format === 'media' ? 0 : chunk.findIndex(isNoBlank);
    this.#hasContent = start !== -1;
    if (!this.#hasContent && this.#bytes === 0) steps.push({ kind: 'wait' });
    else if (this.#hasContent && this.#bytes > 0) steps.push({ kind: 'content' });
    if (!this.#hasContent || this.#encoding !== null) return true;
    if (this.#format === 'media') this.#lookForError(chunk);
    return this.#format !== 'json' || this.#beginsAsJson(chunk, start, steps);
  }

  /** Else it is damaged, or taken for the stream that it is, whatever it is called. */
  #beginsAsJson(chunk: Buffer, start: number, steps: Step[]): boolean {
    const { isStreamAsked, isTextAsked, route } = this.#asked;
    const framing = framingOf(route);
    if (isStreamAsked && framing.beginsLikeAnEvent(chunk.subarray(start))) {
      const headers = { 'content-type': framing.contentType, 'content-length': undefined };
      steps.push({ kind: 'reread', headers, bytes: Buffer.concat([...this.#held, chunk]), isWhole: false });
      return false;
    }
    const isGood = jsonBeginnings.has(chunk[start]) || (isTextAsked && chunk[start] === quote);
    if (!isGood) steps.push(damagedBy('sent an answer that is no valid JSON'));
    return isGood;
  }

  /** An error in place of sound is held, to be judged. */
  #lookForError(chunk: Buffer): void {
    if (!errorOnTop.test(chunk.toString('latin1', 0, 64))) return;
    this.#format = 'json';
    this.#maxBytes = maxHeldBytes;
  }

  /** Not told by the only piece of a short one. */
  #progressed(steps: Step[]): void {
    this.#progressFrom = this.#bytes + progressBytes;
    if (this.#maxBytes > 0) steps.push(alive);
  }

  /** Asked once and early, so that rubbish is soon known for what it is. */
  #isPlausible(): boolean {
    this.#plausibleFrom = Number.POSITIVE_INFINITY;
    const isReadable = this.#format === 'json' && this.#encoding === null && !this.#asked.isTextAsked;
    return !isReadable || mayGoOn(Buffer.concat(this.#held, plausibleBytes), this.#asked.route.wire);
  }

  #passOn(steps: Step[]): void {
    if (this.#format === 'json') this.#callJson(steps);
    this.#isPassing = true;
    for (const bytes of this.#held) steps.push({ kind: 'pass', bytes });
    this.#held = [];
  }

  /** What is JSON under another name would be a mere text to SDKs. */
  #callJson(steps: Step[]): void {
    if (saysJson(this.#headers)) return;
    const headers = { 'content-type': 'application/json' };
    this.#headers = { ...this.#headers, ...headers };
    steps.push({ kind: 'headers', headers });
  }

  /** So long that others have their turn meanwhile, or compressed unasked: the client gets the bytes as they came. */
  async #settleLong(): Promise<Steps> {
    const body = await joinBytes(this.#held);
    if (this.#encoding === null || body.length === 0) return this.#settle(body, body);
    const decode = decoders[this.#encoding];
    const plain = await decode(body, { maxOutputLength: maxWrittenBytes }).catch(() => null);
    return plain === null ? [damagedBy('sent a compressed answer that is damaged')] : this.#settle(body, plain);
  }

  #settle(body: Buffer, plain: Buffer): Steps {
    const steps: Step[] = [];
    if (this.#format === 'json' && plain.length > 0) this.#callJson(steps);
    const verdict = this.#judge(plain);
    if (verdict.kind === 'damaged') steps.push(damagedBy(verdict.what));
    else if (verdict.kind === 'error') steps.push(this.#refused(body, verdict));
    else if (verdict.kind === 'failed-answer' && !this.#asked.isKept)
      steps.push(this.#refused(body, { ...verdict, status: this.#status }));
    else steps.push(this.#asStream(plain) ?? this.#completed(this.#asked.isTranslated ? plain : body, verdict));
    return steps;
  }

  #completed(bytes: Buffer, verdict: Verdict): Step {
    return { kind: 'complete', bytes, document: documentOf(verdict) };
  }

  #judge(plain: Buffer): Verdict {
    const { method, route } = this.#asked;
    if (method === 'HEAD' || this.#status === 204 || this.#status === 304) return { kind: 'answer' };
    if (this.#format === 'text' || (this.#asked.isTextAsked && isJsonString(plain))) return readText(plain);
    if (this.#format === 'media') return readMedia(plain);
    const isFramed = this.#headers['content-length'] !== undefined || this.#headers['transfer-encoding'] !== undefined;
    return readJson(plain, route.wire, isFramed || this.#encoding !== null);
  }

  /** Where a stream was asked for the client gets the same as one; null where there is no need or no way. */
  #asStream(whole: Buffer): Step | null {
    const { isStreamAsked, route } = this.#asked;
    const isShort = whole.length <= maxConvertedBytes;
    const answer = isStreamAsked && route.stream && isShort ? parseObject(whole.toString('utf8').trim()) : null;
    const events = answer && route.stream ? route.stream.ofWhole(answer) : null;
    if (events === null) return null;
    const type = framingOf(route).contentType;
    const headers = { 'content-type': type, 'content-length': undefined, 'content-encoding': undefined };
    return { kind: 'reread', headers, bytes: Buffer.from(events), isWhole: true };
  }

  /** Relayed, if nobody does better, with the status that it should have had. */
  #refused(body: Buffer, { status, error }: { status: number; error: UpstreamError | null }): Step {
    const headers = this.#headers;
    const failure = this.#asked.route.wire.errors.classify({
      status: status < 400 ? 500 : status,
      headers,
      error,
      isAboutJob: false,
    });
    return failWith({ kind: 'answer', failure, answer: { status, headers, body, error } });
  }
}

function documentOf(verdict: Verdict): Record<string, unknown> | undefined {
  return verdict.kind === 'answer' ? verdict.document : undefined;
}

const alive: Step = { kind: 'alive' };
const empty = Buffer.alloc(0);

const isNoBlank = (byte: number) => byte > 0x20;

const quote = 0x22;
/** Of an object, a list or a byte order mark. */
const jsonBeginnings = new Set<number | undefined>([0x7b, 0x5b, 0xef]);
const errorOnTop = pattern(/^\s*\{\s*"error"\s*:/);

function maxBytesOfMedia({ headers }: ResponseHead): number {
  const length = headers['content-length'];
  if (typeof length === 'string') return Number(length) <= maxHeldBytes ? maxHeldBytes : 0;
  // Sound that is made while it is heard must not wait for its end; but what is packed may be damaged where nobody sees it.
  return headers['content-encoding'] === undefined ? 0 : maxHeldBytes;
}
