/**
 * Changes one text field of a received upload in its bytes: part order, names, headers, boundary and files stay as the
 * client sent them. Finds delimiters by the same rules as the parser behind `multipart.ts`.
 */
import { GatewayError } from '../../contract/errors.ts';
import type { Sendable } from '../../exchange/sendable.ts';
import type { ByteRange } from '../json/json-scan.ts';
import { headerParameters } from './header-parameters.ts';
import type { MultipartBody } from './multipart.ts';
import type { Spool } from './spool.ts';

interface Delimiter {
  /** Offset of the line break that belongs to it; -2 where it opens the body and has none. */
  at: number;
  /** Of the part that follows; empty after the last delimiter. */
  headers: string;
  /** Where that part's value begins. */
  valueStart: number;
}

const lineBreak = '\r\n';
const headersEnd = '\r\n\r\n';
const maxHeaderBytes = 16 * 1024;
const tailBytes = 64 * 1024;

/**
 * The upload with `value` in the text field `name`: in place, in every occurrence; where there is none, in a new part
 * before all others, since some upstreams want the small fields before the files.
 */
export async function withField(body: MultipartBody, name: string, value: string): Promise<Sendable> {
  const ranges = await findField(body, name);
  if (ranges.length === 0) return withNewPart(body, name, value);
  const segments: (ByteRange | Buffer)[] = [];
  let at = 0;
  for (const { start, end } of ranges) {
    segments.push({ start: at, end: start }, Buffer.from(value));
    at = end;
  }
  return body.spool.assemble([...segments, { start: at, end: body.size }]);
}

/** Where the values of the text field `name` stand, in order. */
export async function findField(body: MultipartBody, name: string): Promise<ByteRange[]> {
  const expected = [body.fields[name] ?? []].flat().length;
  if (expected === 0) return [];
  // Clients put text before the files or after them: the end is looked at first, and the file's bytes are read only
  // if something is missing there. A delimiter is one wherever the search begins.
  const tail = await collect(body, name, { from: Math.max(0, body.size - tailBytes), expected });
  return tail.length === expected ? tail : collect(body, name, { from: 0, expected });
}

async function collect(body: MultipartBody, name: string, { from, expected }: { from: number; expected: number }) {
  const ranges: ByteRange[] = [];
  let start: number | undefined;
  for await (const delimiter of delimiters(body, from)) {
    if (start !== undefined) ranges.push({ start, end: delimiter.at });
    if (ranges.length === expected) break;
    start = isTextField(delimiter.headers, name) ? delimiter.valueStart : undefined;
  }
  return ranges;
}

async function withNewPart(body: MultipartBody, name: string, value: string): Promise<Sendable> {
  const { spool, boundary, size } = body;
  const part = `--${boundary}${lineBreak}Content-Disposition: form-data; name="${name}"${headersEnd}${value}${lineBreak}`;
  const start = await firstDelimiter(body);
  return spool.assemble([{ start: 0, end: start }, Buffer.from(part), { start, end: size }]);
}

/** Past a preamble, if there is one: text before the first delimiter would become part of the new field. */
async function firstDelimiter(body: MultipartBody): Promise<number> {
  for await (const { at } of delimiters(body, 0)) return at + lineBreak.length;
  throw new GatewayError('malformed_multipart', 'The multipart body has no part.');
}

function isTextField(headers: string, name: string): boolean {
  const disposition = /^content-disposition:[ \t]*(form-data[ \t]*;.*(?:\r\n[ \t].*)*)$/im.exec(headers)?.[1];
  const parameters = headerParameters(disposition?.replaceAll(lineBreak, '') ?? '');
  return parameters.get('name') === name && !parameters.get('filename') && !parameters.get('filename*');
}

/**
 * All delimiters from the offset `from` on. A window slides over the bytes; what may be the beginning of a delimiter, or
 * of headers that are not complete, is kept until the next chunk is there.
 */
async function* delimiters({ spool, boundary }: MultipartBody, from: number): AsyncGenerator<Delimiter> {
  const needle = Buffer.from(`${lineBreak}--${boundary}`, 'latin1');
  // The first delimiter of all needs no line break before it: pretend there is one.
  let window = Buffer.from(from === 0 ? lineBreak : '');
  let offset = from - window.length;
  for await (const chunk of chunksOf(spool, from)) {
    window = Buffer.concat([window, chunk]);
    let done = 0;
    let at = window.indexOf(needle);
    while (at !== -1) {
      const head = readHead(window, at + needle.length);
      if (!head) break;
      yield { at: offset + at, headers: head.headers, valueStart: offset + head.valueStart };
      if (head.isLast) return;
      done = head.valueStart;
      at = window.indexOf(needle, done);
    }
    const kept = at === -1 ? Math.max(done, window.length - needle.length + 1) : at;
    window = window.subarray(kept);
    offset += kept;
  }
}

interface PartHead {
  headers: string;
  valueStart: number;
  isLast: boolean;
}

/** What stands after a delimiter's boundary, at `from`; undefined while it is not all in the window. */
function readHead(window: Buffer, from: number): PartHead | undefined {
  if (window.length < from + 2) return undefined;
  const mark = window.toString('latin1', from, from + 2);
  // Anything else than a line break ends the part before it, as the last delimiter does, and begins none.
  if (mark !== lineBreak) return { headers: '', valueStart: from, isLast: mark === '--' };
  const end = window.indexOf(headersEnd, from);
  if (end !== -1) {
    const headers = window.toString('utf8', from + lineBreak.length, end);
    return { headers, valueStart: end + headersEnd.length, isLast: false };
  }
  if (window.length - from <= maxHeaderBytes) return undefined;
  throw new GatewayError('malformed_multipart', `The headers of a part are larger than ${maxHeaderBytes} bytes.`);
}

function chunksOf(spool: Spool, start: number): AsyncIterable<Buffer> | Iterable<Buffer> {
  const opened = spool.assemble([{ start, end: spool.size }]).open();
  return Buffer.isBuffer(opened) ? [opened] : opened;
}
