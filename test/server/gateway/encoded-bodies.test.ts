/** Request bodies in the content codings of HTTP, on every route that reads one. */
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { spoolCounts } from '../../../server/http/body/spool.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const mebibyte = 1024 * 1024;
const limitBytes = 8 * mebibyte;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      settings: { limits: { jsonBodyBytes: limitBytes, multipartBodyBytes: limitBytes } },
      providers: [mainProvider(upstream.baseUrl)],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
  upstream.answer(answerAll);
});

const answerAll: Parameters<ScriptedUpstream['answer']>[0] = ({ url }, response) => {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const chat = { id: 'c', object: 'chat.completion', model: 'gpt-x', usage };
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi' } }];
  if (url.endsWith('/embeddings')) return json(response, { object: 'list', data: [{ embedding: [1] }], usage });
  if (url.endsWith('/transcriptions')) return json(response, { text: 'Hi' });
  if (url.endsWith('/responses')) return json(response, answered);
  json(response, { ...chat, choices });
};

const answered = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt-x',
  output: [
    {
      type: 'message',
      id: 'm',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hi' }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
};

type Encode = (bytes: Buffer) => Buffer;

/** Its best takes twenty seconds for 3 MB of noise. */
const brotli: Encode = (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });

const codings: readonly [header: string, encode: Encode][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZIP', gzipSync],
  ['br', brotli],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['zstd', zstdCompressSync],
  ['identity', (bytes) => bytes],
  ['gzip, identity', gzipSync],
  ['gzip, br', (bytes) => brotli(gzipSync(bytes))],
  ['zstd, zstd', (bytes) => zstdCompressSync(zstdCompressSync(bytes))],
];

const words = 'What does a gateway do? '.repeat(400);
const messages = [{ role: 'user', content: words }];
const bodies: readonly [path: string, body: object][] = [
  ['/v1/chat/completions', { model: 'gpt-x', messages }],
  ['/v1/responses', { model: 'gpt-x', input: words }],
  ['/v1/messages', { model: 'gpt-x', max_tokens: 9, messages }],
  ['/v1beta/models/gpt-x:generateContent', { contents: [{ role: 'user', parts: [{ text: words }] }] }],
  ['/v1/embeddings', { model: 'gpt-x', input: words }],
];

const chatPath = '/v1/chat/completions';
const chatBody = Buffer.from(JSON.stringify({ model: 'gpt-x', messages }));

interface Sent {
  path: string;
  coding: string;
  bytes: Buffer;
  headers?: http.OutgoingHttpHeaders;
  /** The body goes in pieces of this length, without a content length. */
  pieceBytes?: number;
}

interface Reply {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

function send({ path, coding, bytes, headers = {}, pieceBytes }: Sent): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const request = http.request(`${gateway.origin}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${testKey}`,
      'content-type': 'application/json',
      'content-encoding': coding,
      ...(pieceBytes === undefined && { 'content-length': bytes.length }),
      ...headers,
    },
  });
  request.on('error', reject).on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
    response.on('end', () =>
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: Buffer.concat(chunks).toString(),
      }),
    );
  });
  if (pieceBytes === undefined) request.end(bytes);
  else void sendPieces(request, bytes, pieceBytes);
  return promise;
}

async function sendPieces(request: http.ClientRequest, bytes: Buffer, pieceBytes: number): Promise<void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    request.write(bytes.subarray(at, at + pieceBytes));
    await nextTurn();
  }
  request.end();
}

describe.each(codings)('a body encoded as %s', (coding, encode) => {
  test.each(bodies)('is read on %s', async (path, body) => {
    const bytes = encode(Buffer.from(JSON.stringify(body)));
    const { status, text } = await send({ path, coding, bytes });
    expect([status, text]).toEqual([200, expect.stringMatching(/Hi|embedding/)]);
    const [seen] = upstream.seen;
    expect(seen?.body.toString()).toContain(words);
    expect(seen?.headers['content-encoding']).toBeUndefined();
    expect(Number(seen?.headers['content-length'])).toBe(seen?.body.length);
  });

  test('reaches a provider of the same API byte for byte as the client wrote it, also a byte at a time', async () => {
    const plain = Buffer.from(`{ "model": "gpt-x",\n"messages": [{"role":"user","content":"${'å'.repeat(40)}"}] }`);
    const { status, headers } = await send({ path: chatPath, coding, bytes: encode(plain), pieceBytes: 1 });
    expect([status, upstream.seen[0]?.body.toString()]).toEqual([200, plain.toString()]);
    const record = await gateway.record(String(headers['x-sluice-request-id']));
    expect(record.bytesIn).toBe(plain.length);
  });

  test('is read as a form with a file of 3 MB', async () => {
    const { headers, plain } = await formOf(randomBytes(3 * mebibyte));
    const { status, text } = await send({ path: '/v1/audio/transcriptions', coding, bytes: encode(plain), headers });
    expect([status, text]).toEqual([200, '{"text":"Hi"}']);
    expect(upstream.seen[0]?.body.equals(plain)).toBe(true);
    expect(upstream.seen[0]?.headers['content-encoding']).toBeUndefined();
  });
});

async function formOf(file: Buffer): Promise<{ headers: Record<string, string>; plain: Buffer }> {
  const form = new FormData();
  form.set('model', 'gpt-x');
  form.set('file', new Blob([new Uint8Array(file)], { type: 'audio/wav' }), 'a.wav');
  const request = new Request('http://localhost', { method: 'POST', body: form });
  const type = request.headers.get('content-type') ?? '';
  return { headers: { 'content-type': type }, plain: Buffer.from(await request.arrayBuffer()) };
}

test.each(['compress', 'aws-chunked', 'gzip, exi', 'gzip, gzip, gzip'])(
  'content-encoding "%s" is refused in each API’s form, with what is taken',
  async (coding) => {
    for (const [path] of bodies) {
      const { status, headers, text } = await send({ path, coding, bytes: chatBody });
      expect([status, headers['accept-encoding']]).toEqual([415, 'gzip, deflate, br, zstd, identity']);
      expect(JSON.parse(text).error.message).toContain('cannot be read');
    }
    const { headers, plain } = await formOf(Buffer.from('x'));
    expect(await send({ path: '/v1/audio/transcriptions', coding, bytes: plain, headers })).toMatchObject({
      status: 415,
    });
    expect(upstream.seen).toEqual([]);
  },
);

const damages: readonly [name: string, damage: Encode][] = [
  ['breaks off in the middle', (bytes) => bytes.subarray(0, bytes.length >> 1)],
  ['lacks its last byte', (bytes) => bytes.subarray(0, -1)],
  ['is not encoded at all', () => chatBody],
];

describe.each(codings.filter(([header]) => header !== 'identity'))('a body that is called %s', (coding, encode) => {
  test.each(damages)('and %s is a clear 400', async (_name, damage) => {
    const damagedChat = damage(encode(chatBody));
    for (const pieceBytes of [undefined, 7]) {
      const sent = { path: chatPath, coding, bytes: damagedChat, ...(pieceBytes !== undefined && { pieceBytes }) };
      const { status, text } = await send(sent);
      expect([status, JSON.parse(text).error]).toEqual([
        400,
        expect.objectContaining({ param: 'content-encoding', message: expect.stringContaining('cannot be decoded') }),
      ]);
    }
    const { headers, plain } = await formOf(randomBytes(100_000));
    const bytes = damage(encode(plain));
    const reply = await send({ path: '/v1/audio/transcriptions', coding, bytes, headers });
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('cannot be decoded')]);
    expect([upstream.seen.length, spoolCounts]).toEqual([0, { spools: 0, files: 0 }]);
  });

  test('and goes on after its end is a clear 400', async () => {
    const bytes = Buffer.concat([encode(chatBody), Buffer.from('and more, which nobody would read')]);
    expect(await send({ path: chatPath, coding, bytes })).toMatchObject({ status: 400 });
  });
});

test.each([
  ['gzip', gzipSync],
  ['zstd', zstdCompressSync],
] as const)('a %s of several members is read to its end', async (coding, encode) => {
  const cut = 20;
  const bytes = Buffer.concat([encode(chatBody.subarray(0, cut)), encode(chatBody.subarray(cut))]);
  for (const pieceBytes of [1, bytes.length]) {
    upstream.seen.length = 0;
    expect(await send({ path: chatPath, coding, bytes, pieceBytes })).toMatchObject({ status: 200 });
    expect(upstream.seen[0]?.body.equals(chatBody)).toBe(true);
  }
});

test('an empty body with a content coding is an empty body', async () => {
  const { status, text } = await send({ path: chatPath, coding: 'gzip', bytes: Buffer.alloc(0) });
  expect([status, text]).toEqual([400, expect.stringContaining('parse the JSON body')]);
});

const bombs = codings.filter(([header]) => !['identity', 'x-gzip', 'GZIP'].includes(header));

test.each(bombs)('a bomb in %s is stopped at the limit of decoded bytes', async (coding, encode) => {
  const bomb = encode(Buffer.alloc(3 * limitBytes, ' '));
  expect(bomb.length).toBeLessThan(mebibyte / 10);
  const { headers } = await formOf(Buffer.from('x'));
  for (const sent of [{ path: chatPath }, { path: '/v1/audio/transcriptions', headers }]) {
    const { status, text } = await send({ ...sent, coding, bytes: bomb });
    expect([status, JSON.parse(text).error.code]).toEqual([413, 'request_too_large']);
    const readBytes = Number(/\((\d+) bytes read\)/.exec(text)?.[1] ?? limitBytes);
    expect(readBytes).toBeLessThan(limitBytes + 128 * 1024);
  }
  expect([upstream.seen.length, spoolCounts]).toEqual([0, { spools: 0, files: 0 }]);
});

test('a gzip of endless empty members is bounded, too, though it decodes to nothing', async () => {
  const member = gzipSync('');
  const inner = Buffer.alloc(limitBytes + 100 * member.length, member);
  const coding = 'gzip, gzip';
  expect(await send({ path: chatPath, coding, bytes: gzipSync(inner) })).toMatchObject({ status: 413 });
});

test('a body of 60 MB is decoded whole', async () => {
  const large = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] } });
  const plain = Buffer.from(`{"model":"gpt-x","messages":[{"role":"user","content":"${'y'.repeat(60 * mebibyte)}"}]}`);
  const { status } = await large.fetch('/chat/completions', {
    method: 'POST',
    headers: { 'content-encoding': 'zstd' },
    body: new Uint8Array(zstdCompressSync(plain)),
  });
  expect([status, upstream.seen[0]?.body.equals(plain)]).toEqual([200, true]);
  await large.stop();
});

test('a capture keeps what a body decodes to', async () => {
  const headers = { 'x-sluice-capture': 'on' };
  const { headers: told } = await send({ path: chatPath, coding: 'zstd', bytes: zstdCompressSync(chatBody), headers });
  const id = String(told['x-sluice-request-id']);
  await gateway.record(id);
  const { capture } = await gateway.gateway.query({ type: 'request', id });
  expect(JSON.stringify(capture)).toContain(words);
});
