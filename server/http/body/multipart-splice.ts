/**
 * Replaces one text field in the bytes of an upload; part order, names, headers, boundary and files stay as the client sent
 * them. Delimiters are found by the same rules as in `multipart.ts`.
 */

import type { ByteRange } from '../../apis/json/json-scan.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Sendable } from '../../exchange/request/request-body.ts';
import { headerParameters } from './check-content-type.ts';
import type { MultipartBody } from './multipart.ts';
import { type Delimiter, DelimiterScan, headersEnd, lineBreak } from './part-delimiters.ts';
import type { Spool } from './spool.ts';

const tailBytes = 64 * 1024;

/**
 * The upload with `value` in every occurrence of the text field `name`, or in a new first part if there is none:
 * servers that stream files, such as those with multer, see only the fields before a file.
 */
export async function withField(
  body: MultipartBody,
  name: string,
  value: string,
): Promise<Sendable & { length: number }> {
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

/** The ranges of the text field's values, in order. */
export async function findField(body: MultipartBody, name: string): Promise<ByteRange[]> {
  const expected = [body.fields[name] ?? []].flat().length;
  if (expected === 0) return [];
  // Searches the end first: fields are before or after the files, and so the file itself need not be read if all are found
  // there.
  const tail = await collect(body, name, { from: Math.max(0, body.size - tailBytes), expected });
  return tail.length === expected ? tail : collect(body, name, { from: 0, expected });
}

async function collect(body: MultipartBody, name: string, { from, expected }: { from: number; expected: number }) {
  const ranges: ByteRange[] = [];
  let start: number | undefined;
  for await (const delimiter of delimiters(body, from)) {
    if (delimiter.kind === 'stray') continue;
    if (start !== undefined) ranges.push({ start, end: delimiter.at });
    if (ranges.length === expected) break;
    start = isTextField(delimiter.headers, name) ? delimiter.valueStart : undefined;
  }
  return ranges;
}

async function withNewPart(body: MultipartBody, name: string, value: string): Promise<Sendable & { length: number }> {
  const { spool, boundary, size } = body;
  const part = `--${boundary}${lineBreak}Content-Disposition: form-data; name="${name}"${headersEnd}${value}${lineBreak}`;
  const start = await firstDelimiter(body);
  return spool.assemble([{ start: 0, end: start }, Buffer.from(part), { start, end: size }]);
}

/** The first delimiter, after a preamble if there is one, which must not become part of the new field. */
async function firstDelimiter(body: MultipartBody): Promise<number> {
  for await (const { at, kind } of delimiters(body, 0)) if (kind !== 'stray') return at + lineBreak.length;
  throw new GatewayError('malformed_multipart', 'The multipart body has no part.');
}

function isTextField(headers: string, name: string): boolean {
  const disposition = /^content-disposition:[ \t]*(form-data[ \t]*;.*(?:\r\n[ \t].*)*)$/im.exec(headers)?.[1];
  const { values } = headerParameters(disposition?.replaceAll(lineBreak, '') ?? '');
  return values.get('name') === name && !values.get('filename') && !values.get('filename*');
}

/** All delimiters from offset `from` on. */
async function* delimiters({ spool, boundary }: MultipartBody, from: number): AsyncGenerator<Delimiter> {
  const scan = new DelimiterScan(boundary, from);
  for await (const chunk of chunksOf(spool, from)) {
    for (const delimiter of scan.push(chunk)) {
      yield delimiter;
      if (delimiter.kind === 'last') return;
    }
  }
}

function chunksOf(spool: Spool, start: number): AsyncIterable<Buffer> | Iterable<Buffer> {
  const content = spool.assemble([{ start, end: spool.size }]).open();
  return Buffer.isBuffer(content) ? [content] : content;
}
