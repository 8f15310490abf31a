import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      providers: [
        mainProvider(upstream.baseUrl),
        { id: 'blue', dialect: 'azure', baseUrl: upstream.origin, credentials: [{ id: 'c1' }], models: ['*'] },
      ],
      groups: [{ id: 'default', deny: ['denied'] }],
      aliases: [
        {
          name: 'safe',
          targets: [
            { provider: 'blue', model: '..' },
            { provider: 'main', model: 'gpt-x' },
          ],
        },
      ],
    },
    secrets: { 'provider/blue/c1': 'azure-secret' },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
  upstream.answer((_request, response) => json(response, { ok: true }));
});

async function post(path: string, body: string, contentType = 'application/json') {
  const response = await gateway.fetch(path, { method: 'POST', body, headers: { 'content-type': contentType } });
  const { error } = await response.json();
  return { status: response.status, code: error?.code, param: error?.param };
}

describe('an upload', () => {
  const part = (head: string, value: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
  const allowed = part('name="model"', 'gpt-x');
  const send = (text: string, type = 'multipart/form-data; boundary=b') =>
    post('/audio/transcriptions', `${text}--b--\r\n`, type);

  test.each<[string, string]>([
    ['a part with two names', part('name="x"; name="model"', 'denied')],
    ['a second field of that name', part('name="model"', 'denied')],
    ['a field of that name in other case', part('name="Model"', 'denied')],
    ['an extended name', part("name=x; name*=utf-8''model", 'denied')],
  ])('cannot reach a model outside its group’s list by means of %s', async (_how, denied) => {
    expect((await send(allowed + denied)).status).toBe(400);
    expect((await send(denied + allowed)).status).toBe(400);
    expect(upstream.seen).toEqual([]);
  });

  test('of two boundaries is refused by name, whichever comes first', async () => {
    const other = '--c\r\nContent-Disposition: form-data; name="model"\r\n\r\ndenied\r\n--c--\r\n';
    for (const boundaries of ['boundary=b; boundary=c', 'boundary=c; boundary=b', "boundary=b; boundary*=utf-8''c"]) {
      const answer = await send(other + allowed, `multipart/form-data; ${boundaries}`);
      expect(answer).toEqual({ status: 400, code: 'invalid_value', param: 'content-type' });
    }
    expect(upstream.seen).toEqual([]);
  });

  test.each(['utf-7', 'UTF-16', '"cp037"'])(
    'cannot reach a model outside its group’s list by means of %s',
    async (charset) => {
      const type = `multipart/form-data; boundary=b; charset=${charset}`;
      const answer = await send(allowed + part('name="+AG0-odel"', 'denied'), type);
      expect(answer).toEqual({ status: 400, code: 'invalid_value', param: 'content-type' });
      expect(upstream.seen).toEqual([]);
    },
  );

  test('may say that it is in UTF-8', async () => {
    expect((await send(allowed, 'multipart/form-data; boundary=b; charset=UTF-8')).status).toBe(200);
  });

  test('with a field given twice is refused, naming the field', async () => {
    expect(await send(allowed + allowed)).toEqual({ status: 400, code: 'invalid_value', param: 'model' });
    const twice = part('name="stream"', 'false') + part('name="stream"', 'true');
    expect(await send(allowed + twice)).toMatchObject({ status: 400, param: 'stream' });
  });

  test('may repeat fields that decide nothing', async () => {
    const granularities =
      part('name="timestamp_granularities[]"', 'word') + part('name="timestamp_granularities[]"', 'segment');
    expect((await send(allowed + granularities)).status).toBe(200);
  });
});

test('a query does not choose another model than the body', async () => {
  const answer = await post('/chat/completions?model=denied', '{"model":"gpt-x"}');
  expect(answer).toEqual({ status: 400, code: 'invalid_value', param: 'model' });
  expect(upstream.seen).toEqual([]);
});

test('JSON does not go out under a type that could be a form’s too', async () => {
  await post('/images/edits', '{"model":"gpt-x"}', 'application/json, multipart/form-data; boundary=b');
  expect(upstream.seen.at(-1)?.headers['content-type']).toBe('application/json');
});

test.each([
  ['by name', 'application/json; charset=utf-7'],
  ['after an empty parameter', 'application/json;; charset=utf-7'],
  ['after a long parameter', `application/json; x=${'x'.repeat(5_000)}; charset=utf-7`],
  ['in an extended parameter', "application/json; charset*=utf-8''utf-7"],
  ['under another name of JSON', 'application/problem+json; charset=utf-16'],
])('JSON does not go out under an encoding in which it says something else, told %s', async (_how, type) => {
  await post('/chat/completions', '{"model":"gpt-x","x":"+ACI-,+ACI-model+ACI-:+ACI-denied"}', type);
  expect(upstream.seen.at(-1)?.headers['content-type']).toBe('application/json');
});

test.each(['application/json; charset=UTF-8', 'application/json;charset="utf-8"', 'application/vnd.api+json'])(
  'JSON keeps the name that it came under: %s',
  async (type) => {
    await post('/chat/completions', '{"model":"gpt-x"}', type);
    expect(upstream.seen.at(-1)?.headers['content-type']).toBe(type);
  },
);

describe('a model that is a step in a path', () => {
  test.each([
    '..',
    '.',
    'blue/..',
    'blue/.',
    'blue/../x',
    'blue/%2e%2e',
    'blue/..%2fx',
    'blue/x\\\\..\\\\y',
    'blue/\\ud800',
    'main/..',
  ])('is none: %s', async (model) => {
    expect(await post('/chat/completions', `{"model":"${model}"}`)).toMatchObject({ status: 404, param: 'model' });
    expect(upstream.seen).toEqual([]);
  });

  test('is left out of an alias that knows another', async () => {
    expect((await post('/chat/completions', '{"model":"safe"}')).status).toBe(200);
    expect(upstream.seen.map(({ url }) => url)).toEqual(['/v1/chat/completions']);
  });

  test('may be the name of a file where it stands in the body alone', async () => {
    expect((await post('/chat/completions', '{"model":"main/./models/llama.gguf"}')).status).toBe(200);
    expect(upstream.seen.at(-1)?.body.toString()).toBe('{"model":"./models/llama.gguf"}');
  });
});

describe('a job that its upstream calls by a step in a path', () => {
  test.each(['..', '.', '%2e%2e', '../x', '..%2fx', '\ud800'])('is not asked for: %j', async (id) => {
    upstream.answer((_request, response) => json(response, { id, object: 'video', status: 'queued' }));
    expect((await post('/videos', '{"model":"main/gpt-x","prompt":"p"}')).status).toBe(200);
    upstream.seen.length = 0;
    for (const path of ['..', '%2e%2e', '%2E', '%252e%252e', '..%2Fx', encodeURIComponent(id.toWellFormed())]) {
      // Uses a raw connection, because fetch would resolve such a path itself.
      for (const rest of ['', '/content']) expect(await statusOf(`/videos/${path}${rest}`)).toBe(404);
    }
    expect(upstream.seen).toEqual([]);
  });
});

async function statusOf(path: string): Promise<number | undefined> {
  const request = http.request(gateway.origin, {
    path: `/v1${path}`,
    agent: false,
    headers: { authorization: `Bearer ${testKey}` },
  });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}
