/** Cassettes as HTTP Archives. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { formatExchange } from '../../../server/cassettes/cassette-files.ts';
import type { RecordedExchange } from '../../../server/cassettes/format.ts';
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

test('a cassette is exported with its requests, answers and times', async () => {
  const [from, file] = [join(folder, 'from'), join(folder, 'all.har')];
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
});

test('recordings fit the published schema', () => {
  const path = join(import.meta.dirname, '../../../docs/cassette.schema.json');
  const schema = z.fromJSONSchema(JSON.parse(readFileSync(path, 'utf8')));
  for (const exchange of [chat, speech]) expect(schema.safeParse(exchange).success).toBe(true);
  expect(schema.safeParse({ ...chat, version: 2 }).success).toBe(false);
  expect(schema.safeParse({ ...chat, response: { ...chat.response, body: { event: [] } } }).success).toBe(false);
});
