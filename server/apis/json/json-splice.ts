/**
 * Changes single values of a JSON body in place, so that everything else (numbers, escapes, spacing, key order, unknown
 * fields) reaches the upstream as the client wrote it. Works on the results of `json-peek.ts`.
 */

import { yieldToEventLoop } from '../../ground/promises.ts';
import { JsonNames } from './json-names.ts';
import { type JsonField, type JsonPeek, peekJson } from './json-peek.ts';
import type { ByteRange } from './json-scan.ts';

/** Replaces bytes `start` to `end` with `text`. */
export interface JsonEdit {
  start: number;
  end: number;
  text: string;
}

/** Asks the upstream to report usage at the end of a stream. */
const includeUsage = '"include_usage":true';
const optionNames = new JsonNames(['include_usage']);
/** Far longer than any real `stream_options`. */
const maxOptionsBytes = 64 * 1024;

/** Replaces the value of a field; may be combined with other edits of the same body. */
export function fieldEdit({ start, end }: ByteRange, value: string): JsonEdit {
  return { start, end, text: JSON.stringify(value) };
}

/**
 * Edits that set `stream_options.include_usage: true`: one, or none if the client has set it itself. `peek` must include
 * `stream_options`.
 */
export function usageEdits(body: Buffer, peek: JsonPeek): JsonEdit[] {
  if (!peek.ok) return [];
  const options = peek.fields.get('stream_options');
  if (options === undefined) {
    return [insertion(peek.end, `"stream_options":{${includeUsage}}`, peek.empty)];
  }
  if (isNull(body, options)) return [{ start: options.start, end: options.end, text: `{${includeUsage}}` }];
  return optionEdits(body, options);
}

function optionEdits(body: Buffer, options: JsonField): JsonEdit[] {
  if (options.end - options.start > maxOptionsBytes) return [];
  const value = body.subarray(options.start, options.end);
  const inner = peekJson(value, optionNames);
  if (!inner.ok) return []; // Not an object; the upstream will reject it.
  const choice = inner.fields.get('include_usage');
  if (choice === undefined) return [insertion(options.start + inner.end, includeUsage, inner.empty)];
  if (!isNull(value, choice)) return [];
  return [{ start: options.start + choice.start, end: options.start + choice.end, text: 'true' }];
}

/** Inserts a member before the closing brace at `brace`. */
function insertion(brace: number, member: string, isFirst: boolean): JsonEdit {
  return { start: brace, end: brace, text: isFirst ? member : `,${member}` };
}

function isNull(body: Buffer, { start, end }: JsonField): boolean {
  return end - start === 4 && body.toString('latin1', start, end) === 'null';
}

/** The edited body in pieces. Edits must not overlap; their order does not matter. */
export function piecesOf(body: Buffer, edits: readonly JsonEdit[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { start, end, text } of edits.toSorted((one, other) => one.start - other.start)) {
    pieces.push(body.subarray(at, start), Buffer.from(text));
    at = end;
  }
  pieces.push(body.subarray(at));
  return pieces;
}

/** Copying this much takes at most a few milliseconds. */
const atOnceBytes = 4 * 1024 * 1024;

/** Concatenates the pieces. Long ones are copied in slices, with a turn of the event loop between them. */
export async function joinBytes(pieces: readonly Buffer[]): Promise<Buffer> {
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  const whole = Buffer.allocUnsafe(size);
  let at = 0;
  let restBytes = atOnceBytes;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      const count = piece.copy(whole, at, from, from + restBytes);
      at += count;
      from += count;
      restBytes -= count;
      if (restBytes === 0) await yieldToEventLoop();
      restBytes ||= atOnceBytes;
    }
  }
  return whole;
}
