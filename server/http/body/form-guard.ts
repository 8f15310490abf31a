/**
 * Refuses a form that other parsers may read differently, so that the upstream sees what Sluice has admitted. Checks
 * delimiters and part headers, not values.
 */

import { decidingField } from '../../apis/core/requests/deciding-fields.ts';
import type { ByteRange } from '../../apis/json/json-scan.ts';
import { GatewayError } from '../../contract/errors.ts';
import { headerParameters, isPlainCharset } from './content-headers.ts';

// Finds the delimiters of a multipart body by busboy's rules, and those that only other parsers accept.

export interface Delimiter {
  /** Offset of its leading line break; -2 if it begins the body without one. */
  at: number;
  /** `stray`: a boundary at the beginning of a line that lacks a line break or dashes of a delimiter. */
  kind: 'part' | 'last' | 'stray';
  /** The headers of the part that follows; empty after the last. */
  headers: string;
  /** Offset of that part's value; of the last delimiter, its end. */
  valueStart: number;
  /** From the boundary's dashes up to `valueStart`, in the memory of the chunk or in a copy. */
  bytes: Buffer;
}

export const lineBreak = '\r\n';
export const headersEnd = '\r\n\r\n';
const maxHeaderBytes = 16 * 1024;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const dash = 0x2d;
const nothing = Buffer.alloc(0);

/** Scans a body chunk by chunk; buffers only possible beginnings of delimiters and headers. */
export class DelimiterScan {
  readonly #needle: Buffer;
  #unscanned: Buffer = nothing;
  /** Offset of the first buffered byte, else of the next chunk. */
  #offset: number;
  /** The two bytes before it. */
  #bytesBefore: readonly [number, number];
  #hasFirst: boolean;
  #isOver = false;

  /** `from`: the offset of the first chunk in the body. */
  constructor(boundary: string, from: number) {
    this.#needle = Buffer.from(`--${boundary}`, 'latin1');
    this.#offset = from;
    this.#hasFirst = from > 0;
    // The very first delimiter needs no line break, so one is assumed before it.
    this.#bytesBefore = from === 0 ? [carriageReturn, lineFeed] : [0, 0];
  }

  /** The delimiters completed by this chunk; none after the final one. */
  push(chunk: Buffer): Delimiter[] {
    const delimiters: Delimiter[] = [];
    if (this.#isOver) return delimiters;
    const window = this.#unscanned.length > 0 ? Buffer.concat([this.#unscanned, chunk]) : chunk;
    let searchedTo = 0;
    let at = window.indexOf(this.#needle);
    while (at !== -1) {
      const delimiter = this.#read(window, at);
      if (delimiter === 'incomplete') break;
      searchedTo = at + this.#needle.length;
      if (delimiter) {
        delimiters.push(delimiter);
        searchedTo = delimiter.valueStart - this.#offset;
        this.#hasFirst = true;
        this.#isOver = delimiter.kind === 'last';
      }
      at = this.#isOver ? -1 : window.indexOf(this.#needle, searchedTo);
    }
    this.#hold(window, at === -1 ? this.#beginningFrom(window, searchedTo) : at);
    return delimiters;
  }

  /** The delimiter at the boundary found at `at`; null if no parser takes it for one. */
  #read(window: Buffer, at: number): Delimiter | 'incomplete' | null {
    const from = at + this.#needle.length;
    const [first, second] = [this.#byteAt(window, at - 2), this.#byteAt(window, at - 1)];
    const isAfterBreak = first === carriageReturn && second === lineFeed;
    // Go's mime/multipart accepts bare line feeds (`Reader.nl`); Werkzeug finds the first boundary anywhere, even within
    // a line (compared in Kludex/python-multipart#262).
    const isAnyBreak = second === lineFeed || second === carriageReturn || !this.#hasFirst;
    if (!isAnyBreak) return null;
    if (window.length < from + 2) return 'incomplete';
    const mark = window.toString('latin1', from, from + 2);
    const until = (end: number) => ({
      at: this.#offset + at - lineBreak.length,
      valueStart: this.#offset + end,
      bytes: window.subarray(at, end),
    });
    const isLast = mark === '--';
    if (!isAfterBreak || (mark !== lineBreak && !isLast)) return { kind: 'stray', headers: '', ...until(from) };
    if (isLast) return { kind: 'last', headers: '', ...until(from + mark.length) };
    const end = window.indexOf(headersEnd, from);
    if (end !== -1) {
      const headers = window.toString('utf8', from + lineBreak.length, end);
      return { kind: 'part', headers, ...until(end + headersEnd.length) };
    }
    if (window.length - from <= maxHeaderBytes) return 'incomplete';
    throw new GatewayError('malformed_multipart', `The headers of a part are larger than ${maxHeaderBytes} bytes.`);
  }

  /** The offset of a possible truncated boundary at the end of the window; the window's end if there is none. */
  #beginningFrom(window: Buffer, from: number): number {
    const needle = this.#needle;
    let at = window.indexOf(dash, Math.max(from, window.length - needle.length + 1));
    while (at !== -1 && !window.subarray(at).equals(needle.subarray(0, window.length - at))) {
      at = window.indexOf(dash, at + 1);
    }
    return at === -1 ? window.length : at;
  }

  #hold(window: Buffer, from: number): void {
    this.#bytesBefore = [this.#byteAt(window, from - 2), this.#byteAt(window, from - 1)];
    // Copied, since the chunk's memory is freed by its last reader.
    this.#unscanned = from < window.length ? Buffer.from(window.subarray(from)) : nothing;
    this.#offset += from;
  }

  #byteAt(window: Buffer, index: number): number {
    return window[index] ?? this.#bytesBefore[index + 2] ?? 0;
  }
}

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const plainEncodings = new Set(['7bit', '8bit', 'binary']);
/** The length to which names are truncated in errors. */
const maxShownLength = 100;

interface PartHeaders {
  /** By name in lower case. */
  lines: Map<string, string>;
  /** The parameters of Content-Disposition. */
  disposition: Map<string, string>;
}

export interface FileRange extends ByteRange {
  name: string;
}

interface ExpectedPart {
  name: string;
  /** The parser does not see its content, so it must treat the part as a file, too. */
  isFile: boolean;
}

const lineBreakBytes = Buffer.from(lineBreak);

export class FormGuard {
  readonly #scan: DelimiterScan;
  readonly #decided = new Set<string>();
  /** Parts that the parser has not reported yet. */
  readonly #expected: ExpectedPart[] = [];
  /** Where the content of files is in the body, by the names of their fields. */
  readonly files: FileRange[] = [];
  #takenBytes = 0;
  #isInFile = false;
  /** Of the last part; the very first delimiter may lack its line break. */
  #valueStart = -lineBreak.length;

  constructor(boundary: string) {
    this.#scan = new DelimiterScan(boundary, 0);
  }

  /**
   * Takes the next chunk of the form. Returns the bytes for the parser, some of which share the chunk's memory:
   * everything except the content of files, which the parser would only search again for delimiters. Throws a
   * GatewayError.
   */
  take(chunk: Buffer): readonly Buffer[] {
    const chunkStart = this.#takenBytes;
    this.#takenBytes += chunk.length;
    const parserChunks: Buffer[] = [];
    let from = 0;
    for (const delimiter of this.#scan.push(chunk)) {
      const valueStart = delimiter.valueStart - chunkStart;
      // The parser lacks the delimiter that ends a file, which may have begun in an earlier chunk.
      if (this.#isInFile) parserChunks.push(lineBreakBytes, delimiter.bytes);
      else parserChunks.push(chunk.subarray(from, valueStart));
      from = valueStart;
      this.#check(delimiter);
    }
    if (!this.#isInFile && from < chunk.length) parserChunks.push(chunk.subarray(from));
    return parserChunks;
  }

  /** Whether the next part that the parser reports matches the next one found here. */
  agrees(name: string | undefined, isFile: boolean): boolean {
    const expected = this.#expected.shift();
    return expected !== undefined && expected.name === name && (isFile || !expected.isFile);
  }

  /** Whether the parser has reported all parts found here. */
  get isThrough(): boolean {
    return this.#expected.length === 0;
  }

  #check({ at, kind, headers, valueStart }: Delimiter): void {
    if (kind === 'stray') throw ambiguousForm('its boundary stands where no part begins or ends');
    if (at < this.#valueStart) throw ambiguousForm('a part has no value, not even an empty one');
    this.#valueStart = valueStart;
    const file = this.#isInFile ? this.files.at(-1) : undefined;
    if (file) file.end = at;
    this.#isInFile = false;
    if (kind === 'part') this.#checkPart(readHeaders(headers));
  }

  #checkPart(lines: Map<string, string>): void {
    const disposition = lines.get('content-disposition') ?? '';
    if (!/^form-data[ \t]*(?:;|$)/i.test(disposition)) throw ambiguousForm('a part is not called form-data');
    const { values, rest } = uniqueParameters(disposition);
    refuseExtendedName(values);
    const name = values.get('name') ?? '';
    const field = decidingField(name);
    // The npm package form-data escapes quotes in file names only since 4.0.6. The parser skips such a part.
    if (rest === '') {
      this.#isInFile = isFile(values);
      this.#expected.push({ name, isFile: this.#isInFile });
      if (this.#isInFile) this.files.push({ name, start: this.#valueStart, end: this.#valueStart });
    } else if (field !== null || !isFilename(values, rest)) {
      throw ambiguousForm('the Content-Disposition of a part is malformed');
    }
    if (field !== null) this.#checkDeciding(field, name, { lines, disposition: values });
  }

  #checkDeciding(field: string, name: string, { lines, disposition }: PartHeaders): void {
    const refusal = (message: string) => new GatewayError('invalid_value', message, { param: field });
    if (name !== field) throw refusal(`The form field '${field}' must be called just that, not "${shortened(name)}".`);
    if (this.#decided.has(field)) throw refusal(`The form names '${field}' twice. Send it once.`);
    this.#decided.add(field);
    if (disposition.has('filename') || disposition.has('filename*')) {
      throw refusal(`The form field '${field}' was sent as a file. Send it as plain text, without a file name.`);
    }
    if (!hasPlainText(lines)) {
      throw refusal(`The form field '${field}' is encoded. Send it as plain text in UTF-8.`);
    }
  }
}

export function ambiguousForm(reason: string): GatewayError {
  return new GatewayError('malformed_multipart', `The form can be read in more than one way: ${reason}.`);
}

/** A part for which no parser waits. Throws a GatewayError for headers that parsers may read differently. */
export function readPart(headers: string): { name: string; isEncoded: boolean } {
  if (headers === '') return { name: '', isEncoded: false };
  const lines = readHeaders(headers);
  const { values } = uniqueParameters(lines.get('content-disposition') ?? '');
  refuseExtendedName(values);
  return { name: values.get('name') ?? '', isEncoded: !hasPlainText(lines) };
}

function refuseExtendedName(disposition: Map<string, string>): void {
  const extended = [...disposition.keys()].find((name) => name.startsWith('name*'));
  if (extended !== undefined) throw ambiguousForm(`a part gives its name as "${shortened(extended)}"`);
}

function hasPlainText(lines: Map<string, string>): boolean {
  const encoding = lines.get('content-transfer-encoding')?.trim().toLowerCase() ?? '7bit';
  const charset = uniqueParameters(lines.get('content-type') ?? '').values.get('charset') ?? 'utf-8';
  return plainEncodings.has(encoding) && isPlainCharset(charset);
}

function readHeaders(block: string): Map<string, string> {
  const lines = new Map<string, string>();
  let name = '';
  for (const line of block.split(lineBreak)) {
    const isContinued = name !== '' && (line.startsWith(' ') || line.startsWith('\t'));
    if (isContinued) {
      lines.set(name, (lines.get(name) ?? '') + line);
      continue;
    }
    const colon = line.indexOf(':');
    name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (!headerName.test(name)) throw ambiguousForm('a part has malformed headers');
    if (name.startsWith('content-') && lines.has(name)) throw ambiguousForm(`a part has two headers ${name}`);
    lines.set(name, line.slice(colon + 1).trim());
  }
  return lines;
}

/** Whether every parser treats the part as a file: its name neither ends like a folder's nor is in extended form. */
function isFile(disposition: Map<string, string>): boolean {
  const lastCharacter = disposition.get('filename')?.at(-1);
  return lastCharacter !== undefined && !'./\\'.includes(lastCharacter) && !disposition.has('filename*');
}

/** Whether the malformed rest can only be a file name. */
function isFilename(values: Map<string, string>, rest: string): boolean {
  const last = [...values.keys()].at(-1) ?? '';
  const isWithin = /^filename\*?$/.test(last) || /^;[ \t]*filename\*?=/i.test(rest);
  return isWithin && values.has('name') && !/(?<!file)name[\s\d*]*=/i.test(rest);
}

function uniqueParameters(header: string): ReturnType<typeof headerParameters> {
  const parameters = headerParameters(header);
  if (parameters.repeated !== null) throw ambiguousForm(`a part names "${shortened(parameters.repeated)}" twice`);
  return parameters;
}

function shortened(name: string): string {
  return name.slice(0, maxShownLength);
}
