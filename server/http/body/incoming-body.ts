/**
 * Request bodies: the fields that routing needs, and the bytes to send, which differ from the client's only in the
 * model name.
 */
import type { Recording } from '../../apis/core/recordings/recording-length.ts';
import { readStreamFlag } from '../../apis/core/requests/deciding-fields.ts';
import type { ByteRange } from '../../apis/json/json-scan.ts';
import { requestFields } from '../../apis/registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import type {
  BodyChanges,
  PreparedBody,
  RequestBody,
  RequestFields,
  Sendable,
} from '../../exchange/request/request-body.ts';
import { headerParameters } from './content-headers.ts';
import { type Delimiter, DelimiterScan, headersEnd, lineBreak } from './form-guard.ts';
import type { MultipartBody } from './multipart.ts';
import { idsInFields } from './search-form.ts';
import type { Spool } from './spool.ts';

/** The fields that each request is routed by, whatever its wire. */
const routingFields = ['model', 'stream', 'stream_options', 'previous_response_id', 'store'] as const;

/**
 * All fields that Sluice reads from a JSON body, in a single pass: its own, and those that the wires declare. Since they
 * decide routing and price, they must be written in a way that all JSON parsers read alike.
 */
export const collectedFields: readonly string[] = [...new Set([...routingFields, ...requestFields])];

export class FormBody implements RequestBody {
  readonly fields: RequestFields;
  readonly captured = null;
  readonly recording: Recording | null;
  readonly #form: MultipartBody;

  constructor(form: MultipartBody, recording: Recording | null = null) {
    this.#form = form;
    this.recording = recording;
    this.fields = {
      model: this.#text('model') || null,
      stream: readStreamFlag(this.#text('stream')) === true,
      previousResponseId: null,
      store: true,
    };
  }

  get size(): number {
    return this.#form.size;
  }

  get contentType(): string {
    return this.#form.contentType;
  }

  field(name: string): unknown {
    return this.#text(name);
  }

  raw(): null {
    return null;
  }

  get referencedIds(): readonly string[] {
    return idsInFields(this.#form.fields);
  }

  async sendable({ model }: BodyChanges): Promise<PreparedBody> {
    const isChanged = model !== null && model !== this.fields.model;
    const body = isChanged ? await withField(this.#form, 'model', model) : this.#form.spool.whole();
    return { length: body.length, open: () => body.open(), usageAsked: false };
  }

  dispose(): void {
    this.#form.spool.dispose();
  }

  #text(name: string): string | undefined {
    const value = this.#form.fields[name];
    return Array.isArray(value) ? value.at(-1) : value;
  }
}

/** For routes without a body. */
export const emptyBody: RequestBody = {
  fields: { model: null, stream: false, previousResponseId: null, store: true },
  size: 0,
  contentType: '',
  captured: null,
  field: () => undefined,
  raw: () => null,
  sendable: () => ({ length: 0, open: () => Buffer.alloc(0), usageAsked: false }),
  dispose() {},
};

// Replaces one text field in the bytes of an upload; part order, names, headers, boundary and files stay as the
// client sent them. Delimiters are found by the same rules as in `multipart.ts`.

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
