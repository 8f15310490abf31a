/** Recordings whose headers were written by hand, or by another program. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RecordedResponse } from '../../../server/cassettes/format.ts';
import { ask, CassetteSuite, hello } from '../../support/cassette-suite.ts';
import { completion, streamOf } from '../../support/strict-chat.ts';
import { eventStream, json } from '../../support/upstream.ts';

const suite = new CassetteSuite().use();

/** Records one answer, and adds the headers to it. */
async function recordWith(headers: Record<string, string>, stream: boolean): Promise<string> {
  suite.upstream.answer((_request, response) => {
    if (!stream) return json(response, completion({ content: 'Hello' }));
    eventStream(response);
    response.end(streamOf([{ content: 'Hello' }]));
  });
  const recorded = await suite.open('record');
  const { text } = await ask(recorded.gateway, { ...hello, stream });
  await recorded.cassette.close();
  const [[name, exchange] = ['', null]] = suite.recordings();
  const response: RecordedResponse | undefined = exchange?.response;
  const changed = { ...exchange, response: { ...response, headers: { ...response?.headers, ...headers } } };
  writeFileSync(join(suite.folder, name), JSON.stringify(changed));
  return text;
}

test.each([
  { name: 'x-note', value: 'a\r\nset-cookie: b=c' },
  { name: 'x-note', value: 'a\nb' },
  { name: 'x-note', value: 'a\0b' },
  { name: 'x-note', value: '模型' },
  { name: 'x note', value: 'a' },
  { name: 'x-note\r\nx', value: 'a' },
  { name: '', value: 'a' },
  { name: '名', value: 'a' },
])('a header that cannot be sent ($name, $value) is told with its file when the cassette is opened', async (header) => {
  await recordWith({ [header.name]: header.value }, false);
  await expect(suite.open('replay')).rejects.toThrow(/0001-.*\.json cannot be used: response\.headers/);
});

test.each([true, false])('headers of a connection that is gone do not break an answer (stream: %s)', async (stream) => {
  const text = await recordWith(
    {
      'Content-Length': '3',
      'transfer-encoding': 'gzip',
      connection: 'upgrade',
      upgrade: 'h2c',
      'content-encoding': 'gzip',
      trailer: 'x-end',
      'x-note': 'caf\u00e9',
    },
    stream,
  );
  const { gateway } = await suite.open('replay');
  const { response, text: replayed } = await ask(gateway, { ...hello, stream });
  expect([response.status, replayed]).toEqual([200, text]);
});
