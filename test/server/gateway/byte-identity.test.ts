import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { switchFastPaths } from '../../../server/ground/fast-paths.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { every } from '../../support/sweep.ts';
import {
  eventStream,
  json,
  oddCuts,
  type ScriptedUpstream,
  sendPieces,
  startUpstream,
} from '../../support/upstream.ts';
import { askFor, chatWithoutUsage, chatWithUsage, isUtf8, type StreamSample, samples } from './streams.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  const groups = [{ id: 'default', policy: { retries: 0 } }];
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)], groups } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

/** What the client receives if the upstream sends `sample` cut at these offsets. */
async function relay(sample: StreamSample, cuts: readonly number[]): Promise<Buffer> {
  upstream.answer((_request, response) => {
    eventStream(response);
    return sendPieces(response, sample.bytes, cuts);
  });
  const response = await gateway.fetch(sample.path, askFor(sample));
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe(isUtf8);
  return Buffer.from(await response.arrayBuffer());
}

const chatSample = (bytes: string | Buffer): StreamSample => ({
  name: '',
  path: '/chat/completions',
  body: { model: 'gpt-x', messages: [], stream_options: { include_usage: true } },
  bytes: Buffer.from(bytes),
});

describe('a stream arrives byte for byte as the upstream sent it', () => {
  test.each(samples)('$name, cut at every byte', async (sample) => {
    upstream.answer((request, response) => {
      eventStream(response);
      return sendPieces(response, sample.bytes, [Number(request.headers['x-cut'])]);
    });
    const wanted = sample.bytes.toString('latin1');
    const offsets = every(7, [...sample.bytes.keys()]);
    const atOnce = 8;
    const worker = async () => {
      for (let cut = offsets.shift(); cut !== undefined; cut = offsets.shift()) {
        const ask = askFor(sample);
        const headers = { ...Object.fromEntries(new Headers(ask.headers)), 'x-cut': String(cut) };
        const response = await gateway.fetch(sample.path, { ...ask, headers });
        const got = Buffer.from(await response.arrayBuffer()).toString('latin1');
        if (got !== wanted) expect({ cut, got }).toEqual({ cut, got: wanted });
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    expect(offsets).toEqual([]);
  });
});

describe.each([
  ['on', true],
  ['off', false],
])('it does so with the fast paths %s', (_, isWanted) => {
  beforeAll(() => switchFastPaths(isWanted));
  afterAll(() => switchFastPaths(process.env.SLUICE_FAST_PATHS !== 'off'));

  test.each(samples)('$name, in single bytes', async (sample) => {
    const every = Array.from({ length: sample.bytes.length }, (_, index) => index);
    expect((await relay(sample, every)).equals(sample.bytes)).toBe(true);
  });

  test.each(samples)('$name, in odd pieces and in one', async (sample) => {
    expect((await relay(sample, oddCuts(sample.bytes.length))).equals(sample.bytes)).toBe(true);
    expect((await relay(sample, [])).equals(sample.bytes)).toBe(true);
  });

  test('an event of two megabytes, in odd pieces', async () => {
    const image = Buffer.alloc(1_500_000, 'sluice').toString('base64');
    const bytes = Buffer.from(
      `event: image_generation.completed\ndata: {"type":"image_generation.completed","b64_json":"${image}"}\n\n`,
    );
    const sample = { name: '', path: '/images/generations', body: { prompt: 'x' }, bytes };
    const cuts = Array.from({ length: 60 }, (_, index) => 17 + index * 30_011);
    expect((await relay(sample, cuts)).equals(bytes)).toBe(true);
  });

  test('a large event between small ones, whose usage is then taken out', async () => {
    const large = `data: {"choices":[{"index":0,"delta":{"content":"${'y'.repeat(200_000)}"}}]}\n\n`;
    const sample = chatSample(large + chatWithUsage);
    expect((await relay(sample, oddCuts(4_000))).toString()).toBe(large + chatWithUsage);
  });
});

describe('a stream that ended well keeps what follows', () => {
  test.each([': bye', '\r', '\n', ': bye\n', 'data: {"half', 'x'])('in %j', async (rest) => {
    const bytes = Buffer.from(chatWithUsage + rest);
    for (const cuts of [[], [bytes.length - rest.length], oddCuts(bytes.length)]) {
      expect((await relay(chatSample(bytes), cuts)).toString()).toBe(bytes.toString());
    }
  });

  test('a terminal event of its own', async () => {
    const sample = samples.find(({ name }) => name === 'responses in full order') as StreamSample;
    const bytes = Buffer.concat([sample.bytes, Buffer.from(': bye')]);
    expect((await relay({ ...sample, bytes }, [])).equals(bytes)).toBe(true);
  });
});

describe('a stream whose lines end in CR alone', () => {
  const withCr = (text: string | Buffer) => text.toString().replaceAll(/\r?\n/g, '\r');

  test.each(samples)('passes and ends well: $name', async (sample) => {
    const bytes = Buffer.from(withCr(sample.bytes));
    for (const cuts of [[], oddCuts(bytes.length), Array.from(bytes, (_byte, index) => index)]) {
      expect((await relay({ ...sample, bytes }, cuts)).equals(bytes)).toBe(true);
    }
  });

  test('passes event by event', async () => {
    const [opening = '', content = '', ...rest] = withCr(chatWithUsage).split(/(?<=\r\r)/);
    const first = opening + content;
    const finish = Promise.withResolvers<void>();
    upstream.answer(async (_request, response) => {
      eventStream(response);
      response.write(first);
      await finish.promise;
      response.end(rest.join(''));
    });
    const response = await gateway.fetch('/chat/completions', askFor(chatSample('')));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(first);
    finish.resolve();
    while (!(await reader.read()).done);
  });

  test('loses the usage that Sluice alone asked for', async () => {
    const sample = { ...chatSample(withCr(chatWithUsage)), body: { model: 'gpt-x', messages: [] } };
    for (const cuts of [[], oddCuts(sample.bytes.length)]) {
      expect((await relay(sample, cuts)).toString()).toBe(withCr(chatWithoutUsage));
    }
  });
});

test('usage that Sluice alone asked for is taken out, wherever the stream is cut', async () => {
  const bytes = Buffer.from(chatWithUsage);
  const sample = { ...chatSample(bytes), body: { model: 'gpt-x', messages: [] } };
  for (const cut of every(20, [...bytes.keys()].slice(1))) {
    const got = (await relay(sample, [cut])).toString();
    if (got !== chatWithoutUsage) expect({ cut, got }).toEqual({ cut, got: chatWithoutUsage });
  }
  expect((await relay(sample, oddCuts(bytes.length, 3))).toString()).toBe(chatWithoutUsage);
  expect(JSON.parse(upstream.seen.at(-1)?.body.toString() ?? '').stream_options).toEqual({ include_usage: true });
});

describe('a plain reply', () => {
  const ask = (path: string, init: RequestInit = {}) =>
    gateway.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"model":"gpt-x","messages":[],"input":"x"}',
      ...init,
    });

  test('keeps unknown fields, odd numbers, white space and escapes', async () => {
    const text =
      '\n{ "id" : "chatcmpl-1",\t"choices":[{"message":{"content":"\\u00e9\\ud83c\\udf0d é"}}],"n":1.50e+03,"big":12345678901234567890,"dup":1,"dup":2,"x_vendor":{"a":[ ]} }\r\n ';
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      return sendPieces(response, Buffer.from(text), oddCuts(Buffer.byteLength(text)));
    });
    const response = await ask('/chat/completions');
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.text()).toBe(text);
  });

  test.each(['/embeddings', '/moderations', '/completions', '/responses'])(
    'of %s passes without being parsed',
    async (path) => {
      const bytes = Buffer.from('{"data":[{"embedding":"AAAAgD8="}],"usage":{"prompt_tokens":1,"total_tokens":1}}');
      upstream.answer((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
      });
      const response = await ask(path);
      expect(response.headers.get('content-length')).toBe(String(bytes.length));
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    },
  );

  test('may be empty when a job is deleted', async () => {
    upstream.answer(({ method }, response) => {
      if (method === 'DELETE') response.writeHead(204).end();
      else json(response, { id: 'resp_deleted', object: 'response', output: [] });
    });
    await (await ask('/responses')).text();
    const response = await gateway.fetch('/responses/resp_deleted', { method: 'DELETE' });
    expect([response.status, await response.text()]).toEqual([204, '']);
  });

  // 401 and 403 are replaced by Sluice's own errors, because the client would relate them to its own key.
  test.each([400, 404, 409, 413, 422, 429, 500, 502, 503, 529])(
    'of status %i keeps its status, body and rate limits',
    async (status) => {
      const body = `{"error": {"message":"no","type":"requests","param":null,"code":"rate_limit_exceeded"} }\n`;
      upstream.answer((_request, response) => {
        response.writeHead(status, {
          'content-type': 'application/json',
          'retry-after': '7',
          'retry-after-ms': '7000',
          'x-ratelimit-limit-requests': '60',
          'x-ratelimit-remaining-tokens': '149984',
          'x-ratelimit-reset-tokens': '6m0s',
          'openai-processing-ms': '12',
          'x-request-id': 'req_upstream',
        });
        response.end(body);
      });
      const response = await ask('/chat/completions');
      expect(response.status).toBe(status);
      expect(await response.text()).toBe(body);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'retry-after': '7',
        'retry-after-ms': '7000',
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-tokens': '149984',
        'x-ratelimit-reset-tokens': '6m0s',
        'openai-processing-ms': '12',
        'x-request-id': 'req_upstream',
      });
      expect(response.headers.get('x-sluice-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
      const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
      expect(record).toMatchObject({ outcome: 'error', status, errorCode: 'rate_limit_exceeded', usage: null });
      expect(record.attempts).toMatchObject([{ status, upstreamRequestId: 'req_upstream' }]);
    },
  );

  test('loses cookies, server details and hop-by-hop headers on the way', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'set-cookie': ['a=b', 'c=d'],
        server: 'cloudflare',
        'x-powered-by': 'magic',
        'keep-alive': 'timeout=1',
        'proxy-authenticate': 'Basic',
        'access-control-allow-origin': '*',
        'strict-transport-security': 'max-age=1',
        'alt-svc': 'h3=":443"',
        'cf-ray': '1',
        'x-envoy-upstream-service-time': '1',
        etag: '"1"',
      });
      response.end('{"ok":true}');
    });
    const response = await ask('/chat/completions');
    await response.text();
    expect([...response.headers.keys()].sort()).toEqual([
      'connection',
      'content-type',
      'date',
      'etag',
      'keep-alive',
      'transfer-encoding',
      'x-request-id',
      'x-sluice-attempts',
      'x-sluice-provider',
      'x-sluice-request-id',
    ]);
    expect(response.headers.get('keep-alive')).not.toBe('timeout=1');
  });

  test('to a request for a stream passes as it is', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"x"}');
    });
    const response = await ask('/chat/completions', { body: '{"model":"gpt-x","stream":true,"messages":[]}' });
    expect([response.headers.get('content-type'), await response.text()]).toEqual(['application/json', '{"id":"x"}']);
  });
});

test('a stream that an upstream compresses unasked is opened, so that its events can be told apart', async () => {
  const bytes = gzipSync(chatWithUsage);
  upstream.answer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    return sendPieces(response, bytes, oddCuts(bytes.length));
  });
  const response = await gateway.fetch('/chat/completions', {
    method: 'POST',
    body: '{"model":"gpt-x","stream":true}',
  });
  expect(response.headers.get('content-encoding')).toBeNull();
  expect(await response.text()).toBe(chatWithoutUsage);
});

test('a quota that is used up is marked as not worth a retry, a rate limit is not', async () => {
  const shouldRetry = async (code: string) => {
    upstream.answer((_request, response) => {
      response.writeHead(429, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'no', type: code, param: null, code } }));
    });
    const response = await gateway.fetch('/embeddings', { method: 'POST', body: '{"model":"gpt-x","input":"x"}' });
    await response.text();
    return response.headers.get('x-should-retry');
  };
  expect(await shouldRetry('insufficient_quota')).toBe('false');
  expect(await shouldRetry('credit_balance_exhausted')).toBe('false');
  expect(await shouldRetry('rate_limit_exceeded')).toBeNull();
});
