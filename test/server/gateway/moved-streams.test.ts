/** Streams that another thread takes over in the middle: over real sockets, with what arrives meanwhile. */
import http from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { chunk, ending } from '../../support/strict-chat.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl, { serves: ['chat'] })] } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const words = Array.from({ length: 20_000 }, (_, index) => ` w${index}`);
/** An event with thousands of values that mean nothing. */
const heavy = chunk({ content: ' heavy' }).replace('{', `{"x_padding":[${'0,'.repeat(9_000)}0],`);
const stream = [
  ...words.slice(0, 100).map((content) => chunk({ content })),
  heavy,
  ...words.slice(100).map((content) => chunk({ content })),
  ending('stop'),
].join('');
const said = [...words.slice(0, 100), ' heavy', ...words.slice(100)].join('');

const ways = {
  'anthropic-messages': {
    path: '/messages',
    body: { model: 'gpt-x', stream: true, max_tokens: 9, messages: [{ role: 'user', content: 'x' }] },
    text: /"text_delta","text":("[^"]*")/g,
  },
  'openai-responses': {
    path: '/responses',
    body: { model: 'gpt-x', stream: true, store: false, input: 'x' },
    text: /"type":"response.output_text.delta".*?"delta":("[^"]*")/g,
  },
};

test.each(Object.entries(ways))('%s: what arrives while another thread takes over comes after it', async (_, way) => {
  for (const encoding of ['gzip', 'identity']) {
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': encoding });
      response.end(encoding === 'gzip' ? gzipSync(stream) : stream);
    });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(way.body) };
    const told = await (await gateway.fetch(way.path, init)).text();
    expect([...told.matchAll(way.text)].map(([, text = '']) => JSON.parse(text)).join('')).toBe(said);
    expect(told).not.toContain('event: error');
  }
});

test('a client that does not read holds the provider up, whichever thread translates', async () => {
  const many = Array.from({ length: 300 }, () => chunk({ content: 'x'.repeat(10) })).join('');
  let sentBytes = 0;
  let isBlocked = false;
  upstream.answer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: 'x' }));
    response.write(heavy);
    const go = () => {
      isBlocked = false;
      for (let each = 0; each < 10; each++) {
        sentBytes += many.length;
        if (!response.write(many)) {
          isBlocked = true;
          response.once('drain', go);
          return;
        }
      }
      setImmediate(go);
    };
    go();
  });
  const { path, body } = ways['openai-responses'];
  const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
  const request = http.request(`${gateway.baseUrl}${path}`, { method: 'POST', headers });
  const answered = new Promise<http.IncomingMessage>((resolve) => request.once('response', resolve));
  request.end(JSON.stringify(body));
  const response = await answered;
  response.pause();
  const mostBytes = 64 * 1024 * 1024;
  let lastBytes = -1;
  let looks = 0;
  await eventually(() => {
    looks = isBlocked && sentBytes === lastBytes ? looks + 1 : 0;
    lastBytes = sentBytes;
    return looks > 100 || sentBytes > mostBytes;
  });
  expect(sentBytes).toBeLessThan(mostBytes);
  request.destroy();
});
