import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { type ScriptedUpstream, json as sendJson, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
/** Answers the requests that are waiting at the upstream. */
let release: () => void;

beforeEach(async () => {
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  upstream = await startUpstream(async (_request, response) => {
    await released;
    sendJson(response, { object: 'chat.completion', choices: [{ message: { role: 'assistant', content: 'a' } }] });
  });
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] } });
});
afterEach(async () => {
  release();
  await gateway.stop();
  await upstream.stop();
});

async function get(path: string, options: http.RequestOptions = {}): Promise<IncomingMessage> {
  const [response] = await once(http.get(new URL(path, gateway.origin), options), 'response');
  return response;
}

async function chat(agent: http.Agent): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
  const request = http.request(`${gateway.baseUrl}/chat/completions`, { method: 'POST', agent, headers });
  request.end(JSON.stringify({ model: 'gpt-x', messages: [] }));
  const [response] = await once(request, 'response');
  return response.resume();
}

describe('probes', () => {
  test('are answered whatever the Host header is, and reveal nothing', async () => {
    for (const path of ['/livez', '/readyz']) {
      const response = await get(path, { headers: { host: '10.1.2.3:4810' } });
      expect([response.statusCode, await json(response)], path).toEqual([200, { status: 'ok' }]);
    }
    expect((await get('/healthz', { headers: { host: '10.1.2.3:4810' } })).statusCode).toBe(403);
  });
});

describe('a gateway that drains', () => {
  test('is alive but not ready, and still serves, each time on a connection that ends', async () => {
    gateway.gateway.drain();
    expect((await get('/livez')).statusCode).toBe(200);
    const ready = await get('/readyz');
    expect([ready.statusCode, await json(ready)]).toEqual([503, { status: 'draining' }]);
    release();
    const agent = new http.Agent({ keepAlive: true });
    const served = await chat(agent);
    expect([served.statusCode, served.headers.connection]).toEqual([200, 'close']);
    agent.destroy();
  });

  test('serves a next request on a connection that waited for it', async () => {
    const agent = new http.Agent({ keepAlive: true });
    const before = await get('/livez', { agent });
    const { localPort } = before.socket;
    const isFree = once(agent, 'free');
    before.resume();
    await isFree;
    gateway.gateway.drain();
    const next = await get('/livez', { agent });
    expect([next.socket.localPort, next.headers.connection]).toEqual([localPort, 'close']);
    next.resume();
  });

  test('cuts off no client that sends request after request on one connection', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const first = chat(agent);
    // They wait in the agent for its only connection.
    const following = Array.from({ length: 5 }, () => chat(agent));
    await eventually(() => upstream.seen.length === 1);
    gateway.gateway.drain();
    release();
    for (const response of await Promise.all([first, ...following])) expect(response.statusCode).toBe(200);
    expect(upstream.seen).toHaveLength(6);
    agent.destroy();
  });
});
