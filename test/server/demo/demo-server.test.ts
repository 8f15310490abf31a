/** The demo as a server: its secret, its errors, and connections that break. `e2e/demo-routes` asks all its routes. */
import { once } from 'node:events';
import { connect } from 'node:net';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoModelIds, startDemoServer } from '../../../server/demo/demo-server.ts';
import { collect, type DemoHarness, startHarness } from './harness.ts';

describe('the demo server', () => {
  let harness: DemoHarness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.demo.stop());

  it('lists its models', async () => {
    const models = await collect(harness.client.models.list());
    expect(models.map(({ id }) => id)).toEqual(demoModelIds);
    expect(models[0]).toMatchObject({ id: 'demo-chat', object: 'model', owned_by: 'sluice-demo' });
  });

  it('listens on loopback and has another secret each time', async () => {
    const other = await startDemoServer();
    expect(other.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(other.secret).not.toBe(harness.demo.secret);
    await other.stop();
  });

  it.each([{}, { authorization: 'Bearer wrong' }, { authorization: 'Bearer ' }])('refuses %j', async (headers) => {
    const response = await fetch(`${harness.demo.baseUrl}/models`, { headers });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
  });

  it.each([
    ['GET', '/nothing'],
    ['POST', '/chat/completions/extra'],
    ['GET', '/chat/completions'],
    ['POST', '/moderations'],
    ['GET', '/videos'],
    ['GET', '/videos/__proto__/toString'],
    ['GET', '/models/%E0%A4%A'],
  ])('answers %s %s, which it does not serve, with an error and a request id', async (method, path) => {
    const response = await harness.request(method, path, method === 'POST' ? {} : undefined);
    expect(response.status).toBe(404);
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    const message = expect.stringContaining('does not serve');
    const type = 'invalid_request_error';
    expect(await response.json()).toEqual({ error: { message, type, param: null, code: 'unknown_url' } });
  });

  it.each(['{"model":', '[]', '"text"', ''])('refuses the JSON body %s', async (body) => {
    const response = await sendRaw('/chat/completions', 'application/json', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it('refuses a form whose end is missing', async () => {
    const half = '--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nhalf';
    expect((await sendRaw('/videos', 'multipart/form-data; boundary=b', half)).status).toBe(400);
  });

  function sendRaw(path: string, contentType: string, body: string): Promise<Response> {
    const headers = { authorization: `Bearer ${harness.demo.secret}`, 'content-type': contentType };
    return fetch(harness.demo.baseUrl + path, { method: 'POST', headers, body });
  }

  it('survives fields of any type', async () => {
    const oddValues = [null, -1, 0.5, 'x', true, [], [[]], [null], {}, { role: 'user' }];
    const names = ['messages', 'model', 'max_tokens', 'stream_options', 'response_format', 'input', 'dimensions'];
    const more = ['encoding_format', 'size', 'stream_format', 'seconds', 'prompt', 'n'];
    for (const path of ['chat/completions', 'embeddings', 'images/generations', 'audio/speech', 'videos']) {
      for (const name of [...names, ...more]) {
        for (const value of oddValues) {
          const size = name === 'size' ? {} : { size: '8x8' };
          const response = await harness.request('POST', `/${path}`, { input: 'x', ...size, [name]: value });
          expect(response.status, `${path} ${name} ${JSON.stringify(value)}`).toBeLessThan(500);
          await response.arrayBuffer();
        }
      }
    }
  });

  it('is a 500 in the shape of OpenAI where a route fails', async () => {
    const demo = await startDemoServer({
      now: () => {
        throw new Error('the clock stands still');
      },
    });
    const client = new OpenAI({ baseURL: demo.baseUrl, apiKey: demo.secret, maxRetries: 0 });
    const failing = client.videos.create({ prompt: 'x' });
    await expect(failing).rejects.toMatchObject({
      status: 500,
      type: 'server_error',
      message: /the clock stands still/,
    });
    await demo.stop();
  });

  it('goes on when a client hangs up in a stream or in its own body', async () => {
    const request = { model: 'demo-chat', messages: [{ role: 'user' as const, content: 'Hello' }] };
    const stream = await harness.client.chat.completions.create({ ...request, stream: true });
    for await (const _ of stream) break;
    const socket = connect(Number(new URL(harness.demo.baseUrl).port), '127.0.0.1');
    const head = `POST /v1/embeddings HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${harness.demo.secret}\r\n`;
    socket.write(`${head}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{`, () => socket.destroy());
    await once(socket, 'close');
    expect((await harness.client.chat.completions.create(request)).choices).toHaveLength(1);
  });

  it('cuts the connections of running streams when it stops', async () => {
    const other = await startDemoServer();
    const client = new OpenAI({ baseURL: other.baseUrl, apiKey: other.secret, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    const stream = await client.chat.completions.create({ model: 'demo-chat', messages, stream: true });
    await expect(
      (async () => {
        for await (const _ of stream) await other.stop();
      })(),
    ).rejects.toThrow();
  });
});
