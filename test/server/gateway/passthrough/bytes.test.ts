/** Passthrough: the same bytes in both directions, without buffering, and an end on either side also ends the other. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { memoryInUse } from '../../../support/cpu-work.ts';
import { eventually } from '../../../support/eventually.ts';
import { mainProvider, type TestGateway, testKey } from '../../../support/gateway.ts';
import { json, oddCuts, type ScriptedUpstream, sendPieces, startUpstream } from '../../../support/upstream.ts';
import { startControlGateway } from '../../control/control-gateway.ts';

const megabyte = 1024 * 1024;
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let extra: http.Server | undefined;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startControlGateway({
    config: {
      providers: [mainProvider(upstream.baseUrl)],
      settings: { limits: { multipartBodyBytes: 128 * megabyte, jsonBodyBytes: 1024 } },
    },
    secrets: { 'provider/main/c1': 'upstream-secret' },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
afterEach(async () => {
  if (extra)
    await gateway.gateway.execute({ type: 'provider.update', id: 'main', changes: { baseUrl: upstream.baseUrl } });
  upstream.answer((_request, response) => json(response, { ok: true }));
  extra?.closeAllConnections();
  extra?.close();
  extra = undefined;
});

/** Opens a request whose bytes the test controls. */
function open(method: string, path: string, headers: http.OutgoingHttpHeaders = {}): http.ClientRequest {
  const request = http.request(`${gateway.baseUrl}${path}`, {
    method,
    agent: false,
    headers: { authorization: `Bearer ${testKey}`, ...headers },
  });
  request.on('error', () => {});
  return request;
}

async function answerOf(request: http.ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A provider that sees each request when it begins, before its body. */
async function provide(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<void> {
  extra = http.createServer(handle);
  extra.listen(0, '127.0.0.1');
  await once(extra, 'listening');
  const { port } = extra.address() as { port: number };
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  await gateway.gateway.execute({ type: 'provider.update', id: 'main', changes: { baseUrl } });
}

describe('a request', () => {
  test.each([
    ['GET', '/chat/completions?model=gpt-x&metadata[a]=b&limit=2', '', undefined],
    ['POST', '/batches/batch_1/cancel', '', undefined],
    ['POST', '/vector_stores', 'application/json', '{ "name" : "ü", "name": 1 , "stream":true}'],
    ['POST', '/vector_stores', 'application/json; charset=utf-8', '{"broken":'],
    ['PUT', '/anything/that_comes?x=%5B', 'text/x-odd', 'no JSON'],
    ['PATCH', '/skills/skill_1', 'application/octet-stream', '\0\x01'],
    ['DELETE', '/models/ft:gpt-4o:acme::1', '', undefined],
    ['POST', '/chat/completions/chatcmpl-1', 'application/json', '{"metadata":null}'],
  ])('%s %s has its path, query, type and body as they were', async (method, path, type, body) => {
    const headers = type === '' ? {} : { 'content-type': type };
    const response = await gateway.fetch(path, { method, headers, ...(body !== undefined && { body }) });
    expect([response.status, await response.json()]).toEqual([200, { ok: true }]);
    const seen = upstream.seen.at(-1);
    expect([seen?.method, seen?.url, seen?.body.toString()]).toEqual([method, `/v1${path}`, body ?? '']);
    expect(seen?.headers['content-type']).toBe(type === '' ? undefined : type);
    expect(seen?.headers.authorization).toBe('Bearer upstream-secret');
  });

  test('under Azure’s paths goes to the same place', async () => {
    for (const path of ['/openai/v1/files?api-version=preview', '/openai/files?api-version=2024-10-21&limit=1']) {
      const response = await fetch(gateway.origin + path, { headers: { 'api-key': testKey } });
      expect(response.status).toBe(200);
    }
    expect(upstream.seen.slice(-2).map(({ url }) => url)).toEqual(['/v1/files', '/v1/files?limit=1']);
    expect(JSON.stringify(upstream.seen.at(-1)?.headers)).not.toContain(testKey);
  });

  test('that is compressed stays so', async () => {
    const body = gzipSync('{"a":1}');
    const request = open('POST', '/evals', { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    request.end(body);
    await bytesOf(await answerOf(request));
    const seen = upstream.seen.at(-1);
    expect([seen?.headers['content-encoding'], seen?.body.equals(body)]).toEqual(['gzip', true]);
  });

  test('of unknown length goes on in chunks, as it comes', async () => {
    const first = Promise.withResolvers<string>();
    await provide((request, response) => {
      request.once('data', (chunk: Buffer) => first.resolve(`${request.headers['transfer-encoding']} ${chunk}`));
      request.on('end', () => json(response, { ok: true }));
    });
    const request = open('POST', '/files');
    request.write('beginning');
    expect(await first.promise).toBe('chunked beginning');
    request.end('end');
    expect((await answerOf(request)).statusCode).toBe(200);
  });

  test('of 100 MB takes no memory, and has a row that counts it', async () => {
    const piece = randomBytes(megabyte);
    const sent = createHash('sha256');
    const received = createHash('sha256');
    let peak = 0;
    await provide((request, response) => {
      request.on('data', (chunk: Buffer) => received.update(chunk));
      request.on('end', () => json(response, { id: 'file-1' }));
    });
    const before = memoryInUse().arrayBuffers;
    const request = open('POST', '/files', {
      'content-type': 'multipart/form-data; boundary=none-in-random-bytes',
      'content-length': 100 * megabyte,
    });
    for (let index = 0; index < 100; index++) {
      sent.update(piece);
      if (!request.write(piece)) await once(request, 'drain');
      if (index % 10 === 9) peak = Math.max(peak, memoryInUse().arrayBuffers - before);
    }
    request.end();
    const response = await answerOf(request);
    await bytesOf(response);
    expect(received.digest('hex')).toBe(sent.digest('hex'));
    // Client and provider run in this process too, and collected memory is not returned at once.
    expect(peak).toBeLessThan(50 * megabyte);
    const row = await gateway.record(String(response.headers['x-sluice-request-id']));
    expect(row).toMatchObject({
      bytesIn: 100 * megabyte,
      route: '/v1/files',
      outcome: 'ok',
      capability: 'passthrough',
    });
  });

  test('that is longer than uploads may be is 413, whether it says so or not', async () => {
    const announced = open('POST', '/files', { 'content-length': 200 * megabyte });
    announced.flushHeaders();
    expect((await answerOf(announced)).statusCode).toBe(413);
    await gateway.gateway.execute({
      type: 'settings.update',
      changes: { limits: { multipartBodyBytes: megabyte, jsonBodyBytes: 1024 } },
    });
    const chunked = open('POST', '/files');
    for (let index = 0; index < 3; index++) chunked.write(randomBytes(megabyte));
    chunked.end();
    const response = await answerOf(chunked);
    const { error } = JSON.parse(`${await bytesOf(response)}`);
    expect([response.statusCode, error.code]).toEqual([413, 'request_too_large']);
    const row = await gateway.record(String(response.headers['x-sluice-request-id']));
    expect([row.attempts[0]?.failure, row.errorCode]).toEqual(['client-gone', 'request_too_large']);
    await gateway.gateway.execute({
      type: 'settings.update',
      changes: { limits: { multipartBodyBytes: 128 * megabyte, jsonBodyBytes: 1024 } },
    });
  });

  test('that is answered before its end has that answer', async () => {
    await provide((request, response) => {
      request.once('data', () => json(response, { error: { message: 'No such upload', code: 'nope' } }, 404));
      request.on('error', () => {});
    });
    const request = open('POST', '/uploads/upload_1/parts');
    request.write(randomBytes(1024));
    const response = await answerOf(request);
    expect([response.statusCode, JSON.parse(`${await bytesOf(response)}`).error.code]).toEqual([404, 'nope']);
    request.destroy();
  });

  test('whose client leaves stops at the provider', async () => {
    const begun = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<boolean>();
    await provide((request) => {
      request.once('data', () => begun.resolve());
      request.on('error', () => {});
      request.on('close', () => closed.resolve(request.complete));
    });
    const request = open('POST', '/files');
    request.write('half of it');
    await begun.promise;
    request.destroy();
    expect(await closed.promise).toBe(false);
    const row = await eventually(async () => {
      const { requests } = await gateway.gateway.query({ type: 'requests', limit: 1 });
      return requests[0]?.outcome === 'client-gone' ? requests[0] : null;
    });
    expect([row.attempts[0]?.failure, row.bytesIn]).toEqual(['client-gone', 10]);
  });
});

describe('an answer', () => {
  test('in events comes byte for byte, also what no client could read', async () => {
    const events = Buffer.from(
      '\ufeff: comment\n\nevent: thread.run.created\ndata: {"id":"run_1"}\r\n\r\nid: 7\n\ndata: no JSON\n\nevent: done\ndata: [DONE]\n\n',
    );
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return sendPieces(response, events, oddCuts(events.length));
    });
    const response = await gateway.fetch('/threads/runs', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"assistant_id":"asst_1","stream":true}',
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(Buffer.from(await response.arrayBuffer()).equals(events)).toBe(true);
  });

  test('of an empty body, or with a status that promises none, is one', async () => {
    for (const status of [200, 204, 202]) {
      upstream.answer((_request, response) => void response.writeHead(status).end());
      const response = await gateway.fetch('/containers/cntr_1', { method: 'DELETE' });
      expect([response.status, await response.text()]).toEqual([status, '']);
    }
    upstream.answer((_request, response) => void response.writeHead(200, { 'content-length': 12 }).end());
    const head = await gateway.fetch('/files/file-1/content', { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '12']);
  });

  test('in parts passes with its range, and a redirect of a file is followed without credentials', async () => {
    upstream.answer(({ url, headers }, response) => {
      if (url !== '/storage/1') return void response.writeHead(302, { location: '/storage/1' }).end();
      response.writeHead(206, { 'content-range': 'bytes 0-1/9' }).end(headers.authorization ?? 'ok');
    });
    const response = await gateway.fetch('/files/file-1/content', { headers: { range: 'bytes=0-1' } });
    expect([response.status, response.headers.get('content-range'), await response.text()]).toEqual([
      206,
      'bytes 0-1/9',
      'ok',
    ]);
    expect(upstream.seen.at(-1)?.headers.range).toBe('bytes=0-1');
  });

  test('that breaks off breaks the client’s connection, and is an error in the ledger', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    });
    const request = open('GET', '/files/file-1/content');
    request.end();
    const response = await answerOf(request);
    await expect(bytesOf(response)).rejects.toThrow('aborted');
    const row = await gateway.record(String(response.headers['x-sluice-request-id']));
    expect(row).toMatchObject({ outcome: 'stream-broken', errorCode: 'upstream_stream_broken' });
  });

  test('that is late is an error, before it begins and in the middle', async () => {
    const put = (policy: object) => gateway.gateway.execute({ type: 'group.put', group: { id: 'default', policy } });
    await put({ timeouts: { firstByteMs: 50 } });
    upstream.answer(({ method }, response) => {
      if (method === 'GET') response.writeHead(200).write('half');
    });
    const refused = await gateway.fetch('/evals', { method: 'POST' });
    expect([refused.status, (await refused.json()).error.code]).toEqual([502, 'purchase_outcome_unknown']);
    await put({ timeouts: { idleMs: 500 } });
    const request = open('GET', '/files/file-1/content');
    request.end();
    await expect(bytesOf(await answerOf(request))).rejects.toThrow('aborted');
    await put({});
  });

  test('whose client leaves is stopped at the provider', async () => {
    const closed = Promise.withResolvers<void>();
    upstream.answer((_request, response) => {
      response.on('close', () => closed.resolve());
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n');
    });
    const request = open('GET', '/evals/eval_1/stream');
    request.end();
    await once(await answerOf(request), 'data');
    request.destroy();
    await closed.promise;
  });

  test('that never comes is retried if it is only read, and never if it may change something', async () => {
    const calls = { GET: 0, POST: 0, DELETE: 0 };
    upstream.answer(({ method }, response) => {
      const count = ++calls[method as keyof typeof calls];
      if (count === 1) response.destroy();
      else json(response, { method });
    });
    expect((await gateway.fetch('/files')).status).toBe(200);
    for (const method of ['POST', 'DELETE']) {
      const refused = await gateway.fetch('/files/file-1', { method });
      expect([refused.status, (await refused.json()).error.code]).toEqual([502, 'upstream_unreachable']);
    }
    expect(calls).toEqual({ GET: 2, POST: 1, DELETE: 1 });
  });

  test('that is an error is relayed unchanged, and causes no cooldown', async () => {
    const answers: [number, string][] = [
      [
        404,
        '{"error":{"message":"No such File object: file-1","type":"invalid_request_error","param":"id","code":null}}',
      ],
      [409, '{"error":{"message":"busy","code":"conflict"}}'],
      [429, '{"error":{"message":"slow","type":"requests","code":"rate_limit_exceeded"}}'],
      [405, ''],
    ];
    for (const [status, body] of answers) {
      upstream.answer((_request, response) => void response.writeHead(status, { 'x-request-id': 'req_up' }).end(body));
      const response = await gateway.fetch('/files/file-1', { method: 'POST' });
      expect([response.status, await response.text(), response.headers.get('x-request-id')]).toEqual([
        status,
        body,
        'req_up',
      ]);
    }
    upstream.answer((_request, response) => json(response, { error: { message: 'Missing scopes' } }, 403));
    const refused = await gateway.fetch('/files');
    expect([refused.status, (await refused.json()).error.code]).toEqual([502, 'provider_credential_refused']);
    const [provider] = await gateway.gateway.query({ type: 'providers' });
    expect(JSON.stringify(provider)).not.toContain('refused');
    upstream.answer((_request, response) => json(response, { object: 'list', data: [] }));
    expect((await gateway.fetch('/files')).status).toBe(200);
  });
});
