/** Conversion of cassettes to and from HTTP Archives. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { RecordedExchange } from '../../../server/cassettes/format.ts';
import { formatExchange } from '../../../server/cassettes/layout.ts';
import { runVerb } from '../cli/run-cli.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-har-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const chat: RecordedExchange = {
  version: 1,
  request: {
    method: 'POST',
    path: '/v1/chat/completions?beta=1',
    wire: 'openai-chat',
    headers: { 'content-type': 'application/json' },
    body: { json: { model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }] } },
  },
  response: {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    ended: 'complete',
    body: {
      events: [
        { afterMs: 20, data: { choices: [] } },
        { afterMs: 20, text: 'data: [DONE]\n\n' },
      ],
    },
  },
  usage: null,
};
const speech: RecordedExchange = {
  version: 1,
  request: {
    ...chat.request,
    path: '/v1/audio/speech',
    wire: 'openai-speech',
    body: { json: { model: 'tts', input: 'Hi' } },
  },
  response: {
    status: 200,
    headers: { 'content-type': 'audio/mpeg' },
    ended: 'complete',
    body: { base64: Buffer.from([255, 0, 254]).toString('base64'), afterMs: 3 },
  },
  usage: null,
};

function recordingsIn(path: string): RecordedExchange[] {
  const names = readdirSync(path).sort();
  return names.map((name) => JSON.parse(readFileSync(join(path, name), 'utf8')));
}

test('what is exported and imported again is the same', async () => {
  const [from, file, to] = [join(folder, 'from'), join(folder, 'all.har'), join(folder, 'to')];
  mkdirSync(from);
  writeFileSync(join(from, '0001-chat.json'), formatExchange(chat));
  writeFileSync(join(from, '0002-speech.json'), formatExchange(speech));
  const exported = await runVerb(['cassette', 'export', from, file]);
  expect(exported).toEqual({ code: 0, stdout: '', stderr: `Exported 2 recordings to ${file}.\n` });
  expect(JSON.parse(readFileSync(file, 'utf8')).log).toMatchObject({
    version: '1.2',
    entries: [
      {
        startedDateTime: expect.stringMatching(/Z$/),
        request: { url: 'http://127.0.0.1/v1/chat/completions?beta=1', queryString: [{ name: 'beta', value: '1' }] },
        response: { content: { text: 'data: {"choices":[]}\n\ndata: [DONE]\n\n', mimeType: 'text/event-stream' } },
        timings: { wait: 20, receive: 0 },
      },
      { response: { content: { text: '/wD+', encoding: 'base64', size: 3 } } },
    ],
  });
  expect((await runVerb(['cassette', 'import', file, to])).stderr).toBe(`Imported 2 recordings to ${to}.\n`);
  expect(recordingsIn(to)).toEqual([chat, speech]);
  expect(readdirSync(to).sort()[0]).toMatch(/^0001-chat-completions-[0-9a-f]{6}\.json$/);
});

test('the archive of a proxy is imported without its secrets, and without what Sluice does not serve', async () => {
  const key = 'key-of-the-proxy-user-1234';
  const entry = (url: string) => ({
    startedDateTime: '2026-01-01T00:00:00Z',
    request: {
      method: 'POST',
      url,
      headers: [
        { name: 'Authorization', value: `Bearer ${key}` },
        { name: 'Cookie', value: 'session=planted-cookie-value' },
        { name: 'Content-Type', value: 'application/json' },
      ],
      postData: { mimeType: 'application/json', text: JSON.stringify({ model: 'gpt-x', messages: [], note: key }) },
    },
    response: {
      status: 200,
      headers: [
        { name: 'Content-Type', value: 'application/json' },
        { name: 'Set-Cookie', value: 'session=planted-cookie-value' },
      ],
      content: { size: 2, text: JSON.stringify({ said: key }) },
    },
  });
  const [file, to] = [join(folder, 'proxy.har'), join(folder, 'to')];
  const urls = ['https://api.openai.com/v1/chat/completions', 'https://example.com/login'];
  writeFileSync(file, JSON.stringify({ log: { version: '1.2', entries: urls.map(entry) } }));
  const { stderr } = await runVerb(['cassette', 'import', file, to]);
  expect(stderr).toMatch(/^Imported 1 recording to .*; 1 skipped, as /);
  const [exchange] = recordingsIn(to);
  expect(JSON.stringify(exchange)).not.toMatch(/key-of|planted/);
  expect(exchange?.response.body).toMatchObject({ json: { said: '[redacted]' } });
});

test('a file that is no archive is named with its field', async () => {
  const file = join(folder, 'wrong.har');
  writeFileSync(file, '{ "log": {} }');
  expect(await runVerb(['cassette', 'import', file, join(folder, 'to')])).toEqual({
    code: 1,
    stdout: '',
    stderr: `sluice: ${file} is no HTTP Archive: log.entries: Invalid input: expected array, received undefined.\n`,
  });
});

test('recordings fit the published schema', () => {
  const path = join(import.meta.dirname, '../../../docs/cassette.schema.json');
  const schema = z.fromJSONSchema(JSON.parse(readFileSync(path, 'utf8')));
  for (const exchange of [chat, speech]) expect(schema.safeParse(exchange).success).toBe(true);
  expect(schema.safeParse({ ...chat, version: 2 }).success).toBe(false);
  expect(schema.safeParse({ ...chat, response: { ...chat.response, body: { event: [] } } }).success).toBe(false);
});
