/** The response of an exchange in the form that is stored. The same bytes can be produced from it. */

import { isUtf8 } from 'node:buffer';
import type { StoredAnswer, StoredPiece } from '../exchange/answer/local-reply.ts';
import type { Redactor } from '../exchange/redact/redactor.ts';
import { boundedPattern } from '../ground/bounded-pattern.ts';
import type { Steps } from '../ground/promises.ts';
import { packEvents, unpackEvent } from './events.ts';
import type { RecordedResponse, ResponseBody } from './format.ts';
import { parseShallowJson } from './parse-shallow-json.ts';

/** All other headers belong to one connection, account or moment, such as rate limits. */
const keptHeaders = new Set([
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
export function packHead(
  { status, headers }: { status: number; headers: Readonly<Record<string, string | readonly string[] | undefined>> },
  requestId: string,
  redactor: Redactor,
): ResponseHead {
  const headerEntries = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    keptHeaders.has(name) && typeof value === 'string' && value !== requestId
      ? [[name, redactor.header(name, value)]]
      : [],
  );
  return { status, headers: Object.fromEntries(headerEntries) };
}

export function* packBody(
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
