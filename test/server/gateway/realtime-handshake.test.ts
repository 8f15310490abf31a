import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { AzureOpenAI } from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { afterEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import {
  connectRealtime,
  type RealtimeUpstream,
  refusedHandshake,
  startRealtimeUpstream,
} from '../../support/realtime-upstream.ts';
import { startUpstream } from '../../support/upstream.ts';

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.stop();
});

async function upstreamOf(): Promise<RealtimeUpstream> {
  const upstream = await startRealtimeUpstream();
  running.push(upstream);
  return upstream;
}

async function gatewayOf(config: Partial<ConfigInput>, secrets = {}): Promise<TestGateway> {
  const gateway = await startGateway({ config, secrets });
  running.push(gateway);
  return gateway;
}

const plainKey = 'sk-sluice-plain';

async function start(): Promise<{ upstream: RealtimeUpstream; gateway: TestGateway }> {
  const upstream = await upstreamOf();
  const keys = [testKey, plainKey].map((key, index) => ({ id: `k${index}`, group: 'default', hash: hashOf(key) }));
  return { upstream, gateway: await gatewayOf({ providers: [mainProvider(upstream.baseUrl)], keys }) };
}

const refusal = (code: string) =>
  JSON.stringify({ error: { message: `It is ${code}.`, type: 'x', code, param: null } });

describe('the key of a realtime session', () => {
  const path = '/v1/realtime?model=gpt-realtime';

  test.each([
    ['Authorization', { headers: { authorization: `Bearer ${plainKey}` } }],
    ['api-key', { headers: { 'api-key': plainKey } }],
    ['x-api-key', { headers: { 'x-api-key': plainKey } }],
    ['the query', { headers: {}, path: `${path}&key=${plainKey}` }],
    ['a subprotocol', { headers: {}, protocols: ['realtime', `openai-insecure-api-key.${plainKey}`] }],
  ])('may be sent in %s, and does not reach the upstream', async (_where, options) => {
    const { upstream, gateway } = await start();
    const client = await connectRealtime(gateway, { path, ...options });
    const [handshake] = upstream.handshakes;
    expect(handshake?.headers.authorization).toBe('Bearer upstream-secret');
    expect(handshake?.url).toBe(path);
    expect(JSON.stringify([handshake?.url, handshake?.rawHeaders])).not.toContain(plainKey);
    client.socket.close();
  });

  test('is not confirmed as a subprotocol, but "realtime" is', async () => {
    const { upstream, gateway } = await start();
    const protocols = [`openai-insecure-api-key.${plainKey}`, 'realtime', 'openai-beta.realtime-v1'];
    const client = await connectRealtime(gateway, { headers: {}, protocols });
    expect(client.socket.protocol).toBe('realtime');
    expect(client.socket.extensions).toBe('');
    expect(upstream.handshakes[0]?.headers['sec-websocket-protocol']).toBeUndefined();
    client.socket.close();
  });

  test('is required: without it, 401 in OpenAI’s format, and no upstream is asked', async () => {
    const { upstream, gateway } = await start();
    const { status, body, headers } = await refusedHandshake(gateway, { headers: {} });
    expect(status).toBe(401);
    expect(body.error).toMatchObject({ type: 'invalid_request_error', code: null });
    expect(headers['x-request-id']).toMatch(/^req_/);
    expect(headers.connection).toBe('close');
    expect(upstream.handshakes).toEqual([]);
  });

  test('is checked: a wrong one gets 401', async () => {
    const { gateway } = await start();
    const { status, body } = await refusedHandshake(gateway, { headers: { authorization: 'Bearer sk-wrong' } });
    expect([status, body.error.code]).toEqual([401, 'invalid_api_key']);
  });
});

describe('the handshake of a realtime session', () => {
  test.each([
    ['a foreign page', { origin: 'https://evil.example' }, 403, 'origin_not_allowed'],
    ['a name that is not this machine’s', { host: 'evil.example' }, 403, 'host_not_allowed'],
    ['a gateway that has passed it on too often', { 'x-sluice-hops': '9' }, 508, 'loop_detected'],
  ])('from %s is refused', async (_from, headers, status, code) => {
    const { upstream, gateway } = await start();
    const all = { authorization: `Bearer ${testKey}`, ...headers };
    const refused = await refusedHandshake(gateway, { headers: all });
    expect([refused.status, refused.body.error.code]).toEqual([status, code]);
    expect(upstream.handshakes).toEqual([]);
  });

  test.each([
    ['two models', '?model=a&model=b', 400, 'invalid_value'],
    ['a model and a deployment', '?model=a&deployment=b', 400, 'invalid_value'],
    ['the key as model', `?model=${encodeURIComponent(testKey)}`, 400, 'invalid_value'],
    ['a path as model', '?model=..', 404, 'model_not_found'],
  ])('with %s is refused', async (_what, query, status, code) => {
    const { upstream, gateway } = await start();
    const refused = await refusedHandshake(gateway, { path: `/v1/realtime${query}` });
    expect([refused.status, refused.body.error.code]).toEqual([status, code]);
    expect(upstream.handshakes).toEqual([]);
  });

  test('for an unknown model is refused as a request for it is', async () => {
    const upstream = await upstreamOf();
    const provider = { ...mainProvider(upstream.baseUrl), models: ['gpt-realtime'] };
    const gateway = await gatewayOf({ providers: [provider] });
    const refused = await refusedHandshake(gateway, { path: '/v1/realtime?model=gpt-realtme' });
    expect([refused.status, refused.body.error.code]).toEqual([404, 'model_not_found']);
    expect(refused.body.error.message).toContain('Did you mean "gpt-realtime"?');
    expect(await gateway.record()).toMatchObject({ route: '/v1/realtime', outcome: 'error', status: 404 });
  });

  test('needs no model where one provider alone can be meant', async () => {
    const { upstream, gateway } = await start();
    const client = await connectRealtime(gateway, { path: '/v1/realtime?intent=transcription' });
    expect(upstream.handshakes[0]?.url).toBe('/v1/realtime?intent=transcription');
    client.socket.close();
  });

  test('reaches the upstream with what is no fragment there', async () => {
    const { upstream, gateway } = await start();
    const handshake = {
      authorization: `Bearer ${testKey}`,
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    };
    // `ws` refuses to send such an address.
    const request = http.get(`${gateway.origin}/`, { path: '/v1/realtime?intent=a#b', headers: handshake });
    const [response, socket] = await once(request, 'upgrade');
    expect(response.statusCode).toBe(101);
    expect(upstream.handshakes[0]?.url).toBe('/v1/realtime?intent=a%23b');
    socket.destroy();
  });

  test('passes the client’s own headers on, but those of the connection', async () => {
    const { upstream, gateway } = await start();
    const headers = {
      authorization: `Bearer ${testKey}`,
      'OpenAI-Beta': 'realtime=v1',
      'openai-organization': 'org-x',
    };
    const client = await connectRealtime(gateway, { headers });
    const seen = upstream.handshakes[0]?.headers;
    expect(seen?.['openai-beta']).toBe('realtime=v1');
    expect(seen?.['openai-organization']).toBeUndefined();
    expect(seen?.host).toBe(new URL(upstream.origin).host);
    expect(seen?.['sec-websocket-extensions']).toBeUndefined();
    client.socket.close();
  });

  test('goes to the target of an alias, by its name there', async () => {
    const upstream = await upstreamOf();
    const gateway = await gatewayOf({
      providers: [mainProvider(upstream.baseUrl)],
      aliases: [{ name: 'voice', targets: [{ provider: 'main', model: 'gpt realtime/2' }] }],
    });
    const client = await connectRealtime(gateway, { path: '/v1/realtime?a=1&model=voice&b=2' });
    expect(upstream.handshakes[0]?.url).toBe('/v1/realtime?model=gpt%20realtime%2F2&a=1&b=2');
    client.socket.close();
  });

  test('whose client leaves ends the handshake with the upstream', async () => {
    const silent = net.createServer();
    const arrived = Promise.withResolvers<net.Socket>();
    silent.on('connection', (socket) => arrived.resolve(socket.on('error', () => {})));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    running.push({ stop: () => new Promise((resolve) => silent.close(() => resolve())) });
    const { port } = silent.address() as net.AddressInfo;
    const gateway = await gatewayOf({ providers: [mainProvider(`http://127.0.0.1:${port}/v1`)] });
    const client = net.connect(Number(new URL(gateway.origin).port), '127.0.0.1');
    const lines = ['GET /v1/realtime?model=m HTTP/1.1', 'host: 127.0.0.1', `authorization: Bearer ${testKey}`];
    const handshake = ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'];
    client.write(`${[...lines, ...handshake, 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==', '', ''].join('\r\n')}`);
    const upstream = await arrived.promise;
    const ended = new Promise((resolve) => upstream.once('close', resolve));
    upstream.resume();
    client.end();
    await ended;
    expect(await gateway.record()).toMatchObject({ outcome: 'client-gone', status: null });
  });
});

describe('an upstream that refuses the handshake', () => {
  test.each([401, 404, 429, 500])('with %d makes way for the next target', async (status) => {
    const [first, second] = [await upstreamOf(), await upstreamOf()];
    first.refuse({ status, body: refusal('bad') });
    const gateway = await gatewayOf(
      { providers: [mainProvider(first.baseUrl), { ...mainProvider(second.baseUrl), id: 'other' }] },
      { 'provider/other/c1': 'other-secret' },
    );
    const client = await connectRealtime(gateway);
    expect(first.handshakes.length).toBeGreaterThan(0);
    expect(second.handshakes[0]?.headers.authorization).toBe('Bearer other-secret');
    client.socket.close();
    const record = await eventually(async () => gateway.record());
    expect(record).toMatchObject({ outcome: 'ok', status: 101, provider: 'other', costUsd: 0 });
    expect(record.attempts[0]).toMatchObject({ provider: 'main', status });
  });

  test('is quoted if no other one is left', async () => {
    const { upstream, gateway } = await start();
    upstream.refuse({ status: 400, body: refusal('invalid_model'), headers: { 'x-request-id': 'req_theirs' } });
    const { status, body, headers } = await refusedHandshake(gateway);
    expect(status).toBe(400);
    expect(body).toEqual(JSON.parse(refusal('invalid_model')));
    expect(headers['x-request-id']).toBe('req_theirs');
    expect(await gateway.record()).toMatchObject({ outcome: 'error', status: 400, errorCode: 'invalid_model' });
  });

  test('because of its credential does not blame the client’s key', async () => {
    const { upstream, gateway } = await start();
    upstream.refuse({ status: 401, body: refusal('invalid_api_key') });
    const { status, body } = await refusedHandshake(gateway);
    expect([status, body.error.code]).toEqual([502, 'provider_credential_refused']);
  });

  test('by the answer of an ordinary web server is reported as not an API', async () => {
    const web = await startUpstream((_request, response) => {
      response.end('<html>hello</html>');
    });
    running.push(web);
    const gateway = await gatewayOf({ providers: [mainProvider(web.baseUrl)] });
    const { status, body } = await refusedHandshake(gateway);
    expect([status, body.error.code]).toEqual([502, 'upstream_malformed']);
    expect(body.error.message).toContain('answered the WebSocket handshake with status 200');
  });

  test('by being unreachable is a 502', async () => {
    const gone = await startRealtimeUpstream();
    await gone.stop();
    const gateway = await gatewayOf({ providers: [mainProvider(gone.baseUrl)], groups: [noRetries] });
    const { status, body } = await refusedHandshake(gateway);
    expect([status, body.error.code]).toEqual([502, 'upstream_unreachable']);
  });

  test('by not responding is a 504', async () => {
    const silent = await startUpstream(() => {});
    running.push(silent);
    const timeouts = { firstByteMs: 50 };
    const gateway = await gatewayOf({ providers: [mainProvider(silent.baseUrl, { timeouts })], groups: [noRetries] });
    const { status, body } = await refusedHandshake(gateway);
    expect([status, body.error.code]).toEqual([504, 'upstream_timeout']);
  });
});

const noRetries = { id: 'default', policy: { retries: 0, fallbacks: 0 } };

describe('Azure', () => {
  test('is asked by its own address and key, in the v1 API', async () => {
    const upstream = await upstreamOf();
    const provider = mainProvider(`${upstream.origin}/openai/v1`, { dialect: 'azure' });
    const client = await connectRealtime(await gatewayOf({ providers: [provider] }));
    expect(upstream.handshakes[0]?.url).toBe('/openai/v1/realtime?model=gpt-realtime');
    expect(upstream.handshakes[0]?.headers['api-key']).toBe('upstream-secret');
    client.socket.close();
  });

  test('is asked for a deployment in the classic API', async () => {
    const upstream = await upstreamOf();
    const provider = mainProvider(upstream.origin, { dialect: 'azure', apiVersion: '2024-10-01-preview' });
    const client = await connectRealtime(await gatewayOf({ providers: [provider] }));
    const url = '/openai/realtime?deployment=gpt-realtime&api-version=2024-10-01-preview';
    expect(upstream.handshakes[0]?.url).toBe(url);
    client.socket.close();
  });

  test.each([
    ['classic', '/openai/realtime?api-version=2024-10-01-preview&deployment=gpt-realtime'],
    ['v1', '/openai/v1/realtime?model=gpt-realtime'],
  ])('can be called by clients of its %s API', async (_api, path) => {
    const { upstream, gateway } = await start();
    const client = await connectRealtime(gateway, { path, headers: { 'api-key': plainKey } });
    expect(upstream.handshakes[0]?.url).toBe('/v1/realtime?model=gpt-realtime');
    client.socket.close();
  });

  test('can be called by its client in the official SDK', async () => {
    const { upstream, gateway } = await start();
    const port = Number(new URL(gateway.origin).port);
    const azure = new AzureOpenAI({ endpoint: gateway.origin, apiKey: plainKey, apiVersion: '2025-04-01-preview' });
    const client = await OpenAIRealtimeWS.azure(azure, {
      deploymentName: 'gpt-realtime',
      options: { createConnection: () => net.connect(port, '127.0.0.1') },
    });
    client.on('error', () => {});
    await new Promise((resolve) => client.socket.once('open', resolve));
    expect(upstream.handshakes[0]?.url).toBe('/v1/realtime?model=gpt-realtime');
    client.close();
  });
});
