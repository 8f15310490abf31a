/**
 * The requests of the official Python client, without Python: its headers, its JSON, and its forms, in which text
 * fields come first, lists have `[]` in their names, and files have no type.
 */
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectPng } from './open-window.ts';
import { type Sluice, startSluice } from './sluice.ts';

let sluice: Sluice;
beforeAll(async () => {
  sluice = await startSluice();
});
afterAll(() => sluice?.remove());

const messages = [{ role: 'user', content: 'Hello there' }];

const pythonHeaders = {
  accept: 'application/json',
  'accept-encoding': 'gzip, deflate',
  connection: 'keep-alive',
  'user-agent': 'OpenAI/Python 2.8.1',
  'x-stainless-lang': 'python',
  'x-stainless-package-version': '2.8.1',
  'x-stainless-os': 'Linux',
  'x-stainless-arch': 'x64',
  'x-stainless-runtime': 'CPython',
  'x-stainless-runtime-version': '3.13.5',
  'x-stainless-async': 'false',
  'x-stainless-retry-count': '0',
  'x-stainless-read-timeout': '600',
};
const boundary = 'b2d1e0a7f53c4f7c8a2f0e5b6a9d8c71';
const form = (fields: [string, string][], files: [string, string, Buffer][]) =>
  Buffer.concat([
    ...fields.map(([name, value]) =>
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
    ),
    ...files.flatMap(([name, filename, bytes]) => [
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
      ),
      bytes,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);

/** Sends exactly these headers; fetch would change them. */
function send(path: string, contentType: string, body: Buffer): Promise<{ status: number; bytes: Buffer }> {
  const headers = {
    ...pythonHeaders,
    authorization: `Bearer ${sluice.key}`,
    'content-type': contentType,
    'content-length': body.length,
  };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(`${sluice.ready.baseUrl}${path}`, { method: 'POST', headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes: Buffer.concat(pieces) }));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const sendForm = (path: string, body: Buffer) => send(path, `multipart/form-data; boundary=${boundary}`, body);
const sendJson = (path: string, body: object) => send(path, 'application/json', Buffer.from(JSON.stringify(body)));

test('every route with a body answers the Python client', async () => {
  const chat = await sendJson('/chat/completions', { messages, model: 'demo-chat', stream: true });
  expect(chat.bytes.toString()).toMatch(/^data: \{.*data: \[DONE\]\n\n$/s);
  const response = await sendJson('/responses', { input: 'Hi', model: 'demo-chat' });
  expect(JSON.parse(`${response.bytes}`)).toMatchObject({ object: 'response', status: 'completed' });
  const embedding = await sendJson('/embeddings', { input: 'x', model: 'demo-embedding', encoding_format: 'base64' });
  expect(typeof JSON.parse(`${embedding.bytes}`).data[0].embedding).toBe('string');

  const image = await sendJson('/images/generations', { prompt: 'A hill', model: 'demo-image', size: '64x64' });
  const png = Buffer.from(JSON.parse(`${image.bytes}`).data[0].b64_json, 'base64');
  expectPng(png, 64);
  const fields: [string, string][] = [
    ['prompt', 'A hat'],
    ['model', 'demo-image'],
    ['size', '64x64'],
  ];
  const files: [string, string, Buffer][] = [
    ['image[]', 'a.png', png],
    ['image[]', 'b.png', png],
  ];
  const edit = await sendForm('/images/edits', form(fields, files));
  expectPng(Buffer.from(JSON.parse(`${edit.bytes}`).data[0].b64_json, 'base64'), 64);

  const speech = await sendJson('/audio/speech', {
    input: 'Guten Tag',
    model: 'demo-speech',
    voice: 'alloy',
    response_format: 'wav',
  });
  const granularity: [string, string] = ['timestamp_granularities[]', 'word'];
  const words = form(
    [['model', 'demo-transcribe'], ['response_format', 'verbose_json'], granularity],
    [['file', 'speech.wav', speech.bytes]],
  );
  const transcription = await sendForm('/audio/transcriptions', words);
  expect(JSON.parse(`${transcription.bytes}`)).toEqual({ text: expect.stringContaining('demo') });
  const translation = await sendForm(
    '/audio/translations',
    form([['model', 'demo-transcribe']], [['file', 'speech.wav', speech.bytes]]),
  );
  expect(JSON.parse(`${translation.bytes}`)).toEqual({ text: expect.stringContaining('demo') });

  const order: [string, string][] = [
    ['prompt', 'A ball'],
    ['model', 'demo-video'],
    ['seconds', '4'],
  ];
  const video = await sendForm('/videos', form(order, [['input_reference', 'a.png', png]]));
  expect(JSON.parse(`${video.bytes}`)).toMatchObject({ object: 'video', prompt: 'A ball', seconds: '4' });
});
