/** Whole answers whose bytes are unusual: they pass as they came where nothing of them has to be read. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { testKey } from '../../support/gateway.ts';
import { completion } from '../../support/strict-chat.ts';
import { json } from '../../support/upstream.ts';
import { startTwo, type TwoUpstreams } from './two-upstreams.ts';

let both: TwoUpstreams;
beforeEach(async () => {
  both = await startTwo({ retries: 0, fallbacks: 1 });
  both.two.answer((_request, response) => json(response, completion({ content: 'of two' })));
});
afterEach(() => both.stop());

const texts = { short: 'Hello', 'of 200 kB': 'Hello '.repeat(34_000) };
const withText = (text: string, more: object = {}) => JSON.stringify({ ...completion({ content: text }), ...more });

/** What Python's `json` writes for numbers that JSON lacks. */
function withOddNumbers(text: string): string {
  const logprobs = { content: [{ token: 'NaN', logprob: 'not', top_logprobs: ['minus', 'plus'] }] };
  const numbers = withText(text, { logprobs });
  return numbers.replace('"not"', 'NaN').replace('"minus"', '-Infinity').replace('"plus"', ' Infinity');
}

interface Packed {
  bytes: Buffer;
  headers?: Record<string, string>;
}

const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16();
const bom = '\ufeff';
const forms: Record<string, (text: string) => Packed> = {
  'with line feeds between its members': (text) => ({
    bytes: Buffer.from(JSON.stringify(JSON.parse(withText(text)), null, '\t')),
  }),
  'with NaN and infinities': (text) => ({ bytes: Buffer.from(withOddNumbers(text)) }),
  'in gzip twice': (text) => ({
    bytes: gzipSync(gzipSync(withText(text))),
    headers: { 'content-encoding': 'gzip, gzip' },
  }),
  'in deflate and Brotli': (text) => ({
    bytes: brotliCompressSync(deflateSync(withText(text))),
    headers: { 'content-encoding': 'deflate,br' },
  }),
  'in gzip with bytes behind its end': (text) => ({
    bytes: Buffer.concat([gzipSync(withText(text)), Buffer.from('and more')]),
    headers: { 'content-encoding': 'gzip' },
  }),
  'in UTF-16': (text) => ({ bytes: Buffer.from(withText(text), 'utf16le') }),
  'in UTF-16 with its mark': (text) => ({ bytes: Buffer.from(bom + withText(text), 'utf16le') }),
  'in UTF-16 with the bytes swapped': (text) => ({ bytes: swapped(bom + withText(text)) }),
};

/** Not by `fetch`, which would decompress it. */
async function ask(path = '/v1/chat/completions'): Promise<{ status: number; body: Buffer }> {
  const { request } = await import('node:http');
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: Buffer }>();
  const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
  const asking = request(both.gateway.origin + path, { method: 'POST', headers }, async (response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) });
  });
  asking.on('error', reject);
  asking.end(JSON.stringify({ model: 'gpt-x', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }));
  return promise;
}

describe.each(Object.entries(texts))('an answer that is %s', (_size, text) => {
  test.each(Object.entries(forms))('and %s passes as it came', async (_form, form) => {
    const { bytes, headers } = form(text);
    both.one.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length, ...headers });
      response.end(bytes);
    });
    const { status, body } = await ask();
    expect([status, body.equals(bytes), both.two.seen.length]).toEqual([200, true, 0]);
    expect((await both.gateway.record()).outcome).toBe('ok');
  });

  test.each(Object.entries(forms))('and %s is read or replaced where it is translated', async (_form, form) => {
    const { bytes, headers } = form(text);
    both.one.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length, ...headers });
      response.end(bytes);
    });
    const { status, body } = await ask('/v1/messages');
    const { content } = JSON.parse(body.toString());
    expect(status).toBe(200);
    expect([text, 'of two']).toContain(content[0].text);
  });

  const spoilt = { 'a NUL': '\0', 'a line feed': '\n', 'a tab': '\t' };
  test.each(Object.entries(spoilt))(
    'and has %s in a string, which no parser takes, is replaced',
    async (_what, character) => {
      both.one.answer((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(withText(text).replace('Hello', `Hel${character}lo`));
      });
      const { body } = await ask();
      expect(JSON.parse(body.toString()).choices[0].message.content).toBe('of two');
    },
  );

  test.each(['', 'gzip', 'gzip, gzip'])('is replaced if it is cut, with the encoding "%s"', async (encoding) => {
    const plain = Buffer.from(withText(text));
    const times = encoding === '' ? 0 : encoding.split(',').length;
    const packed = Array.from({ length: times }).reduce<Buffer>((bytes) => gzipSync(bytes), plain);
    both.one.answer((_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        ...(encoding !== '' && { 'content-encoding': encoding }),
      });
      response.end(packed.subarray(0, -20));
    });
    const { body } = await ask();
    expect(JSON.parse(body.toString()).choices[0].message.content).toBe('of two');
  });
});
