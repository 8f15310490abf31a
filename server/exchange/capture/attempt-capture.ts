/** What an attempt sent and received, as far as it is captured. */
import { isCredentialName } from '../../apis/core/requests/client-credentials.ts';
import type {
  CapturedAttempt,
  CapturedMessage,
  CapturedRequest,
  CapturedResponse,
  CaptureGap,
  EventFlow,
  HeaderList,
} from '../../contract/capture.ts';
import type { AttemptRecord } from '../../contract/ledger.ts';
import type { Steps } from '../../ground/promises.ts';
import type { OutgoingRequest } from '../../transport/transport.ts';
import type { Headers } from '../record/response-taps.ts';
import { overlapBytes, redactHeaders, redactUrl } from '../redact/redact-credential.ts';
import type { Redactor } from '../redact/redactor.ts';
import type { Sendable } from '../request/request-body.ts';

/** What the client sent and received; attempts with the same bytes do not store them again. */
export interface ClientSide {
  /** A body that is not in memory, with the reason. */
  body: RawBody | CaptureGap;
  response: ResponseCapture;
}

/** What one attempt sent and received. */
export class AttemptCapture {
  readonly response: ResponseCapture;
  readonly #secrets: readonly string[];
  readonly #maxBytes: number;
  #request: OutgoingRequest | null = null;
  #body: RawBody | null = null;

  /** `secrets`: those of the client and of this attempt's credential. */
  constructor(maxBytes: number, secrets: readonly string[]) {
    this.#maxBytes = maxBytes;
    this.#secrets = secrets;
    this.response = new ResponseCapture(maxBytes);
  }

  /** Those that were given, and what the headers send as a credential. */
  get secrets(): readonly string[] {
    const sent = Object.entries(this.#request?.headers ?? {}).filter(([name]) => isCredentialName(name));
    return [
      ...this.#secrets,
      ...sent.map(([, value]) => (value.startsWith('Bearer ') ? value.slice('Bearer '.length) : value)),
    ];
  }

  /** A request that follows a redirect is not kept, since its URL usually carries a signature; its response is. */
  sending(request: OutgoingRequest, sendable: Sendable): void {
    if (this.#request) return;
    this.#request = { ...request, headers: { ...request.headers } };
    this.#body = this.#bodyOf(request.body, sendable);
  }

  /** Makes its bytes its own, and shares those that are equal to the client's. Returns how many it holds. */
  own(client: ClientSide): number {
    if (this.#request) this.#request = { ...this.#request, body: null };
    const isAsClient = this.#body !== null && typeof client.body !== 'string' && isSame(this.#body, client.body);
    if (this.#body && typeof client.body !== 'string')
      this.#body = isAsClient ? client.body : ownBody(this.#body, this.#maxBytes);
    else if (this.#body) this.#body = ownBody(this.#body, 0);
    return this.response.own(client.response) + (isAsClient ? 0 : (this.#body?.start.length ?? 0));
  }

  captured(record: AttemptRecord, client: ClientSide, rules: CaptureRules): CapturedAttempt<Buffer> {
    const isSuccess = record.failure === null && record.error === null;
    const isAsClient = this.response.equals(client.response);
    return {
      request: this.#capturedRequest(client.body, rules),
      response: isAsClient ? this.response.unkept('as-client', rules) : this.response.captured(rules, isSuccess),
    };
  }

  #bodyOf(body: OutgoingRequest['body'], sendable: Sendable): RawBody | null {
    if (body === null) return { start: Buffer.alloc(0), totalBytes: 0 };
    if (Buffer.isBuffer(body)) return { start: body, totalBytes: body.length };
    if (!sendable.beginning) return null;
    return { start: sendable.beginning(this.#maxBytes + overlapBytes), totalBytes: sendable.length };
  }

  #capturedRequest(client: ClientSide['body'], rules: CaptureRules): CapturedRequest<Buffer> {
    if (this.#request === null) return { method: '', url: null, ...withoutBody(null, 'not-sent', rules) };
    const { method, origin, path, headers } = this.#request;
    const requestLine = { method, url: redactUrl(`${origin}${path}`, rules.secrets) };
    if (typeof client === 'string') return { ...requestLine, ...withoutBody(headers, client, rules) };
    if (this.#body === null) return { ...requestLine, ...withoutBody(headers, 'relayed', rules) };
    // Passed on as it came, while the client's was decoded to be kept.
    if (!isPlain(headers)) return { ...requestLine, ...withoutBody(headers, 'compressed', rules) };
    if (isSame(this.#body, client)) return { ...requestLine, ...withoutBody(headers, 'as-client', rules) };
    return { ...requestLine, ...capturedMessage(headers, this.#body, rules) };
  }
}

/** Compares the parts that are in memory. */
function isSame(one: RawBody, other: RawBody): boolean {
  const length = Math.min(one.start.length, other.start.length);
  if (length === 0 || lengthOf(one) !== lengthOf(other)) return false;
  return one.start.subarray(0, length).equals(other.start.subarray(0, length));
}

function lengthOf({ start, totalBytes }: RawBody): number {
  return totalBytes ?? start.length;
}

/** The head of a response and the first bytes of its body, as they pass. */
export class ResponseCapture {
  readonly #maxBytes: number;
  #body: BodyStart;
  #status: number | null = null;
  #headers: Headers | null = null;
  #isReadable = true;
  #hasEnded = false;
  #flow: FlowCount | null = null;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#body = new BodyStart(maxBytes);
  }

  /** `isDecoded`: the chunks will be uncompressed, whatever the headers say. */
  begin(status: number, headers: Headers, isDecoded = false): void {
    this.#status = status;
    this.#headers = headers;
    this.#isReadable = isDecoded || isPlain(headers);
    this.#hasEnded = false;
    this.#body = new BodyStart(this.#maxBytes);
    this.#flow = this.#isReadable && isEventStream(headers) ? new FlowCount() : null;
  }

  take(chunk: Buffer): void {
    if (this.#isReadable) this.#body.take(chunk);
    this.#flow?.take(chunk, performance.now());
  }

  end(): void {
    this.#hasEnded = true;
  }

  /** `mayEndEarly`: a response that was not read to its end is complete all the same. */
  captured(rules: CaptureRules, mayEndEarly: boolean): CapturedResponse<Buffer> {
    return { ...this.#head(), ...this.#message(rules, mayEndEarly) };
  }

  /** Without the body, for this reason. */
  unkept(gap: CaptureGap, rules: CaptureRules): CapturedResponse<Buffer> {
    return { ...this.#head(), ...withoutBody(this.#headers, gap, rules) };
  }

  /** Whether the kept bytes of both are equal. */
  equals(other: ResponseCapture): boolean {
    if (!this.#isReadable || !other.#isReadable || this.#body.bytes !== other.#body.bytes) return false;
    return this.#body.bytes > 0 && this.#body.kept.equals(other.#body.kept);
  }

  /** Makes its bytes its own, and shares those that are equal to the client's. Returns how many it holds. */
  own(client: ResponseCapture | null): number {
    if (client && this.equals(client)) {
      this.#body = client.#body;
      return 0;
    }
    this.#body.own();
    return this.#body.kept.length;
  }

  #head(): Pick<CapturedResponse<Buffer>, 'status' | 'flow'> {
    const flow = this.#flow?.flow;
    return { status: this.#status, ...(flow && { flow }) };
  }

  #message(rules: CaptureRules, mayEndEarly: boolean): CapturedMessage<Buffer> {
    if (this.#headers === null) return withoutBody(null, 'no-response', rules);
    if (!this.#isReadable) return withoutBody(this.#headers, 'compressed', rules);
    const isCut = !this.#hasEnded && !mayEndEarly;
    const raw = { start: this.#body.kept, totalBytes: this.#body.bytes, isCut };
    return capturedMessage(this.#headers, raw, rules);
  }
}

function isEventStream({ 'content-type': type }: Headers): boolean {
  return typeof type === 'string' && type.toLowerCase().startsWith('text/event-stream');
}

const shortestStepMs = 100;
/** Of a longer stream, the steps become longer. */
const mostSteps = 600;
const newLine = 10;
const carriageReturn = 13;

/** Counts the events of a stream by the time of their end, an empty line. */
export class FlowCount {
  #stepMs = shortestStepMs;
  #events: number[] = [];
  #beganMs: number | null = null;
  #isLineEmpty = false;

  take(chunk: Buffer, nowMs: number): void {
    this.#beganMs ??= nowMs;
    let ended = 0;
    for (const byte of chunk) {
      if (byte === newLine) {
        if (this.#isLineEmpty) ended++;
        this.#isLineEmpty = !this.#isLineEmpty;
      } else if (byte !== carriageReturn) this.#isLineEmpty = false;
    }
    if (ended === 0) return;
    let step = Math.floor((nowMs - this.#beganMs) / this.#stepMs);
    for (; step >= mostSteps; step = Math.floor(step / 2)) this.#widen();
    while (this.#events.length <= step) this.#events.push(0);
    this.#events[step] = (this.#events[step] ?? 0) + ended;
  }

  /** Undefined if all came within one step. */
  get flow(): EventFlow | undefined {
    return this.#events.length > 1 ? { stepMs: this.#stepMs, events: [...this.#events] } : undefined;
  }

  #widen(): void {
    const pairs = Array.from({ length: Math.ceil(this.#events.length / 2) }, (_, index) => index * 2);
    this.#events = pairs.map((at) => (this.#events[at] ?? 0) + (this.#events[at + 1] ?? 0));
    this.#stepMs *= 2;
  }
}

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
class BodyStart {
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
