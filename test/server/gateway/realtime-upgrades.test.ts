/** Requests to upgrade to another protocol, and plain requests during a realtime session. */
import http from 'node:http';
import net from 'node:net';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import {
  connectRealtime,
  type RealtimeUpstream,
  refusedHandshake,
  startRealtimeUpstream,
} from '../../support/realtime-upstream.ts';
import { geminiAt } from '../../support/sdk-clients.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeEach(async () => {
  upstream = await stopLater(startUpstream((_request, response) => json(response, { id: 'x', choices: [] })));
  gateway = await stopLater(startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] } }));
});

const authorization = `Bearer ${testKey}`;

describe('a WebSocket', () => {
  test('on the path of responses is refused with 426 at once (Trap 53: NeMo-Relay#994)', async () => {
    const { status, body, headers } = await refusedHandshake(gateway, { path: '/v1/responses' });
    expect(status).toBe(426);
    expect(body.error).toMatchObject({ type: 'invalid_request_error', code: 'upgrade_required', param: null });
    expect(headers.upgrade).toBe('HTTP/1.1');
    expect(headers['x-should-retry']).toBe('false');
    expect(upstream.seen).toEqual([]);
  });

  test.each(['/v1/chat/completions', '/openai/deployments/m/chat/completions', '/v1/videos/v1'])(
    'on %s is refused with 426',
    async (path) => {
      expect((await refusedHandshake(gateway, { path })).status).toBe(426);
    },
  );

  test.each(['/v1/realtime/x', '/v1/files', '/v1/nothing'])('on %s is refused with 404', async (path) => {
    const { status, body } = await refusedHandshake(gateway, { path });
    expect([status, body.error.code]).toEqual([404, 'unknown_url']);
    expect(upstream.seen).toEqual([]);
  });

  test('of the Responses API, as OpenAI’s SDK opens it, is told to send a plain request', async () => {
    const socket = new ResponsesWS(gateway.client, {
      createConnection: () => net.connect(Number(new URL(gateway.origin).port), '127.0.0.1'),
    });
    const { promise, resolve } = Promise.withResolvers<Error>();
    socket.on('error', resolve);
    expect((await promise).message).toContain('426');
    expect(upstream.seen).toEqual([]);
  });

  test('on a route of another API is refused with 426 in its form', async () => {
    const anthropic = await refusedHandshake(gateway, { path: '/v1/messages' });
    expect([anthropic.status, anthropic.body]).toEqual([
      426,
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.stringContaining('plain HTTP request') },
      },
    ]);
    const gemini = await refusedHandshake(gateway, { path: '/v1beta/models/m:generateContent' });
    expect([gemini.status, gemini.body.error]).toMatchObject([426, { code: 426, status: 'INVALID_ARGUMENT' }]);
  });

  test('of Gemini’s Live API, as Google’s SDK opens it, is refused with 404 in its form', async () => {
    const path = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
    const key = encodeURIComponent(testKey);
    const { status, body } = await refusedHandshake(gateway, { path: `${path}?key=${key}`, headers: {} });
    expect([status, body.error]).toMatchObject([
      404,
      { code: 404, status: 'NOT_FOUND', message: `${path} is not served over a WebSocket.` },
    ]);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const callbacks = { onmessage() {}, onerror: resolve, onclose: resolve };
    void geminiAt(gateway).live.connect({ model: 'm', callbacks });
    expect(await promise).toBeDefined();
  });

  test.each([
    ['without a version', { 'sec-websocket-version': '8' }],
    ['with a short key', { 'sec-websocket-key': 'short' }],
  ])('%s is refused with 400', async (_how, headers) => {
    const { status, body } = await upgrade('GET', { upgrade: 'websocket', ...headers });
    expect([status, JSON.parse(body).error.type]).toEqual([400, 'invalid_request_error']);
  });

  test('that a request other than GET asks for is refused', async () => {
    const { status } = await upgrade('POST', { upgrade: 'websocket' });
    expect([404, 405, 426]).toContain(status);
  });
});

describe('a plain request', () => {
  test('on the path of realtime sessions is told to upgrade', async () => {
    const response = await gateway.fetch('/realtime?model=m');
    expect(response.status).toBe(426);
    expect(response.headers.get('upgrade')).toBe('websocket');
    expect(await response.json()).toMatchObject({ error: { code: 'upgrade_required' } });
    expect(upstream.seen).toEqual([]);
  });

  test('that offers HTTP/2, as Java’s HttpClient does, is answered over HTTP/1.1', async () => {
    const body = JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: 'hi' }] });
    const headers = {
      upgrade: 'h2c',
      'http2-settings': 'AAMAAABkAAQBAAAAAAIAAAAA',
      'content-type': 'application/json',
    };
    const response = await upgrade('POST', headers, { path: '/v1/chat/completions', body });
    expect([response.status, response.body]).toEqual([200, '{"id":"x","choices":[]}']);
    expect(upstream.seen[0]?.body.toString()).toBe(body);
    expect(upstream.seen[0]?.headers.upgrade).toBeUndefined();
  });

  test.each([
    ['/realtime/client_secrets', 'application/json', '{"session":{"type":"realtime","model":"gpt-realtime"}}'],
    ['/realtime/calls', 'application/sdp', 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\n'],
    ['/realtime/calls/rtc_1/hangup', 'application/json', ''],
  ])('POST %s is passed through', async (path, type, body) => {
    upstream.answer((_request, response) => {
      response.writeHead(201, { 'content-type': 'application/sdp', location: '/v1/realtime/calls/rtc_1' }).end('v=0');
    });
    const response = await gateway.fetch(path, { method: 'POST', body, headers: { 'content-type': type } });
    expect([response.status, await response.text()]).toEqual([201, 'v=0']);
    const [seen] = upstream.seen;
    expect(seen).toMatchObject({ url: `/v1${path}`, headers: { authorization: 'Bearer upstream-secret' } });
    expect(seen?.body.toString()).toBe(body);
  });

  test('that makes a call learns where it is', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(201, { 'content-type': 'application/sdp', location: '/v1/realtime/calls/rtc_1' }).end('v=0');
    });
    const response = await gateway.fetch('/realtime/calls', { method: 'POST', body: 'v=0' });
    expect(response.headers.get('location')).toBe('/v1/realtime/calls/rtc_1');
  });
});

describe('a session of a call', () => {
  let realtime: RealtimeUpstream;
  beforeEach(async () => {
    realtime = await startRealtimeUpstream();
  });
  afterEach(() => realtime.stop());

  test('goes to the provider that gets what is passed through, as it is', async () => {
    const other = await startGateway({ config: { providers: [mainProvider(realtime.baseUrl)] } });
    const client = await connectRealtime(other, { path: '/v1/realtime?call_id=rtc_1' });
    expect(realtime.handshakes[0]?.url).toBe('/v1/realtime?call_id=rtc_1');
    client.socket.close();
    await eventually(() => client.closed);
    await other.stop();
  });

  test('is refused where the cost of a call cannot be held to a budget', async () => {
    const limits = { budgets: [{ unit: 'usd', amount: 1, per: 'day', hard: true } as const] };
    const groups = [{ id: 'default', limits }];
    const other = await startGateway({ config: { providers: [mainProvider(realtime.baseUrl)], groups } });
    const { status, body } = await refusedHandshake(other, { path: '/v1/realtime?call_id=rtc_1' });
    expect([status, body.error.code]).toEqual([403, 'price_unknown']);
    await other.stop();
  });
});

interface Answer {
  status: number | undefined;
  body: string;
}

/** Sends a request with an `Upgrade` header, and resolves with its plain answer. */
function upgrade(method: string, headers: Record<string, string>, more: { path?: string; body?: string } = {}) {
  const { path = '/v1/realtime?model=m', body = '' } = more;
  const handshake = { 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
  const all = { authorization, connection: 'Upgrade', ...handshake, ...headers };
  return new Promise<Answer>((resolve, reject) => {
    const options = { method, headers: all, createConnection: () => connection };
    const connection = net.connect(Number(new URL(gateway.origin).port), '127.0.0.1');
    const request = http.request(`${gateway.origin}${path}`, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        connection.destroy();
        resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString() });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}
