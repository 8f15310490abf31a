/** Recordings as an HTTP Archive (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/), which browsers and proxies read. */
import { version } from '../ground/version.ts';
import type { RecordedBody, RecordedExchange } from './format.ts';
import { unpackAnswer } from './recording.ts';

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

function listOf(headers: Readonly<Record<string, string | string[]>>): { name: string; value: string }[] {
  return Object.entries(headers).flatMap(([name, value]) => [value].flat().map((item) => ({ name, value: item })));
}

function postDataOf(body: RecordedBody): object {
  if ('json' in body) return { mimeType: 'application/json', text: JSON.stringify(body.json) };
  if (!('form' in body)) return { mimeType: 'application/octet-stream', text: '', comment: `SHA-256 ${body.sha256}` };
  const params = body.form.map((part) =>
    'value' in part
      ? part
      : { name: part.name, fileName: part.filename, contentType: part.contentType, comment: `SHA-256 ${part.sha256}` },
  );
  return { mimeType: 'multipart/form-data', params, text: '' };
}
