/**
 * HTTP Archives (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/), which browsers and proxies read and write.
 */
import { z } from 'zod';
import { version } from '../version.ts';
import type { RecordedExchange, RequestBody } from './format.ts';
import { unpackAnswer } from './response-part.ts';

const headerSchema = z.object({ name: z.string(), value: z.string() });

/** The parts of an archive that are read. */
export const harSchema = z.object({
  log: z.object({
    entries: z.array(
      z.object({
        request: z.object({
          method: z.string().min(1),
          url: z.url(),
          headers: z.array(headerSchema),
          postData: z.object({ mimeType: z.string(), text: z.string().default('') }).optional(),
        }),
        response: z.object({
          status: z.int(),
          headers: z.array(headerSchema),
          content: z.object({
            size: z.number().default(0),
            text: z.string().default(''),
            encoding: z.string().optional(),
          }),
        }),
        timings: z.object({ wait: z.number() }).optional(),
      }),
    ),
  }),
});

export type Har = z.infer<typeof harSchema>;
export type HarEntry = Har['log']['entries'][number];

interface Dated {
  exchange: RecordedExchange;
  /** The time of the recording. */
  date: Date;
}

/** A placeholder host, because a cassette does not record where its requests went. */
const origin = 'http://127.0.0.1';

export function toHar(exchanges: readonly Dated[]): object {
  const creator = { name: 'Sluice', version };
  return { log: { version: '1.2', creator, entries: exchanges.map(entryOf) } };
}

function entryOf({ exchange: { request, response }, date }: Dated): object {
  const { status, headers, pieces } = unpackAnswer(response);
  const [first, last] = [pieces[0]?.afterMs ?? 0, pieces.at(-1)?.afterMs ?? 0];
  const content = Buffer.concat(pieces.map(({ bytes }) => bytes));
  const text = content.toString();
  const isText = Buffer.from(text).equals(content);
  const mimeType = response.headers['content-type'] ?? 'application/octet-stream';
  const url = new URL(request.path, origin);
  const unknown = { httpVersion: 'HTTP/1.1', cookies: [], headersSize: -1 };
  return {
    startedDateTime: date.toISOString(),
    time: last,
    request: {
      ...unknown,
      method: request.method,
      url: url.href,
      headers: listOf(request.headers),
      queryString: [...url.searchParams].map(([name, value]) => ({ name, value })),
      bodySize: -1,
      ...(request.body && { postData: postDataOf(request.body) }),
    },
    response: {
      ...unknown,
      status,
      statusText: '',
      headers: listOf(headers),
      content: {
        size: content.length,
        mimeType,
        ...(isText ? { text } : { text: content.toString('base64'), encoding: 'base64' }),
      },
      redirectURL: '',
      bodySize: content.length,
    },
    cache: {},
    timings: { send: 0, wait: first, receive: last - first },
  };
}

function listOf(headers: Readonly<Record<string, string | string[]>>): z.infer<typeof headerSchema>[] {
  return Object.entries(headers).flatMap(([name, value]) => [value].flat().map((item) => ({ name, value: item })));
}

function postDataOf(body: RequestBody): object {
  if ('json' in body) return { mimeType: 'application/json', text: JSON.stringify(body.json) };
  if (!('form' in body)) return { mimeType: 'application/octet-stream', text: '', comment: `SHA-256 ${body.sha256}` };
  const params = body.form.map((part) =>
    'value' in part
      ? part
      : { name: part.name, fileName: part.filename, contentType: part.contentType, comment: `SHA-256 ${part.sha256}` },
  );
  return { mimeType: 'multipart/form-data', params, text: '' };
}
