/** An exchange as it is recorded: request and response in the form that is stored and compared, without secrets. */

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { LineEnds } from '../apis/core/sse-framing.ts';
import { Registry, servedApis } from '../apis/registry.ts';
import { isObject } from '../contract/is-object.ts';
import type { Usage } from '../contract/ledger.ts';
import type { StoredAnswer, StoredPiece } from '../exchange/answer/local-reply.ts';
import type { CassetteRequest, Recording } from '../exchange/cassette/cassette-companion.ts';
import { encodingsOf } from '../exchange/readers/whole-reader.ts';
import type { Headers } from '../exchange/record/response-taps.ts';
import { type Redactor, withoutRanges } from '../exchange/redact/redactor.ts';
import { boundedPattern } from '../ground/bounded-pattern.ts';
import { finish, finishInSlices, type Steps } from '../ground/promises.ts';
import {
  type FormPart,
  formatVersion,
  type RecordedBody,
  type RecordedEvent,
  type RecordedExchange,
  type RecordedRequest,
  type RecordedResponse,
  type ResponseBody,
} from './format.ts';

/** Larger answers are not recorded, because cassettes are read by people and stored with source code. */
export const maxRecordedBytes = 64 * 1024 * 1024;

interface RecordingOptions {
  incoming: Pick<CassetteRequest, 'id' | 'keepAlive'>;
  request: RecordedRequest;
  redactor: Redactor;
  /** On the scale of `performance.now()`. */
  startMs: number;
  /** Called once, with the reason if there is no exchange to store. */
  ended(exchange: Promise<RecordedExchange> | 'unanswered' | 'too-large'): void;
}

/** Collects the answer of one request as its client receives it. */
export class ExchangeRecording implements Recording {
  readonly #options: RecordingOptions;
  #head: { status: number; headers: Headers } | null = null;
  #pieces: StoredPiece[] = [];
  #bytes = 0;

  constructor(options: RecordingOptions) {
    this.#options = options;
  }

  begin(status: number, headers: Headers): void {
    this.#head = { status, headers };
  }

  take(bytes: Buffer): void {
    // Keep-alive comments are not recorded, because their timing depends on the machine.
    if (bytes === this.#options.incoming.keepAlive || bytes.length === 0) return;
    this.#bytes += bytes.length;
    if (this.#bytes > maxRecordedBytes) this.#pieces = [];
    else
      this.#pieces.push({ afterMs: Math.round(performance.now() - this.#options.startMs), bytes: Buffer.from(bytes) });
  }

  end(ending: RecordedResponse['ended'], usage: Usage | null): boolean {
    const { ended } = this.#options;
    if (!this.#head || this.#bytes > maxRecordedBytes) {
      ended(this.#head ? 'too-large' : 'unanswered');
      return false;
    }
    ended(this.#packed(this.#head, ending, usage));
    return true;
  }

  /** In slices, since secrets are sought in all of it. */
  async #packed(
    head: { status: number; headers: Headers },
    ended: RecordedResponse['ended'],
    usage: Usage | null,
  ): Promise<RecordedExchange> {
    const { request, redactor, incoming } = this.#options;
    const packed = packHead(head, incoming.id, redactor);
    const pieces = unpackPieces(this.#pieces, head.headers);
    const body = await finishInSlices(packBody(packed.headers['content-type'], pieces, redactor));
    return {
      version: formatVersion,
      request,
      response: { ...packed, ended, body },
      usage: usage && { ...usage },
    };
  }
}

const unpack = { gzip: gunzipSync, deflate: inflateSync, br: brotliDecompressSync };

/** Decompresses the body, so that people and the redactor can read it. A damaged body stays as it is. */
function unpackPieces(pieces: readonly StoredPiece[], headers: Headers): readonly StoredPiece[] {
  const encodings = encodingsOf(headers);
  const [first] = pieces;
  if (encodings.length === 0 || !first) return pieces;
  try {
    let bytes: Buffer = Buffer.concat(pieces.map((piece) => piece.bytes));
    for (const encoding of encodings.toReversed())
      bytes = unpack[encoding](bytes, { maxOutputLength: maxRecordedBytes });
    return [{ afterMs: first.afterMs, bytes }];
  } catch {
    return pieces;
  }
}

// The request of an exchange in the form that is stored and compared: without secrets, and without what only its
// transport needs.

/** Headers that may affect an answer. Those of Anthropic and OpenAI name versions and previews. */
const requestHeaders = ['content-type', 'accept', 'anthropic-version', 'anthropic-beta', 'openai-beta'];
const formType = boundedPattern(/^multipart\/form-data\b/i);

type Described = Pick<CassetteRequest, 'method' | 'url' | 'wire' | 'headers' | 'body'>;

/** Resolves with equal values for two forms that differ only in their boundaries. */
export async function describeRequest(incoming: Described, redactor: Redactor): Promise<RecordedRequest> {
  const { method, url, wire, headers, body } = incoming;
  const headerEntries = requestHeaders.flatMap((name): [string, string][] => {
    const value = headers[name];
    if (typeof value !== 'string') return [];
    return [[name, formType.test(value) ? 'multipart/form-data' : redactor.header(name, value)]];
  });
  return {
    method,
    path: redactor.url(url),
    wire,
    headers: Object.fromEntries(headerEntries),
    body: body === null || body.length === 0 ? null : await describeBody(body, headers['content-type'], redactor),
  };
}

async function describeBody(bytes: Buffer, contentType: string | undefined, redactor: Redactor): Promise<RecordedBody> {
  if (contentType !== undefined && formType.test(contentType)) {
    const parts = await readForm(bytes, contentType, redactor);
    if (parts) return { form: parts };
  }
  const json = parseShallowJson(bytes.toString());
  if (json !== undefined) return { json: redactor.json(json) };
  return { bytes: bytes.length, sha256: sha256(bytes) };
}

/** Null if the form is damaged. */
async function readForm(bytes: Buffer, contentType: string, redactor: Redactor): Promise<FormPart[] | null> {
  try {
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
    return await Promise.all([...form].map(([name, value]) => describePart(redactor.text(name), value, redactor)));
  } catch {
    return null;
  }
}

async function describePart(name: string, value: string | File, redactor: Redactor): Promise<FormPart> {
  if (typeof value === 'string') return { name, value: redactor.text(value) };
  const bytes = Buffer.from(await value.arrayBuffer());
  const file = { filename: redactor.text(value.name), contentType: value.type };
  return { name, ...file, bytes: bytes.length, sha256: sha256(bytes) };
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

// The response of an exchange in the form that is stored. The same bytes can be produced from it.

/** All other headers belong to one connection, account or moment, such as rate limits. */
const responseHeaders = new Set([
  'content-type',
  'content-disposition',
  'content-language',
  'content-range',
  'accept-ranges',
  'cache-control',
  'etag',
  'last-modified',
  'location',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-request-id',
  'request-id',
  'x-goog-upload-status',
]);

/** A recording that was written by hand may have them. They describe a connection's bytes, which are made anew. */
const transportHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const eventStreamType = boundedPattern(/^text\/event-stream\b/i);

type ResponseHead = Pick<RecordedResponse, 'status' | 'headers'>;

/** `requestId`: Sluice's own request id, which must not be repeated in later answers. */
function packHead(
  { status, headers }: { status: number; headers: Readonly<Record<string, string | readonly string[] | undefined>> },
  requestId: string,
  redactor: Redactor,
): ResponseHead {
  const headerEntries = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    responseHeaders.has(name) && typeof value === 'string' && value !== requestId
      ? [[name, redactor.header(name, value)]]
      : [],
  );
  return { status, headers: Object.fromEntries(headerEntries) };
}

function* packBody(
  contentType: string | undefined,
  pieces: readonly StoredPiece[],
  redactor: Redactor,
): Steps<ResponseBody | null> {
  if (pieces.length === 0) return null;
  const events = eventStreamType.test(contentType ?? '') ? yield* packEvents(pieces, redactor) : null;
  return events ? { events } : yield* packWhole(pieces, redactor);
}

/** The length is new, because removed secrets change it. */
export function unpackAnswer({ status, headers, ended, body }: RecordedResponse): StoredAnswer {
  const pieces = body === null ? [] : unpackBody(body);
  const isEvents = body !== null && 'events' in body;
  const bytes = pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
  const length =
    isEvents || ended === 'cut' || status === 204 || status === 304 ? {} : { 'content-length': String(bytes) };
  const sentHeaders = Object.entries(headers).filter(([name]) => !transportHeaders.has(name.toLowerCase()));
  return { status, headers: { ...Object.fromEntries(sentHeaders), ...length }, pieces, isCut: ended === 'cut' };
}

function unpackBody(body: ResponseBody): StoredPiece[] {
  if ('events' in body) return body.events.map((event) => ({ afterMs: event.afterMs, bytes: unpackEvent(event) }));
  const { afterMs } = body;
  if ('json' in body)
    return [{ afterMs, bytes: Buffer.from(JSON.stringify(body.json, null, body.indent) + (body.end ?? '')) }];
  return [{ afterMs, bytes: 'text' in body ? Buffer.from(body.text) : Buffer.from(body.base64, 'base64') }];
}

function* packWhole(pieces: readonly StoredPiece[], redactor: Redactor): Steps<ResponseBody> {
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
  const afterMs = pieces[0]?.afterMs ?? 0;
  const redacted = yield* redactor.bodyInSteps(bytes);
  if (!isUtf8(redacted)) return { base64: redacted.toString('base64'), afterMs };
  const text = redacted.toString();
  const json = packJson(text);
  return json ? { ...json, afterMs } : { text, afterMs };
}

interface PackedJson {
  json: unknown;
  indent?: number;
  end?: string;
}

/** Null if the text is not JSON, or is JSON that `JSON.stringify` would write differently. */
function packJson(text: string): PackedJson | null {
  const trimmed = text.trimEnd();
  const json = parseShallowJson(trimmed);
  if (json === undefined) return null;
  const indent = /^[[{]\n( {1,10})\S/.exec(trimmed)?.[1]?.length;
  const spelling = { ...(indent && { indent }), ...(trimmed !== text && { end: text.slice(trimmed.length) }) };
  return JSON.stringify(json, null, indent) === trimmed ? { json, ...spelling } : null;
}

// Server-sent events in the form in which a cassette stores them.

/** The event's text, including the empty line that ends it. */
interface TimedText {
  afterMs: number;
  text: string;
}

const jsonEvent = /^(?:event: ([^\n]*)\n)?data: ([^\n]*)\n\n$/;

/** Null if the stream is not UTF-8. */
function* packEvents(pieces: readonly StoredPiece[], redactor: Redactor): Steps<RecordedEvent[] | null> {
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
  if (!isUtf8(bytes)) return null;
  const events: RecordedEvent[] = [];
  for (const text of splitEvents(bytes, new PieceClock(pieces), yield* redactor.rangesIn(bytes))) {
    events.push(packEvent(text));
    yield;
  }
  return events;
}

function unpackEvent(event: RecordedEvent): Buffer {
  if ('text' in event) return Buffer.from(event.text);
  const head = event.event === undefined ? '' : `event: ${event.event}\n`;
  return Buffer.from(`${head}data: ${JSON.stringify(event.data)}\n\n`);
}

function packEvent({ afterMs, text }: TimedText): RecordedEvent {
  const [, event, json = ''] = jsonEvent.exec(text) ?? [];
  const data = parseShallowJson(json);
  if (data === undefined || JSON.stringify(data) !== json) return { afterMs, text };
  return { afterMs, ...(event !== undefined && { event }), data };
}

/** Without secrets, of which one may be spread over several events. The time of an event is that of its last piece. */
function* splitEvents(
  bytes: Buffer,
  clock: PieceClock,
  ranges: Parameters<typeof withoutRanges>[1],
): Generator<TimedText> {
  const lineEnds = new LineEnds(bytes);
  let next = 0;
  for (let from = 0, end = 0; from < bytes.length; from = end) {
    const found = lineEnds.endOfEvent(from, true);
    end = found === -1 ? bytes.length : found;
    const first = next;
    while ((ranges[next]?.start ?? end) < end) next++;
    const text = finish(withoutRanges(bytes.subarray(from, end), ranges.slice(first, next), from));
    yield { afterMs: clock.at(end), text: text.toString() };
  }
}

/** The time at which each byte was sent; must be queried in order. */
class PieceClock {
  readonly #pieces: readonly StoredPiece[];
  #index = -1;
  #endBytes = 0;

  constructor(pieces: readonly StoredPiece[]) {
    this.#pieces = pieces;
  }

  at(bytes: number): number {
    while (this.#endBytes < bytes) this.#endBytes += this.#pieces[++this.#index]?.bytes.length ?? bytes;
    return this.#pieces[this.#index]?.afterMs ?? 0;
  }
}

/** Deeper values would overflow the stack of recursive code; they are stored and compared as text or bytes. */
const maxDepth = 200;

/** Undefined if the text is not JSON or is nested too deeply. */
function parseShallowJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value, maxDepth) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((item) => isShallow(item, depth - 1));
}

/** The client's APIs. Cassettes are loaded only when they are used. */
const registry = new Registry(servedApis);

/** The model that a recorded request names: in its path, if its API has it there, or in its body; null if it names none. */
export function modelOf({ path, body }: RecordedRequest): string | null {
  const { model } = registry.locate(path);
  if (model !== null) return model;
  const name = body !== null && 'json' in body && isObject(body.json) ? body.json.model : inForm(body);
  return typeof name === 'string' ? name : null;
}

function inForm(body: RecordedRequest['body']): string | undefined {
  if (body === null || !('form' in body)) return undefined;
  const part = body.form.find(({ name }) => name === 'model');
  return part && 'value' in part ? part.value : undefined;
}
