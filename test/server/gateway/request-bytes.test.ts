import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { chatUsage, chatWithoutUsage, chatWithUsage } from './streams.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      providers: [
        mainProvider(upstream.baseUrl, { headers: { 'X-Team': 'blue' } }),
        { id: 'quiet', baseUrl: upstream.baseUrl, models: ['quiet-model'], askUsage: false },
        {
          id: 'azure',
          dialect: 'azure',
          baseUrl: upstream.origin,
          credentials: [{ id: 'c1' }],
          models: ['deployment 1'],
        },
      ],
      aliases: [
        { name: 'fast', targets: [{ provider: 'main', model: 'gpt-"x"/ü' }] },
        { name: 'blue', targets: [{ provider: 'azure', model: 'deployment 1' }] },
      ],
    },
    secrets: { 'provider/azure/c1': 'azure-secret' },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

async function arrives(body: string | Buffer, path = '/chat/completions', headers: Record<string, string> = {}) {
  upstream.answer((_request, response) => json(response, { ok: true }));
  const response = await gateway.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: new Uint8Array(Buffer.from(body)),
  });
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  const seen = upstream.seen.at(-1);
  if (!seen) throw new Error('Nothing arrived.');
  return seen;
}

const odd =
  '\r\n { "messages" : [ {"role":"user","content":"\\u00fc \\ud83c\\udf0d ü"} ],\n\t"temperature":1.0e-05,"seed":1,"seed":2, "model"\t:  "gpt-x" , "tools":null,"big":12345678901234567890 } \n';

describe('a JSON body', () => {
  test('that names a model the provider knows arrives unchanged', async () => {
    const { body, headers } = await arrives(odd);
    expect(body.toString()).toBe(odd);
    expect(headers['content-length']).toBe(String(Buffer.byteLength(odd)));
  });

  test('that names an alias has that name changed, and nothing else', async () => {
    const { body } = await arrives(odd.replace('"gpt-x"', '"fast"'));
    expect(body.toString()).toBe(odd.replace('"gpt-x"', JSON.stringify('gpt-"x"/ü')));
  });

  test('has the name changed on its top alone', async () => {
    const { body } = await arrives('{"x":{"model":"fast","model":"fast"},"model":"f\\u0061st"}');
    const name = JSON.stringify('gpt-"x"/ü');
    expect(body.toString()).toBe(`{"x":{"model":"fast","model":"fast"},"model":${name}}`);
  });

  test('addressed to one provider loses the prefix', async () => {
    const { body } = await arrives('{"model":"main/gpt-x","input":"a"}', '/embeddings');
    expect(body.toString()).toBe('{"model":"gpt-x","input":"a"}');
  });

  test('under the content type of a form is sent on as JSON', async () => {
    const { headers } = await arrives('{"model":"gpt-x"}', '/embeddings', {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(headers['content-type']).toBe('application/json');
  });

  test('keeps its own JSON content type', async () => {
    const type = 'application/vnd.api+json; charset=utf-8';
    expect((await arrives('{"model":"gpt-x"}', '/embeddings', { 'content-type': type })).headers['content-type']).toBe(
      type,
    );
  });

  test('of 20 MB arrives whole', async () => {
    const large = `{"model":"gpt-x","messages":[{"role":"user","content":"${'ü'.repeat(10_000_000)}"}]}`;
    expect((await arrives(large)).body.equals(Buffer.from(large))).toBe(true);
  });

  test('for Azure names the deployment in the path', async () => {
    const { url, headers } = await arrives('{"model":"blue"}', '/chat/completions?x=1');
    expect(url).toBe('/openai/deployments/deployment%201/chat/completions?x=1&api-version=2025-04-01-preview');
    expect([headers['api-key'], headers.authorization]).toEqual(['azure-secret', undefined]);
  });
});

describe('headers', () => {
  test('of the request itself reach the upstream, those of the client’s connection and accounts do not', async () => {
    const { headers } = await arrives('{"model":"gpt-x"}', '/embeddings', {
      'openai-beta': 'assistants=v2',
      'idempotency-key': 'abc',
      'x-client-request-id': 'mine',
      'openai-organization': 'org-of-client',
      'openai-project': 'project-of-client',
      'api-key': 'client-secret',
      'x-api-key': 'client-secret',
      cookie: 'session=client-secret',
      'x-forwarded-for': '10.0.0.1',
      'x-real-ip': '10.0.0.1',
      forwarded: 'for=10.0.0.1',
      via: '1.1 x',
      'sec-fetch-site': 'none',
    });
    expect(headers).toMatchObject({
      'openai-beta': 'assistants=v2',
      'idempotency-key': 'abc',
      'x-client-request-id': 'mine',
    });
    expect(headers['x-team']).toBe('blue');
    expect(JSON.stringify(headers)).not.toMatch(/client-secret|of-client|10\.0\.0\.1|1\.1 x|sec-fetch/);
    expect(headers.authorization).toBe('Bearer upstream-secret');
  });
});

describe('usage of chat streams', () => {
  async function stream(body: string, path = '/chat/completions') {
    upstream.answer((request, response) => {
      eventStream(response);
      const asked = JSON.parse(request.body.toString()).stream_options?.include_usage === true;
      response.end(asked ? chatWithUsage : chatWithoutUsage);
    });
    const response = await gateway.fetch(path, { method: 'POST', body });
    return {
      got: await response.text(),
      arrived: upstream.seen.at(-1)?.body.toString(),
      record: await gateway.record(response.headers.get('x-request-id') ?? ''),
    };
  }

  test.each([
    [
      'left out',
      '{"model":"gpt-x","stream":true}',
      '{"model":"gpt-x","stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      'null',
      '{"stream_options" : null,"model":"gpt-x","stream":true}',
      '{"stream_options" : {"include_usage":true},"model":"gpt-x","stream":true}',
    ],
    [
      'without a word on usage',
      '{"stream_options":{"include_obfuscation":false},"model":"gpt-x","stream":true}',
      '{"stream_options":{"include_obfuscation":false,"include_usage":true},"model":"gpt-x","stream":true}',
    ],
    [
      'null inside',
      '{"stream_options":{"include_usage":null},"model":"gpt-x","stream":true}',
      '{"stream_options":{"include_usage":true},"model":"gpt-x","stream":true}',
    ],
  ])('is asked for where stream_options is %s, and kept from the client', async (_name, body, wanted) => {
    const { got, arrived, record } = await stream(body);
    expect(arrived).toBe(wanted);
    expect(got).toBe(chatWithoutUsage);
    expect(record).toMatchObject({ usageCertainty: 'reported', usage: { inputTokens: chatUsage.prompt_tokens } });
  });

  test('is asked for beside a changed model name', async () => {
    const { arrived, got } = await stream('{"model":"fast","stream":true}');
    expect(arrived).toBe(
      `{"model":${JSON.stringify('gpt-"x"/ü')},"stream":true,"stream_options":{"include_usage":true}}`,
    );
    expect(got).toBe(chatWithoutUsage);
  });

  test('is asked for on the older completions too', async () => {
    const { arrived, got } = await stream('{"model":"gpt-x","stream":true}', '/completions');
    expect(arrived).toContain('"include_usage":true');
    expect(got).toBe(chatWithoutUsage);
  });

  test('stays in where the client asked for it', async () => {
    const body = '{"model":"gpt-x","stream":true,"stream_options":{"include_usage":true}}';
    const { arrived, got, record } = await stream(body);
    expect([arrived, got]).toEqual([body, chatWithUsage]);
    expect(record.usageCertainty).toBe('reported');
  });

  test('is not asked for where the client said no', async () => {
    const body = '{"model":"gpt-x","stream":true,"stream_options":{"include_usage":false}}';
    const { arrived, got, record } = await stream(body);
    expect([arrived, got]).toEqual([body, chatWithoutUsage]);
    expect(record).toMatchObject({ outcome: 'ok', usageCertainty: 'estimated', costUsd: null });
  });

  test('is not asked for where the provider’s switch is off', async () => {
    const body = '{"model":"quiet-model","stream":true}';
    const { arrived, got } = await stream(body);
    expect([arrived, got]).toEqual([body, chatWithoutUsage]);
  });

  test('is not asked for in plain requests and on other routes', async () => {
    expect((await arrives('{"model":"gpt-x","stream":false}')).body.toString()).toBe(
      '{"model":"gpt-x","stream":false}',
    );
    const body = '{"model":"gpt-x","stream":true}';
    expect((await arrives(body, '/responses')).body.toString()).toBe(body);
    expect((await arrives(body, '/images/generations')).body.toString()).toBe(body);
  });
});

describe('a multipart body', () => {
  const part = (headers: string, content: string) => `--b\r\n${headers}\r\n\r\n${content}\r\n`;
  const form = (model: string) =>
    [
      part(
        'Content-Disposition: form-data; name="file"; filename="ü ""%22.wav"\r\nContent-Type: audio/wav\r\nX-Odd: 1',
        'RIFF\0\r\n--c',
      ),
      part('content-disposition: form-data; name="timestamp_granularities[]"', 'word'),
      part('content-disposition: form-data; name="timestamp_granularities[]"', 'segment'),
      part('Content-Disposition: form-data; name="model"', model),
      part('Content-Disposition: form-data; name="temperature"', '0.50'),
      '--b--\r\nepilogue',
    ].join('');
  const type = 'multipart/form-data; boundary=b';

  test('arrives unchanged: order, names, part headers and all', async () => {
    const text = form('gpt-x');
    const { body, headers } = await arrives(text, '/audio/transcriptions', { 'content-type': type });
    expect(body.toString()).toBe(text);
    expect([headers['content-type'], headers['content-length']]).toEqual([type, String(Buffer.byteLength(text))]);
  });

  test('with an alias has only that field changed', async () => {
    const { body, headers } = await arrives(form('fast'), '/audio/translations', { 'content-type': type });
    expect(body.toString()).toBe(form('gpt-"x"/ü'));
    expect(headers['content-length']).toBe(String(body.length));
  });

  test('of 25 MB with an alias arrives whole, and leaves no file behind', async () => {
    const sound = randomBytes(12_500_000).toString('hex');
    const large = form('fast').replace('RIFF', sound);
    const { body } = await arrives(large, '/audio/transcriptions', { 'content-type': type });
    expect(body.equals(Buffer.from(form('gpt-"x"/ü').replace('RIFF', sound)))).toBe(true);
    const uploads = () => readdirSync(gateway.folder).filter((name) => name.endsWith('.upload'));
    expect(await eventually(() => (uploads().length === 0 ? 'none' : null))).toBe('none');
  });
});
