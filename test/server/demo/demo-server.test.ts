import { once } from 'node:events';
import { connect } from 'node:net';
import OpenAI, { AuthenticationError, NotFoundError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoModelFor, demoModels, startDemoServer } from '../../../server/demo/demo-server.ts';
import { collect, type DemoHarness, startHarness } from './harness.ts';

describe('the demo server', () => {
  let harness: DemoHarness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.demo.stop());

  it('lists its six models', async () => {
    const models = await collect(harness.client.models.list());
    expect(models.map((model) => model.id)).toEqual([
      'demo-chat',
      'demo-embedding',
      'demo-image',
      'demo-speech',
      'demo-transcribe',
      'demo-video',
    ]);
    expect(models[0]).toEqual({ id: 'demo-chat', object: 'model', created: 1_767_225_600, owned_by: 'sluice-demo' });
  });

  it('names a listed model for every capability', () => {
    const listed = new Set(demoModels.map((model) => model.id));
    expect(Object.values(demoModelFor).filter((id) => !listed.has(id))).toEqual([]);
  });

  it('gives one model, and 404 for an unknown one', async () => {
    expect(await harness.client.models.retrieve('demo-chat')).toEqual(demoModels[0]);
    const error = await harness.client.models.retrieve('no/such').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: 'model_not_found', type: 'invalid_request_error' });
  });

  it('listens on loopback and has another secret each time', async () => {
    const other = await startDemoServer();
    expect(other.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(other.secret).not.toBe(harness.demo.secret);
    await other.stop();
  });

  it.each(['wrong', 'demo-'])('refuses the secret "%s"', async (apiKey) => {
    const stranger = new OpenAI({ baseURL: harness.demo.baseUrl, apiKey, maxRetries: 0 });
    const error = await stranger.models.list().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ code: 'invalid_api_key' });
  });

  it('refuses a request without any secret', async () => {
    expect((await fetch(`${harness.demo.baseUrl}/models`)).status).toBe(401);
  });

  it('gives every answer a request id, errors too', async () => {
    for (const path of ['/models', '/nothing']) {
      const response = await harness.request('GET', path);
      expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    }
  });

  it.each([
    ['GET', '/nothing', 404, 'unknown_url'],
    ['POST', '/chat/completions/extra', 404, 'unknown_url'],
    ['GET', '/chat/completions', 405, 'method_not_allowed'],
    ['DELETE', '/models', 405, 'method_not_allowed'],
    ['GET', '/models/%E0%A4%A', 404, null],
  ])('answers %s %s with %i in the shape of OpenAI', async (method, path, status, code) => {
    const response = await harness.request(method, path);
    expect(response.status).toBe(status);
    const message = expect.any(String);
    expect(await response.json()).toEqual({ error: { message, type: 'invalid_request_error', param: null, code } });
  });

  it.each(['{"model":', '[]', '"text"', ''])('refuses the JSON body %s', async (body) => {
    const response = await fetch(`${harness.demo.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${harness.demo.secret}`, 'content-type': 'application/json' },
      body,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param: null, code: null } });
  });

  it('refuses a form whose end is missing', async () => {
    const response = await fetch(`${harness.demo.baseUrl}/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${harness.demo.secret}`, 'content-type': 'multipart/form-data; boundary=b' },
      body: '--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nhalf',
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { message: 'Could not parse multipart form.' } });
  });

  it.each([
    ['/chat/completions', 404],
    ['/embeddings', 404],
    ['/audio/speech', 404],
    ['/responses', 400],
    ['/images/generations', 400],
  ])('answers an unknown model on %s with %i model_not_found', async (path, status) => {
    const response = await harness.request('POST', path, { model: 'gpt-9', prompt: 'x', input: 'x', messages: [] });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code: 'model_not_found', param: 'model' } });
  });

  it.each(['/chat/completions', '/embeddings', '/responses', '/audio/speech', '/completions'])(
    'asks for the model on %s',
    async (path) => {
      const response = await harness.request('POST', path, { input: 'x' });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { message: 'You must provide a model parameter.', code: null },
      });
    },
  );

  it('goes on when a client hangs up in a stream or in its own body', async () => {
    const request = { model: 'demo-chat', messages: [{ role: 'user' as const, content: 'word '.repeat(100) }] };
    const stream = await harness.client.chat.completions.create({ ...request, stream: true });
    for await (const _ of stream) break;
    const socket = connect(Number(new URL(harness.demo.baseUrl).port), '127.0.0.1');
    const head = `POST /v1/embeddings HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${harness.demo.secret}\r\n`;
    socket.write(`${head}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{`, () => socket.destroy());
    await once(socket, 'close');
    expect((await harness.client.chat.completions.create(request)).choices).toHaveLength(1);
  });

  it('sends a stream whole to a client that reads slowly', async () => {
    const body = { model: 'demo-speech', voice: 'nova', input: 'slow '.repeat(400), stream_format: 'sse' };
    const response = await harness.request('POST', '/audio/speech', body);
    let text = '';
    for await (const piece of response.body ?? []) {
      text += Buffer.from(piece).toString('latin1');
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(text.length).toBeGreaterThan(2_000_000);
    expect(text.trimEnd().split('\n\n').at(-1)).toContain('event: speech.audio.done');
  });

  it('cuts the connections of running streams when it stops', async () => {
    const other = await startDemoServer();
    const client = new OpenAI({ baseURL: other.baseUrl, apiKey: other.secret, maxRetries: 0 });
    const stream = await client.chat.completions.create({
      model: 'demo-chat',
      messages: [{ role: 'user', content: 'word '.repeat(100) }],
      stream: true,
    });
    await expect(
      (async () => {
        for await (const _ of stream) await other.stop();
      })(),
    ).rejects.toThrow();
  });
});
