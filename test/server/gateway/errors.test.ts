import { once } from 'node:events';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeySecret } from '../../../server/routing/key-secret.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
/** A port on which nothing listens. */
let nowhere: string;

beforeAll(async () => {
  const gone = await startUpstream();
  nowhere = gone.baseUrl;
  await gone.stop();
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      providers: [
        mainProvider(upstream.baseUrl, { models: ['gpt-x', 'gpt-y'] }),
        { id: 'gone', baseUrl: nowhere, models: ['gone-model'] },
        {
          id: 'silent',
          baseUrl: `${upstream.origin}/silent`,
          models: ['silent-model'],
          timeouts: { firstByteMs: 150 },
        },
        { id: 'off', baseUrl: upstream.baseUrl, models: ['off-model'], enabled: false },
        { id: 'bare', baseUrl: upstream.baseUrl, models: ['bare-model'], credentials: [{ id: 'none' }] },
      ],
      groups: [
        { id: 'default', passthrough: null },
        { id: 'dark', providers: ['off'] },
      ],
      keys: [
        { id: 'k1', group: 'default', hash: hashOf(testKey) },
        { id: 'k2', name: 'Old laptop', group: 'default', hash: hashOf('sk-disabled-key-0123456789'), enabled: false },
        { id: 'k3', group: 'default', hash: hashOf('sk-expired-key-0123456789'), expiresAt: '2020-01-01T00:00:00Z' },
        { id: 'k4', group: 'default', hash: hashOf('sk-future-key-0123456789'), expiresAt: '2999-01-01T00:00:00Z' },
        { id: 'k5', group: 'dark', hash: hashOf('sk-dark-key-0123456789') },
      ],
      settings: { limits: { jsonBodyBytes: 5_000, multipartBodyBytes: 300_000 } },
    },
  });
  upstream.answer((request, response) => {
    if (!request.url.startsWith('/silent')) json(response, { ok: true });
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

interface Refusal {
  status: number;
  type?: string;
  code: string | null;
  param?: string | null;
  message: RegExp;
  /** The header that tells SDKs whether to retry. If absent, they decide by themselves. */
  retry?: 'false';
}

async function expectRefusal(asked: Promise<Response>, wanted: Refusal): Promise<void> {
  const response = await asked;
  const text = await response.text();
  const body = JSON.parse(text) as { error: Record<string, unknown> };
  expect(Object.keys(body)).toEqual(['error']);
  expect(Object.keys(body.error)).toEqual(['message', 'type', 'param', 'code']);
  expect(body.error).toEqual({
    message: expect.stringMatching(wanted.message),
    type: wanted.type ?? 'invalid_request_error',
    param: wanted.param ?? null,
    code: wanted.code,
  });
  expect(response.status).toBe(wanted.status);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
  expect(response.headers.get('x-should-retry')).toBe(wanted.retry ?? null);
  expect(JSON.stringify(body)).not.toContain('upstream-secret');
  const requestId = response.headers.get('x-request-id') ?? '';
  // Requests without a valid key are only counted and have no row.
  if (wanted.status === 401) return expectCounted(requestId, wanted.code ?? 'missing_key');
  const record = await gateway.record(requestId);
  expect(record).toMatchObject({
    ...{ outcome: 'error', status: wanted.status, usage: null, usageCertainty: 'none' },
    bytesOut: Buffer.byteLength(text),
  });
  if (wanted.code === null) expect(record.errorCode).not.toBeNull();
  else expect(record.errorCode).toBe(wanted.code);
}

async function expectCounted(requestId: string, reason: string): Promise<void> {
  const refusals = await gateway.gateway.query({ type: 'refusals' });
  expect(refusals[0]).toMatchObject({ reason, lastClient: 'node' });
  await expect(gateway.gateway.query({ type: 'request', id: requestId })).rejects.toMatchObject({ code: 'not_found' });
}

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  gateway.fetch(path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
const withKey = (authorization: string | null) =>
  fetch(`${gateway.baseUrl}/models`, authorization === null ? {} : { headers: { authorization } });

describe('a key', () => {
  test.each([null, '', 'Basic dXNlcjpwYXNz', 'Bearer', 'Bearer  '])('that is missing (%s) is 401', (authorization) =>
    expectRefusal(withKey(authorization), { status: 401, code: null, message: /Missing bearer authentication/ }),
  );

  test('that is unknown is 401, and only its ends are shown', async () => {
    const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz1234';
    const message = /^Incorrect API key provided: sk-\*+1234\. It is not a key of Sluice/;
    await expectRefusal(withKey(`Bearer ${secret}`), { status: 401, code: 'invalid_api_key', message });
  });

  test('that is mistyped is distinguished from one that never existed', async () => {
    const secret = createKeySecret();
    const mistyped = `${secret.slice(0, 20)}${secret[20] === 'x' ? 'y' : 'x'}${secret.slice(21)}`;
    await expectRefusal(withKey(`Bearer ${mistyped}`), {
      status: 401,
      code: 'invalid_api_key',
      message: /mistyped or cut short/,
    });
    await expectRefusal(withKey(`Bearer ${secret}`), {
      status: 401,
      code: 'invalid_api_key',
      message: /Keys are made in/,
    });
  });

  test('that is short is not shown at all', () =>
    expectRefusal(withKey('Bearer hunter2'), {
      status: 401,
      code: 'invalid_api_key',
      message: /^Incorrect API key provided: \*{8}\. /,
    }));

  test('that is disabled is 401', () =>
    expectRefusal(withKey('Bearer sk-disabled-key-0123456789'), {
      status: 401,
      code: 'key_disabled',
      message: /"Old laptop" is disabled/,
    }));

  test('that has expired is 401, one that will is not', async () => {
    const message = /"k3" expired on 2020-01-01T00:00:00.000Z/;
    await expectRefusal(withKey('Bearer sk-expired-key-0123456789'), { status: 401, code: 'key_expired', message });
    expect((await withKey('Bearer sk-future-key-0123456789')).status).toBe(200);
  });

  test('may be sent as "bearer" and holds spaces', async () => {
    expect((await withKey(`bearer ${testKey}`)).status).toBe(200);
  });
});

describe('a URL', () => {
  test.each([
    ['POST', '/nope'],
    ['GET', '/chat/completions/x/y'],
    ['GET', '/'],
    ['GET', ''],
    ['POST', '/videos//remix'],
    ['GET', '/files'],
    ['DELETE', '/models/gpt-x'],
    ['POST', '/v1/v1/nope'],
  ])('that is not served is 404: %s %s', (method, path) =>
    expectRefusal(gateway.fetch(path, { method }), { status: 404, code: 'unknown_url', message: /Invalid URL/ }),
  );

  test.each([
    ['GET', '/chat/completions', 'POST'],
    ['PUT', '/responses/resp_1', 'GET, DELETE'],
    ['POST', '/models', 'GET'],
    ['PATCH', '/videos', 'POST'],
    ['GET', '/videos?limit=2', 'POST'],
  ])('with a wrong method is 405: %s %s', (method, path, allowed) =>
    expectRefusal(gateway.fetch(path, { method }), {
      status: 405,
      code: 'method_not_allowed',
      message: new RegExp(`Allowed: ${allowed}\\.`),
    }),
  );

  test('outside /v1 says where the API is', async () => {
    const response = await fetch(`${gateway.origin}/chat/completions`, { method: 'POST', body: '{}' });
    expect([response.status, response.headers.get('x-request-id')?.length]).toEqual([404, 36]);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining('calls /v1/chat/completions') },
    });
  });
});

describe('a body', () => {
  test.each([
    '{"model":',
    '',
    'null',
    '[]',
    '"x"',
    '{"model":"gpt-x"} x',
    "{'model':'gpt-x'}",
    '{"model":"gpt-x",}',
    '\0',
  ])('that is not one JSON object is 400: %j', (body) =>
    expectRefusal(post('/chat/completions', body), {
      status: 400,
      code: null,
      message: /could not parse the JSON body/,
    }),
  );

  test.each(['{}', '{"model":null}', '{"model":""}', '{"messages":[{"model":"gpt-x"}]}'])(
    'that names no model is 400: %s',
    (body) =>
      expectRefusal(post('/chat/completions', body), {
        status: 400,
        code: null,
        message: /must provide a model parameter/,
      }),
  );

  test.each(['{"model":7}', '{"model":["gpt-x"]}', '{"model":{"id":"gpt-x"}}', '{"model":true}'])(
    'whose model is no string is 400: %s',
    (body) =>
      expectRefusal(post('/embeddings', body), {
        status: 400,
        code: 'invalid_value',
        param: 'model',
        message: /Invalid type for 'model'/,
      }),
  );

  test('of the wrong kind is 415', async () => {
    const form = new FormData();
    form.set('model', 'gpt-x');
    const refusal = { status: 415, code: 'unsupported_content_type', message: /takes application\/json/ };
    await expectRefusal(gateway.fetch('/chat/completions', { method: 'POST', body: form }), refusal);
    const message = /takes multipart\/form-data/;
    await expectRefusal(post('/audio/transcriptions', '{"model":"gpt-x"}'), { ...refusal, message });
  });

  test.each([
    ['multipart/form-data', '--b\r\n'],
    ['multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt-x'],
    ['multipart/form-data; boundary=b', ''],
  ])('that is broken multipart is 400: %s %j', (type, body) =>
    expectRefusal(post('/audio/transcriptions', body, { 'content-type': type }), {
      status: 400,
      code: null,
      message: /multipart|no body/,
    }),
  );

  test('that is too long is 413', async () => {
    const body = JSON.stringify({ model: 'gpt-x', input: 'x'.repeat(6_000) });
    const refusal = { status: 413, code: 'request_too_large' };
    await expectRefusal(post('/embeddings', body), {
      ...refusal,
      message: /limit \(5000\) exceeded \(60\d\d bytes read\)/,
    });
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(400_000)]), 'a.wav');
    const asked = gateway.fetch('/audio/transcriptions', { method: 'POST', body: form });
    await expectRefusal(asked, { ...refusal, message: /300000 bytes/ });
  });

  test('that is too long and does not say so is 413', async () => {
    const body = new ReadableStream({
      start(controller) {
        for (let count = 0; count < 100; count++) controller.enqueue(Buffer.alloc(100, ' '));
        controller.close();
      },
    });
    await expectRefusal(gateway.fetch('/embeddings', { method: 'POST', body, duplex: 'half' } as RequestInit), {
      status: 413,
      code: 'request_too_large',
      message: /limit \(5000\) exceeded/,
    });
  });
});

describe('a model', () => {
  test.each([
    ['gpt-z', /"gpt-z" does not exist or this key may not use it\. Did you mean "gpt-[xy]"\?/],
    ['GPT-X', /Did you mean "gpt-x"\?/],
    ['completely-different-name', /may not use it\.$/],
    ['main/gpt-z', /"main\/gpt-z" does not exist/],
    ['nobody/gpt-x', /"nobody\/gpt-x" does not exist/],
    ['x'.repeat(3_000), /^The model "x{200}…" does not/],
  ])('that is not there is 404 and the nearest is named: %.20s', async (model, message) => {
    const refusal = { status: 404, code: 'model_not_found', param: 'model', message };
    await expectRefusal(post('/chat/completions', JSON.stringify({ model })), refusal);
    await expectRefusal(gateway.fetch(`/models/${encodeURIComponent(model)}`), refusal);
  });
});

describe('a provider', () => {
  test('that is switched off or lacks its secret is 503 and not worth a retry', async () => {
    const refusal = { status: 503, type: 'server_error', code: 'no_healthy_provider', retry: 'false' } as const;
    await expectRefusal(post('/embeddings', '{"model":"off-model"}'), {
      ...refusal,
      message: /"off": it is switched off/,
    });
    await expectRefusal(post('/embeddings', '{"model":"off/off-model"}'), { ...refusal, message: /switched off/ });
    await expectRefusal(post('/embeddings', '{"model":"bare-model"}'), {
      ...refusal,
      message: /"bare": no enabled credential/,
    });
  });

  test('of a group that has no other is 503 for requests without a model too', () =>
    expectRefusal(
      fetch(`${gateway.baseUrl}/moderations`, {
        method: 'POST',
        headers: { authorization: 'Bearer sk-dark-key-0123456789' },
        body: '{"input":"x"}',
      }),
      { status: 503, type: 'server_error', code: 'no_healthy_provider', retry: 'false', message: /No provider/ },
    ));

  test('that cannot be reached is 502', async () => {
    await expectRefusal(post('/embeddings', '{"model":"gone-model"}'), {
      status: 502,
      type: 'server_error',
      code: 'upstream_unreachable',
      message: /"gone" \(127\.0\.0\.1:\d+\) cannot be reached/,
    });
  });

  test('that cannot be reached is called three times, and the ledger records it', async () => {
    // A provider that has just failed is called only once, so its health is reset.
    await gateway.gateway.execute({ type: 'provider.reset-health', id: 'gone' });
    const response = await post('/embeddings', '{"model":"gone-model"}');
    const record = await gateway.record(response.headers.get('x-request-id') ?? '');
    expect(record.attempts).toMatchObject([
      { cause: 'first', provider: 'gone', status: null, failure: 'transient' },
      { cause: 'retry', provider: 'gone', status: null, failure: 'transient' },
      { cause: 'retry', provider: 'gone', status: null, failure: 'transient' },
    ]);
    expect(record.errorCode).toBe('upstream_unreachable');
  });

  test('that says nothing is 504', async () => {
    await expectRefusal(post('/embeddings', '{"model":"silent-model"}'), {
      status: 504,
      type: 'server_error',
      code: 'upstream_timeout',
      message: /sent no answer in time/,
    });
  });

  test('that answers no HTTP is 502', async () => {
    const { createServer } = await import('node:net');
    const server = createServer((socket) => socket.end('SSH-2.0-OpenSSH_9\r\n')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const odd = await startGateway({ config: { providers: [mainProvider(`http://127.0.0.1:${port}/v1`)] } });
    const response = await odd.fetch('/embeddings', { method: 'POST', body: '{"model":"gpt-x"}' });
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
      502,
      'upstream_malformed',
    ]);
    await odd.stop();
    server.close();
  });
});

describe('a job', () => {
  test.each(['/videos/video_x', '/videos/video_x/content', '/responses/resp_x', '/responses/resp_x/input_items'])(
    'that is not there is 404: %s',
    (path) =>
      expectRefusal(gateway.fetch(path), {
        status: 404,
        code: null,
        param: 'id',
        message: /with id '\w+_x' not found/,
      }),
  );

  test('that is not there cannot be gone on from', () =>
    expectRefusal(post('/responses', '{"model":"gpt-x","previous_response_id":"resp_x"}'), {
      status: 400,
      code: 'previous_response_not_found',
      param: 'previous_response_id',
      message: /'resp_x' not found/,
    }));
});

describe('the official client', () => {
  const chat = (model: string, key = testKey) =>
    gateway.client.withOptions({ apiKey: key }).chat.completions.create({ model, messages: [] });

  test('raises the right class for each', async () => {
    await expect(chat('gpt-x', 'sk-wrong-key-0123456789')).rejects.toThrow(OpenAI.AuthenticationError);
    await expect(chat('nope')).rejects.toThrow(OpenAI.NotFoundError);
    await expect(chat('')).rejects.toThrow(OpenAI.BadRequestError);
    await expect(chat('gone-model')).rejects.toThrow(OpenAI.InternalServerError);
    await expect(chat('nope')).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
      type: 'invalid_request_error',
      requestID: expect.stringMatching(/^req_/),
    });
    const host = gateway.client.withOptions({ defaultHeaders: { origin: 'https://evil.example' } });
    await expect(host.models.list()).rejects.toThrow(OpenAI.PermissionDeniedError);
  });

  test('retries only if that can help', async () => {
    const triesOf = async (model: string) => {
      let tries = 0;
      const client = gateway.client.withOptions({
        maxRetries: 2,
        fetch: (url, init) => {
          tries++;
          return fetch(url, init);
        },
      });
      await client.embeddings.create({ model, input: 'x' }).catch(() => {});
      return tries;
    };
    expect(await triesOf('off-model')).toBe(1);
    expect(await triesOf('nope')).toBe(1);
    expect(await triesOf('gone-model')).toBe(3);
  });
});
