/**
 * A reply that is no stream, held until all of it is there, so that one that is cut, stalls or is damaged can be had from
 * another target. One that is too long for that passes as it comes, from the moment that is known.
 */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { pattern } from '../../bounded-pattern.ts';
import type { Capability } from '../../contract/capability.ts';
import { joinBytes } from '../../http/json/join-bytes.ts';
import { classifyAnswer, type Failure, fleetingFailure } from '../../routing/classify-failure.ts';
import type { TransportError } from '../../transport/transport-error.ts';
import {
  type ErrorVerdict,
  formatOf,
  judgeLong,
  judgeWhole,
  mayGoOn,
  type ReplyFormat,
  type Verdict,
} from '../../wire/openai/judge-whole.ts';
import { type Encoding, encodingOf } from '../encodings.ts';
import { brokenBy } from './broken-off.ts';
import { beginsLikeAnEvent } from './event-beginning.ts';
import type { ReplyBody, ReplyHost } from './response-reader.ts';

/** What is longer passes as it comes, if there are answers of that length. */
export const maxHeldBytes = 8 * 1024 * 1024;
/** No other JSON is ever as long as this: such a reply has no end. */
const maxWrittenBytes = 32 * 1024 * 1024;
/** Of these there are such answers: many vectors or pictures, or the pictures that a response has drawn. */
const long: readonly Capability[] = ['embeddings', 'images', 'responses'];
/** Of these the pieces are of use one by one, and they are too many to be held. */
const lists: readonly Capability[] = ['embeddings', 'images'];
/** From here on JSON has to look like an answer of its route. */
const plausibleBytes = 1024 * 1024;
/** So much at least has to come while more of use is waited for, or the end. */
const progressBytes = 256 * 1024;
/** What is longer is judged in slices. */
const judgedAtOnceBytes = 256 * 1024;
/** What would take longer to be told in events is told as it is. */
const maxConvertedBytes = 1024 * 1024;
const maxConvertedValues = 50_000;
/** Once more would be as long. */
const endless: Failure = { ...fleetingFailure, mayPass: false };

const decoders: Record<Encoding, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

export class WholeReply implements ReplyBody {
  readonly #host: ReplyHost;
  readonly #encoding: Encoding | null;
  #format: ReplyFormat;
  /** What is longer may pass as it comes. */
  readonly #mayPass: boolean;
  #maxBytes: number;
  /** From how many bytes on it has to look like an answer that may go on. */
  #plausibleFrom = plausibleBytes;
  #hasContent = false;
  /** More than so many bytes are progress. */
  #progressFrom = 0;
  #held: Buffer[] = [];
  #bytes = 0;

  constructor(host: ReplyHost) {
    this.#host = host;
    this.#encoding = encodingOf(host.headers);
    this.#format = formatOf(host);
    const isMedia = this.#format === 'media';
    this.#mayPass = isMedia || long.includes(host.route.capability);
    if (isMedia) this.#maxBytes = maxBytesOfMedia(host);
    else this.#maxBytes = lists.includes(host.route.capability) ? maxHeldBytes : maxWrittenBytes;
  }

  take(chunk: Buffer): void {
    if (this.#host.hasBegun) {
      this.#host.write(chunk);
      if (this.#progressFrom > 0) this.#host.progressed();
      return;
    }
    if (!this.#hasContent && !this.#looksGood(chunk)) return;
    if (this.#hasContent && this.#bytes > this.#progressFrom) this.#progressed();
    this.#held.push(chunk);
    this.#bytes += chunk.length;
    const isRubbish = this.#bytes > this.#plausibleFrom && !this.#isPlausible();
    if (!isRubbish && this.#bytes <= this.#maxBytes) return;
    if (!isRubbish && this.#mayPass) this.#passOn();
    else this.#host.damaged('sent an answer without end', endless);
  }

  end(): void {
    if (this.#host.hasBegun) {
      this.#host.complete();
      return;
    }
    if (this.#encoding !== null || this.#bytes > judgedAtOnceBytes) {
      void this.#settleLong();
      return;
    }
    const [first = empty] = this.#held;
    const body = this.#held.length > 1 ? Buffer.concat(this.#held) : first;
    this.#settle(body, body, this.#isBare ? null : judgeWhole(body, this.#host.route, this.#format));
  }

  fail(error: TransportError): void {
    if (this.#host.hasBegun) this.#host.breakOff(brokenBy(error), null);
    else this.#host.failTransport(error);
  }

  isComplete(): boolean {
    return false;
  }

  /** Until there is content. Some upstreams send blanks while they think, as others send comments in a stream. */
  #looksGood(chunk: Buffer): boolean {
    const start = this.#format === 'media' ? 0 : chunk.findIndex(isNoBlank);
    this.#hasContent = start !== -1;
    if (!this.#hasContent && this.#bytes === 0) this.#host.awaitContent();
    else if (this.#hasContent && this.#bytes > 0) this.#host.contentCame();
    if (!this.#hasContent || this.#encoding !== null) return true;
    if (this.#format === 'media') this.#lookForError(chunk);
    return this.#format !== 'json' || this.#beginsAsJson(chunk, start);
  }

  /** Else it is damaged, or taken for the stream that it is, whatever it is called. */
  #beginsAsJson(chunk: Buffer, start: number): boolean {
    const isStream = this.#host.isStreamAsked && beginsLikeAnEvent(chunk.subarray(start));
    const isGood = !isStream && jsonBeginnings.has(chunk[start]);
    if (isStream) this.#host.readAsStream(Buffer.concat([...this.#held, chunk]));
    else if (!isGood) this.#host.damaged('sent an answer that is no valid JSON');
    return isGood;
  }

  /** An error in place of sound is held, to be judged. */
  #lookForError(chunk: Buffer): void {
    if (!errorOnTop.test(chunk.toString('latin1', 0, 64))) return;
    this.#format = 'json';
    this.#maxBytes = maxHeldBytes;
  }

  /** Not told by the only piece of a short one. */
  #progressed(): void {
    this.#progressFrom = this.#bytes + progressBytes;
    if (this.#maxBytes > 0) this.#host.progressed();
  }

  /** Asked once and early, so that rubbish is soon known for what it is. */
  #isPlausible(): boolean {
    this.#plausibleFrom = Number.POSITIVE_INFINITY;
    const isReadable = this.#format === 'json' && this.#encoding === null;
    return !isReadable || mayGoOn(Buffer.concat(this.#held, plausibleBytes), this.#host.route);
  }

  #passOn(): void {
    if (this.#format === 'json') this.#host.callJson();
    if (!this.#host.begin()) return;
    for (const chunk of this.#held) this.#host.write(chunk);
    this.#held = [];
  }

  /** So long that others have their turn meanwhile, or compressed unasked: the client gets the bytes as they came. */
  async #settleLong(): Promise<void> {
    const body = await joinBytes(this.#held);
    const plain = await this.#decoded(body);
    const isJudged = plain !== null && !this.#isBare;
    const verdict = isJudged ? await judgeLong(plain, this.#host.route, this.#format) : null;
    if (this.#host.isOver) return;
    if (plain === null) this.#host.damaged('sent a compressed answer that is damaged');
    else this.#settle(body, plain, verdict);
  }

  /** Null where it is damaged. */
  async #decoded(body: Buffer): Promise<Buffer | null> {
    if (this.#encoding === null || body.length === 0) return body;
    return decoders[this.#encoding](body, { maxOutputLength: maxWrittenBytes }).catch(() => null);
  }

  /** Nothing follows its headers, or need not. */
  get #isBare(): boolean {
    const { method, status } = this.#host;
    return method === 'HEAD' || status === 204 || status === 304;
  }

  #settle(body: Buffer, plain: Buffer, verdict: Verdict | null): void {
    if (this.#format === 'json' && plain.length > 0) this.#host.callJson();
    if (verdict?.kind === 'damaged') this.#host.damaged(verdict.what);
    else if (verdict?.kind === 'error') this.#refused(body, verdict);
    else this.#pass(body, plain, verdict?.values ?? 0);
  }

  #pass(body: Buffer, plain: Buffer, values: number): void {
    const mayBecomeStream = plain.length <= maxConvertedBytes && values <= maxConvertedValues;
    if (mayBecomeStream && this.#host.passAsStream(plain)) return;
    if (this.#host.begin()) this.#host.complete(body);
  }

  /** Relayed, if nobody does better, with the status that it should have had. */
  #refused(body: Buffer, { status, error }: ErrorVerdict): void {
    const { headers } = this.#host;
    const failure = classifyAnswer({ status: status < 400 ? 500 : status, headers, error, isAboutJob: false });
    this.#host.refuse(failure, { status, headers, body, error });
  }
}

const empty = Buffer.alloc(0);

const isNoBlank = (byte: number) => byte > 0x20;

/** Of an object, a list or a byte order mark. */
const jsonBeginnings = new Set<number | undefined>([0x7b, 0x5b, 0xef]);
const errorOnTop = pattern(/^\s*\{\s*"error"\s*:/);

function maxBytesOfMedia({ headers }: ReplyHost): number {
  const length = headers['content-length'];
  if (typeof length === 'string') return Number(length) <= maxHeldBytes ? maxHeldBytes : 0;
  // Sound that is made while it is heard must not wait for its end; but what is packed may be damaged where nobody sees it.
  return headers['content-encoding'] === undefined ? 0 : maxHeldBytes;
}
