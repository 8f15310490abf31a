/** Reads a spooled form into memory, for upstreams whose API takes files within JSON. */
import { GatewayError } from '../../contract/errors.ts';
import type { FormValue, UploadedFile } from '../../wire/uploaded-file.ts';
import { headerParameters } from './header-parameters.ts';
import type { MultipartBody } from './multipart.ts';
import { delimiters } from './multipart-splice.ts';
import { lineBreak } from './part-delimiters.ts';

/** Google, "Audio understanding": a request with its files has at most 20 MB. */
const maxBytes = 20_000_000;

/** @throws GatewayError `too_large` */
export async function formValue(body: MultipartBody): Promise<FormValue> {
  if (body.size > maxBytes) {
    throw new GatewayError('too_large', `This provider takes files of up to ${maxBytes / 1e6} MB in all.`);
  }
  const value: FormValue = Object.create(null);
  for (const [name, text] of Object.entries(body.fields)) {
    const last = Array.isArray(text) ? text.at(-1) : text;
    if (last !== undefined) value[plainName(name)] = last;
  }
  for (const { field, file } of await filesIn(body)) {
    const earlier = value[plainName(field)];
    value[plainName(field)] = Array.isArray(earlier) ? [...earlier, file] : [file];
  }
  return value;
}

const plainName = (name: string) => (name.endsWith('[]') ? name.slice(0, -2) : name);

async function filesIn(body: MultipartBody): Promise<{ field: string; file: UploadedFile }[]> {
  const bytes = await wholeOf(body);
  const files: { field: string; file: UploadedFile }[] = [];
  let openFile: { field: string; name: string; mediaType: string; start: number } | null = null;
  for await (const { at, kind, headers, valueStart } of delimiters(body, 0)) {
    if (kind === 'stray') continue;
    if (openFile !== null) {
      const { field, start, ...file } = openFile;
      files.push({ field, file: { ...file, data: bytes.subarray(start, at) } });
    }
    openFile = fileOf(headers, valueStart);
  }
  return files;
}

/** Null for a part that is no file. */
function fileOf(headers: string, start: number) {
  const { values } = headerParameters(headerOf(headers, 'content-disposition'));
  const name = values.get('filename*') ?? values.get('filename');
  const mediaType = headerOf(headers, 'content-type').split(';')[0]?.trim() ?? '';
  return name === undefined ? null : { field: values.get('name') ?? '', name, mediaType, start };
}

function headerOf(headers: string, name: string): string {
  const line = headers.split(lineBreak).find((each) => each.toLowerCase().startsWith(`${name}:`));
  return line === undefined ? '' : line.slice(name.length + 1).trim();
}

async function wholeOf({ spool }: MultipartBody): Promise<Buffer> {
  const content = spool.whole().open();
  if (Buffer.isBuffer(content)) return content;
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}
