import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let windowFolder: string;

beforeAll(async () => {
  windowFolder = mkdtempSync(join(tmpdir(), 'sluice-window-'));
  writeFileSync(join(windowFolder, 'index.html'), '<!doctype html>');
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      providers: [mainProvider(upstream.baseUrl)],
      settings: { allowedOrigins: ['https://app.example'], limits: { jsonBodyBytes: 5_000 } },
    },
    ports: { windowFolder },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  rmSync(windowFolder, { recursive: true, force: true });
});

const authorization = `authorization: Bearer ${testKey}`;

/** Sends these lines unchanged, and returns everything received until the server closes the connection. */
async function raw(...lines: string[]): Promise<string> {
  const socket = connect(Number(new URL(gateway.origin).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write([...lines, '', ''].join('\r\n'));
  let got = '';
  for await (const piece of socket) got += piece;
  return got;
}

describe('a reply has a request id', () => {
  const host = 'host: localhost';
  const close = 'connection: close';
  const preflight = ['origin: https://app.example', 'access-control-request-method: POST'];
  test.each<[number, string[]]>([
    [200, ['GET /healthz HTTP/1.1', host, close]],
    [200, ['GET / HTTP/1.1', host, close]],
    [304, ['GET / HTTP/1.1', host, close, 'if-modified-since: Fri, 31 Dec 2100 00:00:00 GMT']],
    [204, ['OPTIONS /v1/chat/completions HTTP/1.1', host, close, ...preflight]],
    [403, ['GET /control/events HTTP/1.1', host, close]],
    [303, ['GET /control/session?token=x HTTP/1.1', host, close, 'accept: text/html']],
    [404, ['GET /nope HTTP/1.1', host, close]],
    [403, ['GET /healthz HTTP/1.1', close]],
    [403, ['GET /v1/models HTTP/1.1', close, authorization]],
    [403, ['GET /v1/models HTTP/1.0', authorization]],
    [200, ['GET /v1/models HTTP/1.1', host, authorization, 'connection: upgrade, close', 'upgrade: websocket']],
    [200, ['GET /v1/models HTTP/1.1', host, authorization, close, 'expect: something']],
    [405, ['CONNECT api.example:443 HTTP/1.1', 'host: api.example:443']],
  ])('of status %i to %j', async (status, lines) => {
    const [head = '', body = ''] = (await raw(...lines)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const ids = [...head.matchAll(/^(x-(?:sluice-)?request-id): (req_[0-9a-f]{32})$/gim)];
    expect(new Set(ids.map(([, name]) => name?.toLowerCase())).size).toBe(2);
    expect(new Set(ids.map(([, , id]) => id)).size).toBe(1);
    if (status >= 400) expect(JSON.parse(body)).toMatchObject({ error: { type: 'invalid_request_error' } });
  });
});

describe('a request that names the whole address', () => {
  const ask = (url: string, host: string) => raw(`GET ${url} HTTP/1.1`, host, authorization, 'connection: close');

  test('is served as one that names the path alone', async () => {
    expect(await ask(`${gateway.origin}/v1/models`, 'host: localhost')).toMatch(/^HTTP\/1\.1 200 [\s\S]*"gpt-x"/);
    expect(await ask('HTTP://localhost/healthz?x', 'host: localhost')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask('http://localhost', 'host: localhost')).toMatch(/^HTTP\/1\.1 200 [\s\S]*doctype/);
    expect(await ask('http://localhost?x', 'host: localhost')).toMatch(/^HTTP\/1\.1 200 [\s\S]*doctype/);
  });

  test('is refused under a foreign name, whatever its Host header says', async () => {
    expect(await ask('http://evil.example/v1/models', 'host: localhost')).toMatch(/^HTTP\/1\.1 403 /);
    expect(await ask('http://x@localhost/v1/models', 'host: localhost')).toMatch(/^HTTP\/1\.1 403 /);
    expect(await ask('ftp://localhost/v1/models', 'host: localhost')).toMatch(/^HTTP\/1\.1 404 /);
  });
});

describe('a client that waits for "100 Continue" before it sends its body', () => {
  const json = '{"model":"gpt-x","input":"x"}';
  const form = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\ngpt-x\r\n--b--\r\n';

  /** Sends the body only after `100 Continue`. Returns everything received, and whether the body was sent. */
  async function ask(path: string, headers: Record<string, string>, body: string) {
    const request = http.request(gateway.origin + path, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${testKey}`,
        'content-length': body.length,
        expect: '100-continue',
        ...headers,
      },
    });
    let isSent = false;
    request.once('continue', () => {
      isSent = true;
      request.end(body);
    });
    request.flushHeaders();
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.resume();
    await once(response, 'end');
    request.destroy();
    return { status: response.statusCode, isSent };
  }

  test('gets the word where the body is wanted', async () => {
    expect(await ask('/v1/embeddings', {}, json)).toEqual({ status: 200, isSent: true });
    const type = { 'content-type': 'multipart/form-data; boundary=b' };
    expect(await ask('/v1/audio/transcriptions', type, form)).toEqual({ status: 200, isSent: true });
    const token = readFileSync(join(gateway.folder, 'admin.token'), 'utf8').trim();
    const admin = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    expect(await ask('/control/query', admin, '{"type":"status"}')).toEqual({ status: 200, isSent: true });
  });

  test('gets a refusal instead where it is not', async () => {
    expect(await ask('/v1/Nope', {}, json)).toEqual({ status: 404, isSent: false });
    expect(await ask('/v1/embeddings', { authorization: 'Bearer x' }, json)).toEqual({ status: 401, isSent: false });
    expect(await ask('/v1/embeddings', {}, ' '.repeat(5_001))).toEqual({ status: 413, isSent: false });
    expect(await ask('/v1/audio/speech', { 'content-type': 'multipart/form-data; boundary=b' }, form)).toEqual({
      status: 415,
      isSent: false,
    });
    expect(await ask('/control/query', {}, '{"type":"status"}')).toEqual({ status: 403, isSent: false });
  });
});
