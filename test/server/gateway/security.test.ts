import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listen } from '../../../server/http/server.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
const page = 'https://app.example';

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      providers: [mainProvider(upstream.baseUrl)],
      settings: {
        allowedOrigins: [page, 'http://devbox.example:*', 'vscode-webview://*', 'https://*.apps.example'],
        allowedHosts: ['nas.local', '*.tunnel.example', '192.168.7.0/24'],
      },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

interface Reply {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
}

/** Unlike fetch, it can set Host and Origin freely. */
async function ask(path: string, headers: Record<string, string>, method = 'GET'): Promise<Reply> {
  const request = http.request(gateway.origin + path, { method, agent: false, headers });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let body = '';
  for await (const piece of response) body += piece;
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

const authorization = `Bearer ${testKey}`;
const paths = ['/v1/models', '/v1/nope', '/healthz', '/'];

describe('a request under another name than loopback (DNS rebinding)', () => {
  test.each(paths)('is refused on %s', async (path) => {
    for (const host of [
      'evil.example',
      'evil.example:4810',
      '127.0.0.1.evil.example',
      'localhost.evil.example',
      '10.0.0.1',
    ]) {
      const reply = await ask(path, { host, authorization });
      expect([host, reply.status]).toEqual([host, 403]);
      expect(JSON.parse(reply.body)).toMatchObject({ error: { code: 'host_not_allowed' } });
      expect(reply.headers['x-request-id']).toMatch(/^req_/);
    }
  });

  test('is served under every name of loopback, and under names that were allowed', async () => {
    for (const host of [
      'localhost',
      'LOCALHOST:1',
      '127.0.0.1:4810',
      '127.8.8.8',
      '[::1]:4810',
      'app.localhost',
      'nas.local:80',
    ]) {
      expect([host, (await ask('/v1/models', { host, authorization })).status]).toEqual([host, 200]);
    }
  });
});

describe('a web page', () => {
  const foreign = [
    'https://evil.example',
    'null',
    'http://localhost:3000',
    `${page}.evil.example`,
    'https://APP.example:1',
  ];

  test.each(foreign)('of %s is refused and never named as allowed', async (origin) => {
    const refused = await ask('/v1/models', { origin, authorization });
    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.body)).toMatchObject({ error: { code: 'origin_not_allowed' } });
    const asked = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    const preflight = await ask('/v1/chat/completions', asked, 'OPTIONS');
    expect(preflight.status).toBe(403);
    for (const { headers } of [refused, preflight]) {
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  test.each(['http://devbox.example:5173', 'vscode-webview://1h0vq6o2rqlv3e9c', 'https://a.apps.example'])(
    'of %s is allowed by a pattern: for VS Code each panel has an origin of its own',
    async (origin) => {
      const asked = { origin, 'access-control-request-method': 'POST' };
      const preflight = await ask('/v1/chat/completions', asked, 'OPTIONS');
      expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, origin]);
      const called = await ask('/v1/models', { origin, authorization });
      expect([called.status, called.headers['access-control-allow-origin']]).toEqual([200, origin]);
    },
  );

  test('that is allowed may also call from the public internet, where a browser asks for that (Private Network Access)', async () => {
    const asked = { 'access-control-request-method': 'POST', 'access-control-request-private-network': 'true' };
    const granted = async (path: string, origin: string, headers: Record<string, string> = asked) => {
      const preflight = await ask(path, { origin, ...headers }, 'OPTIONS');
      return [preflight.status, preflight.headers['access-control-allow-private-network']];
    };
    for (const path of ['/v1/chat/completions', '/v1/messages', '/v1beta/models/m:generateContent', '/v1/models']) {
      expect(await granted(path, page)).toEqual([204, 'true']);
      expect(await granted(path, page, { 'access-control-request-method': 'POST' })).toEqual([204, undefined]);
      expect(await granted(path, 'https://evil.example')).toEqual([403, undefined]);
    }
    const called = await ask('/v1/models', { origin: page, authorization, ...asked });
    expect(called.headers['access-control-allow-private-network']).toBeUndefined();
  });

  test.each([
    ['a.tunnel.example', 200],
    ['192.168.7.9:4810', 200],
    ['tunnel.example', 403],
    ['192.168.8.9', 403],
    ['192.168.7.9.example', 403],
  ])('under the host name %s is answered with %i', async (host, status) => {
    expect((await ask('/v1/models', { host, authorization })).status).toBe(status);
  });

  test('that is allowed may ask before and call then', async () => {
    const asked = {
      origin: page,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
    };
    const preflight = await ask('/v1/chat/completions', asked, 'OPTIONS');
    expect([preflight.status, preflight.body]).toEqual([204, '']);
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': 'authorization,content-type,x-stainless-lang',
      'access-control-max-age': '600',
      vary: 'origin',
    });
    upstream.answer((_request, response) => json(response, { ok: true }, 200, { 'access-control-allow-origin': '*' }));
    const called = await ask('/v1/models', { origin: page, authorization });
    expect([called.status, called.headers['access-control-allow-origin'], called.headers.vary]).toEqual([
      200,
      page,
      'origin',
    ]);
    expect(called.headers['access-control-expose-headers']).toContain('*');
    const response = await fetch(`${gateway.baseUrl}/embeddings`, {
      method: 'POST',
      headers: { origin: page, authorization },
      body: '{"model":"gpt-x"}',
    });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, page]);
    expect(upstream.seen.at(-1)?.headers.origin).toBeUndefined();
  });

  test('that is allowed can read errors too', async () => {
    const refused = await ask('/v1/models', { origin: page });
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, page]);
  });

  test('that is allowed to call cannot reach anything else', async () => {
    const healthz = await ask('/healthz', { origin: page });
    expect(healthz.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('of Sluice itself may call', async () => {
    const { status } = await ask('/v1/models', { origin: gateway.origin, authorization });
    expect(status).toBe(200);
  });
});

test('an OPTIONS request that is no preflight is a wrong method', async () => {
  expect((await ask('/v1/chat/completions', { authorization }, 'OPTIONS')).status).toBe(405);
});

describe('secrets', () => {
  test('of the client stop here, those of the upstream too', async () => {
    upstream.answer((request, response) => {
      response.setHeader('authorization', request.headers.authorization ?? '');
      response.setHeader('x-echo', request.headers.authorization ?? '');
      response.setHeader('set-cookie', `k=${request.headers.authorization}`);
      json(response, { ok: true });
    });
    const response = await gateway.fetch('/embeddings', {
      method: 'POST',
      headers: { cookie: `session=${testKey}`, 'proxy-authorization': testKey },
      body: '{"model":"gpt-x"}',
    });
    expect(await response.json()).toEqual({ ok: true });
    expect(JSON.stringify([...response.headers])).not.toContain('upstream-secret');
    expect(JSON.stringify(upstream.seen.at(-1)?.headers)).not.toContain(testKey);
    const record = await gateway.record(response.headers.get('x-request-id') ?? '');
    expect(JSON.stringify(record)).not.toMatch(new RegExp(`upstream-secret|${testKey}`));
  });
});

describe('a request that goes in circles', () => {
  test('ends with 508', async () => {
    let rounds = 0;
    upstream.answer((request, response) => {
      rounds++;
      const headers = { ...request.headers, authorization, host: 'localhost' };
      const again = http.request(
        `${gateway.origin}${request.url}`,
        { method: 'POST', headers, agent: false },
        (reply) => {
          response.writeHead(reply.statusCode ?? 500, { 'content-type': 'application/json' });
          reply.pipe(response);
        },
      );
      again.on('error', () => response.destroy());
      again.end(request.body);
    });
    const response = await gateway.fetch('/embeddings', { method: 'POST', body: '{"model":"gpt-x"}' });
    expect(response.status).toBe(508);
    expect(await response.json()).toMatchObject({ error: { type: 'server_error', code: 'loop_detected' } });
    expect(rounds).toBe(4);
  });

  test('is marked as not worth a retry', async () => {
    const reply = await ask('/v1/models', { authorization, 'x-sluice-hops': '4' });
    expect([reply.status, reply.headers['x-should-retry']]).toEqual([508, 'false']);
    expect((await ask('/v1/models', { authorization, 'x-sluice-hops': '3' })).status).toBe(200);
    expect((await ask('/v1/models', { authorization, 'x-sluice-hops': '-9, x' })).status).toBe(200);
  });

  test('cannot begin where a base URL names Sluice itself', async () => {
    const free = await startUpstream();
    const port = Number(new URL(free.origin).port);
    await free.stop();
    const own = await startGateway({
      config: { providers: [{ id: 'main', baseUrl: `http://localhost:${port}/v1`, models: ['*'] }] },
      ports: { listen: { host: '127.0.0.1', port } },
    });
    const response = await own.fetch('/embeddings', { method: 'POST', body: '{"model":"x"}' });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining('leads back to Sluice') },
    });
    await own.stop();
  });
});

/** Sends text unchanged, and returns everything received until the server closes the connection. */
async function raw(text: string, port = Number(new URL(gateway.origin).port)): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(text);
  let got = '';
  for await (const piece of socket) got += piece;
  return got;
}

describe('what is not proper HTTP', () => {
  const start = `POST /v1/embeddings HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n`;
  const smuggled = 'GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n';

  test.each([
    [
      'length and chunks together',
      `${start}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    ['two lengths', `${start}content-length: 4\r\ncontent-length: 50\r\n\r\nabcd${smuggled}`],
    ['a length with a sign', `${start}content-length: +4\r\n\r\nabcd`],
    ['a space before the colon', `${start}content-length : 4\r\n\r\nabcd`],
    ['a chunk size that is none', `${start}transfer-encoding: chunked\r\n\r\nzz\r\n\r\n${smuggled}`],
    ['chunked in disguise', `${start}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['a folded header', `${start}x-a: b\r\n c: d\r\ncontent-length: x\r\n\r\n`],
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ])('is refused, and nothing behind it is read: %s', async (_name, text) => {
    const before = upstream.seen.length;
    const got = await raw(text);
    expect(got).toMatch(/^HTTP\/1\.1 400 /);
    expect(got.match(/HTTP\/1\.1/g)).toHaveLength(1);
    const [head = '', body = ''] = got.split('\r\n\r\n');
    expect(JSON.parse(body)).toMatchObject({ error: { type: 'invalid_request_error', code: null } });
    expect(head).toMatch(/x-request-id: req_[0-9a-f]{32}/);
    expect(upstream.seen).toHaveLength(before);
  });

  test('with headers past 32 kB is 431', async () => {
    const got = await raw(`${start}x-large: ${'a'.repeat(40_000)}\r\n\r\n`);
    expect(got).toMatch(/^HTTP\/1\.1 431 /);
    expect(got).toContain('"code":"headers_too_large"');
    expect(await raw(`GET /v1/${'a'.repeat(40_000)} HTTP/1.1\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
  });
});

test('a sender whose headers do not come to an end is cut off', async () => {
  const server = await listen((_request, response) => response.end(), {
    host: '127.0.0.1',
    port: 0,
    headersTimeoutMs: 150,
  });
  const got = await raw('GET / HTTP/1.1\r\nhost: localhost\r\nx-slow:', server.port);
  expect(got).toMatch(/^HTTP\/1\.1 408 /);
  expect(got).toContain('"code":"request_timeout"');
  expect(got).toContain('x-should-retry: false');
  await server.stop(0);
});

test('keys are looked up by their hash alone, so a hash is no key', async () => {
  expect((await ask('/v1/models', { authorization: `Bearer ${hashOf(testKey)}` })).status).toBe(401);
  expect((await ask('/v1/models', { authorization: `Bearer ${hashOf(testKey).slice(7)}` })).status).toBe(401);
});

test('a flood of requests without a valid key makes no rows, sums or events; with one they keep their rows', async () => {
  const heard: string[] = [];
  const stopHearing = gateway.gateway.onEvent(({ event }) => heard.push(event.type));
  const rows = async () => (await gateway.gateway.query({ type: 'requests', limit: 1000 })).requests;
  const before = (await rows()).length;
  const sumsBefore = await gateway.gateway.query({ type: 'usage', by: 'key' });
  const countOf = async (reason: string) =>
    (await gateway.gateway.query({ type: 'refusals' })).find((each) => each.reason === reason)?.requests ?? 0;
  const [foreign, unknown] = [await countOf('origin_not_allowed'), await countOf('unknown_url')];
  for (let index = 0; index < 50; index++) {
    await ask('/v1/models', { origin: 'https://evil.example', 'user-agent': 'Mozilla' });
    await ask(`/v1/Nope/${index}`, { 'user-agent': 'scanner' });
  }
  expect(await rows()).toHaveLength(before);
  expect(await gateway.gateway.query({ type: 'usage', by: 'key' })).toEqual(sumsBefore);
  expect(heard.filter((type) => type.startsWith('request-'))).toEqual([]);
  expect([await countOf('origin_not_allowed'), await countOf('unknown_url')]).toEqual([foreign + 50, unknown + 50]);

  await ask('/v1/models', { origin: 'https://evil.example', authorization });
  await ask('/v1/Nope', { authorization });
  const [notFound, refused, ...others] = await rows();
  expect([notFound, refused]).toMatchObject([
    { keyId: 'k1', errorCode: 'unknown_url' },
    { keyId: 'k1', errorCode: 'origin_not_allowed' },
  ]);
  expect(others).toHaveLength(before);
  expect(await countOf('origin_not_allowed')).toBe(foreign + 50);
  stopHearing();
});
