import type { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { geminiAt } from '../../support/sdk-clients.ts';
import { geminiKey } from '../../support/strict-gemini.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let client: GoogleGenAI;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      groups: [
        { id: 'default', passthrough: 'main' },
        { id: 'chats', providers: ['chats'], passthrough: 'chats' },
      ],
      keys: [
        { id: 'k1', group: 'default', hash: hashOf(testKey) },
        { id: 'k2', group: 'chats', hash: hashOf('chats') },
      ],
      providers: [
        mainProvider(`${upstream.origin}/v1beta`, { dialect: 'gemini', models: ['gemini-3-pro'] }),
        mainProvider(upstream.baseUrl, { id: 'chats' }),
      ],
    },
    secrets: { 'provider/main/c1': geminiKey, 'provider/chats/c1': 'x' },
  });
  client = geminiAt(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const file = {
  name: 'files/abc',
  uri: 'https://example.com/v1beta/files/abc',
  mimeType: 'text/plain',
  state: 'ACTIVE',
};

test('a file is uploaded by Google’s SDK through Sluice, read and deleted', async () => {
  const received: string[] = [];
  upstream.answer(({ url, method, headers, body }, response) => {
    received.push(`${method} ${url} ${headers['x-goog-upload-command'] ?? ''} ${body}`.trim());
    if (headers['x-goog-api-key'] !== geminiKey) return json(response, { error: { message: 'key' } }, 403);
    if (headers['x-goog-upload-command'] === 'start') {
      const next = 'https://generativelanguage.googleapis.com/upload/v1beta/files?upload_id=u1';
      return json(response, {}, 200, { 'x-goog-upload-url': next, 'x-goog-upload-status': 'active' });
    }
    if (url.startsWith('/upload/')) return json(response, { file }, 200, { 'x-goog-upload-status': 'final' });
    if (method === 'DELETE') return json(response, {});
    return json(response, file);
  });
  const uploaded = await client.files.upload({ file: new Blob(['Hello'], { type: 'text/plain' }) });
  expect(uploaded).toMatchObject(file);
  expect(await client.files.get({ name: 'files/abc' })).toMatchObject(file);
  await client.files.delete({ name: 'files/abc' });
  expect(received).toEqual([
    expect.stringMatching(/^POST \/upload\/v1beta\/files start \{"file":/),
    'POST /upload/v1beta/files?upload_id=u1 upload, finalize Hello',
    'GET /v1beta/files/abc',
    expect.stringMatching(/^DELETE \/v1beta\/files\/abc/),
  ]);
});

test('a file is not handed to a provider of another API', async () => {
  upstream.seen.length = 0;
  const response = await fetch(`${gateway.origin}/v1beta/files/abc`, { headers: { 'x-goog-api-key': 'chats' } });
  expect([response.status, (await response.json()).error.status]).toEqual([404, 'NOT_FOUND']);
  expect(upstream.seen).toEqual([]);
});
