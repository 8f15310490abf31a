/** Upstreams that compress their errors although Sluice asks for none of that. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const error = { error: { message: 'You have no money left.', type: 'insufficient_quota', code: 'insufficient_quota' } };
const tooLong = { error: { message: 'Too long.', type: 'invalid_request_error', code: 'context_length_exceeded' } };
const compressors = { gzip: gzipSync, 'x-gzip': gzipSync, deflate: deflateSync, br: brotliCompressSync };

function answer(status: number, body: Buffer, encoding: string): void {
  upstream.answer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': encoding });
    response.end(body);
  });
}

const asked = { model: 'gpt-x', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
const ask = (path: string) => gateway.fetch(path, { method: 'POST', body: JSON.stringify(asked) });

test.each(Object.entries(compressors))('an error in %s is judged, and sent as it is', async (encoding, compress) => {
  answer(400, compress(JSON.stringify(tooLong)), encoding);
  const response = await ask('/chat/completions');
  expect([response.status, response.headers.get('content-encoding')]).toEqual([400, null]);
  expect(await response.json()).toEqual(tooLong);
  const record = await gateway.record();
  expect(record.errorCode).toBe('context_length_exceeded');
  expect(record.attempts[0]?.error).toContain('Too long.');
});

test.each([429, 200])('an error in gzip with status %i reaches clients of another API', async (status) => {
  answer(status, gzipSync(JSON.stringify(error)), 'gzip');
  const response = await ask('/messages');
  expect(await response.json()).toMatchObject({ type: 'error', error: { message: error.error.message } });
});

test('an error in gzip with status 200 is sent as it is', async () => {
  answer(200, gzipSync(JSON.stringify(error)), 'gzip');
  const response = await ask('/chat/completions');
  expect(await response.json()).toEqual(error);
});

test('a damaged one is replaced by an error of Sluice', async () => {
  answer(400, gzipSync(JSON.stringify(tooLong)).subarray(0, 30), 'gzip');
  const response = await ask('/chat/completions');
  expect((await response.json()) as object).toMatchObject({
    error: { message: expect.stringContaining('is damaged') },
  });
});
