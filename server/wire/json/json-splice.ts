/**
 * Changes single values of a JSON body in its bytes, so that everything else (numbers, escapes, spacing, key order,
 * fields nobody here knows) reaches the upstream as the client wrote it. Works on what `json-peek.ts` found.
 */
import { JsonNames } from './json-names.ts';
import { type JsonField, type JsonPeek, peekJson } from './json-peek.ts';
import type { ByteRange } from './json-scan.ts';

/** Bytes `start` to `end` become `text`. */
export interface JsonEdit {
  start: number;
  end: number;
  text: string;
}

/** Asks the upstream to report usage at the end of a stream. */
const includeUsage = '"include_usage":true';
const optionNames = new JsonNames(['include_usage']);
/** Longer than any that is meant. */
const maxOptionsBytes = 64 * 1024;

/** The value of a field replaced; to be applied together with other edits of the same body. */
export function fieldEdit({ start, end }: ByteRange, value: string): JsonEdit {
  return { start, end, text: JSON.stringify(value) };
}

/**
 * What makes the body say `stream_options.include_usage: true`, one edit or none: none where the client has decided that
 * itself. `peek` must have looked for `stream_options`.
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
  if (!inner.ok) return []; // Not an object: the upstream's to refuse.
  const choice = inner.fields.get('include_usage');
  if (choice === undefined) return [insertion(options.start + inner.end, includeUsage, inner.empty)];
  if (!isNull(value, choice)) return [];
  return [{ start: options.start + choice.start, end: options.start + choice.end, text: 'true' }];
}

/** A member put right before the closing brace at `brace`. */
function insertion(brace: number, member: string, isFirst: boolean): JsonEdit {
  return { start: brace, end: brace, text: isFirst ? member : `,${member}` };
}

function isNull(body: Buffer, { start, end }: JsonField): boolean {
  return end - start === 4 && body.toString('latin1', start, end) === 'null';
}

/** The body with all the edits made, in pieces; they must not overlap, and their order does not matter. */
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
