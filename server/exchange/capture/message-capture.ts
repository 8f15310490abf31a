import type { CapturedMessage, CaptureGap, HeaderList } from '../../contract/capture.ts';
import type { Steps } from '../../ground/promises.ts';
import type { Headers } from '../record/response-taps.ts';
import { overlapBytes } from '../redact/redact-credential.ts';
import { redactHeaders } from '../redact/redact-headers.ts';
import type { Redactor } from '../redact/redactor.ts';

/** Bounds and secrets for everything that is kept of one exchange. */
export interface CaptureRules {
  /** Of each body. */
  maxBytes: number;
  /** The client's keys and the credentials of all attempts. */
  secrets: readonly string[];
  /** For bodies. */
  redactor: Redactor;
}

/** The first bytes of a body that passes in chunks. */
export class BodyStart {
  readonly #mostBytes: number;
  readonly #chunks: Buffer[] = [];
  #keptBytes = 0;
  /** Length of the whole body so far. */
  bytes = 0;

  constructor(maxBytes: number) {
    // Secrets can only be recognised in full.
    this.#mostBytes = maxBytes + overlapBytes;
  }

  take(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.#keptBytes >= this.#mostBytes) return;
    this.#chunks.push(chunk);
    this.#keptBytes += chunk.length;
  }

  /** Not to be changed, nor to be kept: it may be part of a larger buffer. */
  get kept(): Buffer {
    const [first, ...others] = this.#chunks;
    return first && others.length === 0 ? first : Buffer.concat(this.#chunks);
  }

  /** Lets go of the larger buffers of which the chunks are parts. */
  own(): void {
    this.#chunks.splice(0, this.#chunks.length, Buffer.concat(this.#chunks));
  }
}

/** A body, or its beginning, as it was exchanged. */
export interface RawBody {
  start: Buffer;
  /** Null: `start` is the whole body. */
  totalBytes: number | null;
  /** The body broke off. */
  isCut?: boolean;
}

/** Returns copies, since the memory of a request's body is released when the request ends. Secrets are still in them. */
export function capturedMessage(
  headers: Headers | null,
  { start, totalBytes, isCut = false }: RawBody,
  rules: CaptureRules,
): CapturedMessage<Buffer> {
  const bytes = totalBytes ?? start.length;
  const gap = bytes > rules.maxBytes ? 'too-long' : isCut ? 'incomplete' : null;
  const body = bytes === 0 ? null : Buffer.from(start.subarray(0, rules.maxBytes + overlapBytes));
  return { headers: headerList(headers, rules), body, bytes, gap };
}

/** A copy of what may be kept of the body, which may be part of something larger. */
export function ownBody({ start, ...rest }: RawBody, maxBytes: number): RawBody {
  return {
    ...rest,
    start: Buffer.from(start.subarray(0, maxBytes + overlapBytes)),
    totalBytes: rest.totalBytes ?? start.length,
  };
}

/** A message whose body is not kept. */
export function withoutBody(
  headers: Headers | null,
  gap: CaptureGap | null,
  rules: CaptureRules,
): CapturedMessage<Buffer> {
  return { headers: headerList(headers, rules), body: null, bytes: gap === null ? 0 : null, gap };
}

function headerList(headers: Headers | null, { secrets }: CaptureRules): HeaderList | null {
  return headers && redactHeaders(headers, secrets);
}

/** Secrets could not be found in compressed data. */
export function isPlain({ 'content-encoding': encoding }: Headers): boolean {
  if (encoding === undefined) return true;
  return typeof encoding === 'string' && ['', 'identity'].includes(encoding.trim().toLowerCase());
}

/** The body without secrets. */
export function* withoutSecrets<Message extends CapturedMessage<Buffer>>(
  message: Message,
  { maxBytes, redactor }: CaptureRules,
): Steps<Message> {
  if (message.body === null) return message;
  return { ...message, body: Buffer.from(yield* redactor.bodyInSteps(message.body, maxBytes)) };
}
