/**
 * A reply that is no stream, held until all of it is there, so that one that is cut, stalls or is damaged can be had from
 * another target. One that is too long for that passes as it comes, from the moment that is known.
 */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Capability } from '../../contract/capability.ts';
import { classifyAnswer } from '../../routing/classify-failure.ts';
import type { TransportError } from '../../transport/transport-error.ts';
import { isJson, judgeWhole } from './judge-whole.ts';
import type { ReplyBody, ReplyHost } from './reply-body.ts';
import { brokenBy } from './reply-break.ts';
import { isEventStream } from './reply-headers.ts';

/** What is longer passes as it comes. */
export const maxHeldBytes = 8 * 1024 * 1024;
/** What a model writes is never as long as this: such a reply has no end. */
const maxWrittenBytes = 32 * 1024 * 1024;
const written: readonly Capability[] = ['chat', 'completions', 'moderations', 'transcription', 'translation'];

const decoders: Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

export class WholeReply implements ReplyBody {
  readonly #host: ReplyHost;
  readonly #maxBytes: number;
  readonly #isWritten: boolean;
  readonly #isText: boolean;
  #hasContent = false;
  #held: Buffer[] = [];
  #bytes = 0;

  constructor(host: ReplyHost) {
    this.#host = host;
    this.#isWritten = written.includes(host.route.capability);
    this.#isText = isTextual(host);
    this.#maxBytes = maxBytesOf(host, this.#isText, this.#isWritten);
  }

  take(chunk: Buffer): void {
    if (this.#host.hasBegun) {
      this.#host.write(chunk);
      return;
    }
    if (!this.#hasContent) this.#lookForContent(chunk);
    this.#held.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#maxBytes) return;
    if (this.#isWritten && this.#maxBytes > 0) this.#host.damaged('sent an answer without end');
    else this.#passOn();
  }

  end(): void {
    if (this.#host.hasBegun) {
      this.#host.complete();
      return;
    }
    const [first = empty] = this.#held;
    const body = this.#held.length > 1 ? Buffer.concat(this.#held) : first;
    const encoding = this.#host.headers['content-encoding'];
    if (encoding === undefined || encoding === 'identity' || body.length === 0) this.#settle(body, body);
    else void this.#settleEncoded(body, typeof encoding === 'string' ? decoders[encoding] : undefined);
  }

  fail(error: TransportError): void {
    if (this.#host.hasBegun) this.#host.breakOff(brokenBy(error), null);
    else this.#host.failTransport(error);
  }

  isComplete(): boolean {
    return false;
  }

  /** Some upstreams send blanks while they think, as others send comments in a stream. */
  #lookForContent(chunk: Buffer): void {
    this.#hasContent = !this.#isText || !isBlank(chunk);
    if (!this.#hasContent && this.#bytes === 0) this.#host.awaitContent();
    else if (this.#hasContent && this.#bytes > 0) this.#host.contentCame();
  }

  #passOn(): void {
    if (!this.#host.begin()) return;
    for (const chunk of this.#held) this.#host.write(chunk);
    this.#held = [];
  }

  /** Compressed unasked. The client gets the bytes as they came; whether they can be read is seen here. */
  async #settleEncoded(body: Buffer, decode: (typeof decoders)[string] | undefined): Promise<void> {
    const plain = decode ? await decode(body, { maxOutputLength: maxWrittenBytes }).catch(() => null) : body;
    if (this.#host.isOver) return;
    if (plain === null) this.#host.damaged('sent a compressed answer that is damaged');
    else if (plain === body) this.#pass(body, body);
    else this.#settle(body, plain);
  }

  #settle(body: Buffer, plain: Buffer): void {
    const { route, headers, method, status } = this.#host;
    const isBare = method === 'HEAD' || status === 204 || status === 304;
    const verdict = isBare ? null : judgeWhole(plain, route, headers);
    if (verdict?.kind === 'damaged') this.#host.damaged(verdict.what);
    else if (verdict?.kind === 'error') this.#refused(body, plain, verdict.status);
    else this.#pass(body, plain);
  }

  #pass(body: Buffer, plain: Buffer): void {
    if (this.#host.passAsStream(plain)) return;
    if (this.#host.begin()) this.#host.complete(body);
  }

  /** Relayed, if nobody does better, with the status that it should have had. */
  #refused(body: Buffer, plain: Buffer, status: number): void {
    const { headers } = this.#host;
    const judged = { status: status < 400 ? 500 : status, headers, body: plain.toString('utf8'), isAboutJob: false };
    this.#host.refuse(classifyAnswer(judged), { status, headers, body });
  }
}

const empty = Buffer.alloc(0);

function isTextual({ headers, route }: ReplyHost): boolean {
  const type = headers['content-type'];
  return isJson(route, headers) || (typeof type === 'string' && /^text\//i.test(type));
}

const isBlank = (chunk: Buffer) => chunk.every((byte) => byte <= 0x20);

function maxBytesOf({ headers }: ReplyHost, isText: boolean, isWritten: boolean): number {
  // One whose events cannot be told apart, since it is compressed.
  if (isEventStream(headers)) return 0;
  const length = headers['content-length'];
  if (typeof length === 'string') return Number(length) <= maxHeldBytes ? maxHeldBytes : 0;
  // Sound that is made while it is heard must not wait for its end; but what is packed may be damaged where nobody sees it.
  if (!isText) return headers['content-encoding'] === undefined ? 0 : maxHeldBytes;
  return isWritten ? maxWrittenBytes : maxHeldBytes;
}
