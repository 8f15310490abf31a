/** Who may access what a provider stores, and with which credential. */
import { brotliCompressSync, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../../server/contract/config.ts';
import { hashOf, mainProvider, type TestGateway } from '../../../support/gateway.ts';
import { stopAfterEach } from '../../../support/stop-after-each.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../../support/upstream.ts';
import { startControlGateway } from '../../control/control-gateway.ts';

type ProviderInput = NonNullable<ConfigInput['providers']>[number];

const otherKey = 'sk-of-another-group';
const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeEach(async () => {
  upstream = await stopLater(startUpstream());
});

const start = async (main: Record<string, unknown> = {}, ...others: ProviderInput[]) => {
  const groups = [
    { id: 'default', passthrough: 'main' },
    { id: 'other', passthrough: 'main' },
  ];
  gateway = await stopLater(
    startControlGateway({
      config: {
        providers: [mainProvider(upstream.baseUrl, main), ...others],
        groups,
        keys: [
          { id: 'k1', group: 'default', hash: hashOf('sk-test key with spaces') },
          { id: 'k2', group: 'other', hash: hashOf(otherKey) },
        ],
      },
      secrets: { 'provider/main/c1': 'upstream-secret', 'provider/main/c2': 'second-secret' },
    }),
  );
};

const asOther = (path: string, init: RequestInit = {}) =>
  gateway.fetch(path, {
    ...init,
    headers: { ...Object.fromEntries(new Headers(init.headers)), authorization: `Bearer ${otherKey}` },
  });

const post = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

async function make(path: string, answer: object, body: object = {}): Promise<void> {
  upstream.answer((_request, response) => json(response, answer));
  expect((await gateway.fetch(path, post(body))).status).toBe(200);
}

const asked = () => upstream.seen.at(-1);

describe('what a key’s group has made', () => {
  test('is reached by that group and is 404 to another, without the provider being asked', async () => {
    await start();
    await make('/vector_stores', { id: 'vs_1', object: 'vector_store' });
    expect((await gateway.fetch('/vector_stores/vs_1/files')).status).toBe(200);
    const before = upstream.seen.length;
    for (const [path, init] of [
      ['/vector_stores/vs_1', {}],
      ['/vector_stores/vs_1/files/file-9', {}],
      ['/vector_stores/vs_1', { method: 'DELETE' }],
      ['/vector_stores/vs%5F1', {}],
      ['/anything/new/vs_1', {}],
    ] as const) {
      const refused = await asOther(path, init);
      expect([refused.status, await refused.json()]).toEqual([
        404,
        { error: { message: "No such object: 'vs_1'.", type: 'invalid_request_error', param: 'id', code: null } },
      ]);
    }
    expect(upstream.seen).toHaveLength(before);
  });

  test('may not be named in the body of another group’s request either', async () => {
    await start();
    await make('/files', { id: 'file-1' });
    expect((await asOther('/batches', post({ input_file_id: 'file-1', endpoint: '/v1/embeddings' }))).status).toBe(404);
    expect((await asOther('/vector_stores', post({ file_ids: ['file-0', 'file-1'] }))).status).toBe(404);
    expect((await asOther('/vector_stores', post({ file_ids: ['file-0'] }))).status).toBe(200);
  });

  test('may not be named in a compressed body either, in whatever coding, which reaches its owner as it came', async () => {
    await start();
    await make('/files', { id: 'file-1' });
    const plain = JSON.stringify({ input_file_id: 'file-1', endpoint: '/v1/embeddings' });
    for (const [coding, encode] of [
      ['gzip', gzipSync],
      ['br', brotliCompressSync],
      ['deflate', deflateRawSync],
      ['zstd', zstdCompressSync],
    ] as const) {
      const headers = { 'content-type': 'application/json', 'content-encoding': coding };
      const init = { method: 'POST', headers, body: new Uint8Array(encode(plain)) };
      expect((await asOther('/batches', init)).status).toBe(404);
      expect((await gateway.fetch('/batches', init)).status).toBe(200);
      expect([asked()?.headers['content-encoding'], asked()?.body]).toEqual([coding, Buffer.from(init.body)]);
    }
  });

  test('stays with the credential that made it, and what names it in a body goes there too', async () => {
    await start({ credentials: [{ id: 'c1', enabled: false }, { id: 'c2' }] });
    await make('/files', { id: 'file-1' });
    await gateway.gateway.execute({ type: 'credential.set', provider: 'main', id: 'c1', enabled: true });
    const credentialOf = async (response: Promise<Response>) => {
      await (await response).arrayBuffer();
      return asked()?.headers.authorization;
    };
    expect(await credentialOf(gateway.fetch('/files'))).toBe('Bearer upstream-secret');
    expect(await credentialOf(gateway.fetch('/files/file-2'))).toBe('Bearer upstream-secret');
    expect(await credentialOf(gateway.fetch('/files/file-1/content'))).toBe('Bearer second-secret');
    expect(await credentialOf(gateway.fetch('/batches', post({ input_file_id: 'file-1' })))).toBe(
      'Bearer second-secret',
    );
  });

  test.each(['file-1', 'notes', 'my_notes', 'content', 'F'])(
    'belongs to nobody once it is deleted, but not when it is only removed from a container: %s',
    async (id) => {
      await start();
      await make('/files', { id });
      await make('/vector_stores', { id: 'vs_1' });
      await gateway.fetch(`/vector_stores/vs_1/files/${id}`, { method: 'DELETE' });
      expect((await asOther(`/files/${id}`)).status).toBe(404);
      expect((await asOther('/vector_stores/vs_1')).status).toBe(404);
      await gateway.fetch(`/files/${id}`, { method: 'DELETE' });
      expect((await asOther(`/files/${id}`)).status).toBe(200);
    },
  );

  test('includes the file that an upload becomes', async () => {
    await start();
    await make('/uploads', { id: 'upload_1', status: 'pending', file: null });
    await make('/uploads/upload_1/complete', { id: 'upload_1', status: 'completed', file: { id: 'file-7' } });
    expect((await asOther('/files/file-7/content')).status).toBe(404);
    expect((await gateway.fetch('/files/file-7/content')).status).toBe(200);
  });

  test('is a chat completion that was to be stored, whole or as a stream', async () => {
    await start();
    const chat = { model: 'gpt-x', messages: [] };
    const whole = { id: 'chatcmpl-1', choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }] };
    await make('/chat/completions', whole, { ...chat, store: true });
    await make('/chat/completions', { ...whole, id: 'chatcmpl-2' }, chat);
    upstream.answer((_request, response) => {
      const chunk = { id: 'chatcmpl-3', choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }] };
      eventStream(response);
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    });
    await (await gateway.fetch('/chat/completions', post({ ...chat, store: true, stream: true }))).text();
    upstream.answer((_request, response) => json(response, { ok: true }));
    const statusOf = async (id: string) => (await asOther(`/chat/completions/${id}`)).status;
    expect(await Promise.all(['chatcmpl-1', 'chatcmpl-2', 'chatcmpl-3'].map(statusOf))).toEqual([404, 200, 404]);
    expect((await gateway.fetch('/chat/completions/chatcmpl-3', { method: 'DELETE' })).status).toBe(200);
  });

  test('is a conversation that goes on with no model of another provider', async () => {
    await start({ models: ['gpt-x'] }, { id: 'second', baseUrl: upstream.baseUrl, models: ['claude-x'] });
    await make('/conversations', { id: 'conv_1', object: 'conversation' });
    const before = upstream.seen.length;
    const refused = await gateway.fetch('/responses', post({ model: 'claude-x', input: 'Hi', conversation: 'conv_1' }));
    expect([refused.status, await refused.json()]).toEqual([
      404,
      {
        error: expect.objectContaining({
          code: 'model_not_found',
          message: expect.stringContaining('"main", which has no model "claude-x"'),
        }),
      },
    ]);
    expect(upstream.seen).toHaveLength(before);
  });

  test('is a conversation that responses go on with where it is, and that another group cannot go on with', async () => {
    await start();
    await make('/conversations', { id: 'conv_1', object: 'conversation' });
    upstream.answer((_request, response) => json(response, { id: 'resp_1', object: 'response', output: [] }));
    const turn = (conversation: unknown) => post({ model: 'gpt-x', input: 'Hi', conversation });
    expect((await gateway.fetch('/responses', turn('conv_1'))).status).toBe(200);
    expect((await asOther('/responses', turn('conv_1'))).status).toBe(404);
    expect((await asOther('/responses', turn({ id: 'conv_1' }))).status).toBe(404);
    expect((await asOther('/responses', turn('conv_made_elsewhere'))).status).toBe(200);
  });
});

describe('what existed at the provider before', () => {
  test('goes on to the provider, whichever group asks, and belongs to nobody for being changed', async () => {
    await start();
    await make('/assistants/asst_9', { id: 'asst_9' });
    await make('/vector_stores/vs_9/files', { id: 'file-9', object: 'vector_store.file' }, { file_id: 'file-9' });
    upstream.answer((_request, response) => json(response, { ok: true }));
    for (const path of ['/assistants/asst_9', '/files/file-9', '/vector_stores/vs_9']) {
      expect((await asOther(path)).status).toBe(200);
      expect(asked()?.url).toBe(`/v1${path}`);
    }
  });

  test('and is another group’s cannot be claimed', async () => {
    await start();
    await make('/files', { id: 'file-1' });
    upstream.answer((_request, response) => json(response, { id: 'file-1', object: 'vector_store.file' }));
    expect((await asOther('/vector_stores/vs_2/files', post({ file: 'file-1' }))).status).toBe(200);
    expect((await asOther('/files/file-1')).status).toBe(404);
  });
});

test('an answer that is no success, or no JSON, makes nothing', async () => {
  await start();
  upstream.answer((_request, response) => json(response, { id: 'file-1' }, 201));
  await gateway.fetch('/files', post({}));
  upstream.answer((_request, response) => json(response, { id: 'file-2' }, 400));
  await gateway.fetch('/files', post({}));
  upstream.answer((_request, response) => void response.end('{"id":"file-3"}'));
  await gateway.fetch('/files', post({}));
  upstream.answer((_request, response) => json(response, { ok: true }));
  const statuses = await Promise.all(
    ['file-1', 'file-2', 'file-3'].map(async (id) => (await asOther(`/files/${id}`)).status),
  );
  expect(statuses).toEqual([404, 200, 200]);
});
