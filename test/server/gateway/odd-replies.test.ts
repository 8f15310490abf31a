/**
 * Replies with a wrong content type, or of unusual length: the client receives their content, or another target's
 * answer.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { json, type Script } from '../../support/upstream.ts';
import { answer, chat, startTwo, type TwoUpstreams, textOf } from './two-upstreams.ts';

const good = { id: 'x', object: 'chat.completion', choices: [{ index: 0, message: { content: 'Hi' } }] };
let both: TwoUpstreams;

beforeEach(async () => {
  both = await startTwo({ retries: 1, fallbacks: 1 });
  both.two.answer((_request, response) => json(response, { ...good, id: 'of two', data: [{ embedding: [1] }] }));
});
afterEach(() => both.stop());

const called =
  (type: string | undefined, body: string | Buffer): Script =>
  (_request, response) =>
    void response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end(body);

const wrongTypes = ['text/plain', 'application/octet-stream', 'audio/mpeg', undefined];

test.each(wrongTypes)('JSON with the content type %s is sent as JSON, and its usage is read', async (type) => {
  both.one.answer(called(type, JSON.stringify({ ...good, usage: { prompt_tokens: 3, completion_tokens: 4 } })));
  const reply = await both.gateway.client.chat.completions.create({ model: 'gpt-x', messages: [] });
  expect(reply.choices[0]?.message.content).toBe('Hi');
  expect((await both.gateway.record()).usage).toEqual({ inputTokens: 3, outputTokens: 4 });
});

test.each([...wrongTypes, 'application/json'])('a stream with the content type %s is read as one', async (type) => {
  both.one.answer(called(type, answer('one', 'Hel', 'lo').join('')));
  const response = await both.gateway.fetch('/chat/completions', chat());
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  expect(textOf(await response.text())).toBe('Hello');
  expect(both.two.seen).toHaveLength(0);
});

test('an error with an audio content type is sent as the error', async () => {
  for (const one of [both.one, both.two]) one.answer(called('audio/mpeg', '{"error":{"message":"No such voice"}}'));
  const body = JSON.stringify({ model: 'gpt-x', input: 'Hi', voice: 'x' });
  const headers = { 'content-type': 'application/json' };
  const response = await both.gateway.fetch('/audio/speech', { method: 'POST', headers, body });
  expect([response.status, response.headers.get('content-type')]).toEqual([502, 'application/json']);
  expect(await response.json()).toMatchObject({ error: { message: 'No such voice' } });
});

const embed = (path = '/embeddings') => {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'gpt-x', input: 'Hi', prompt: 'Hi' });
  return both.gateway.fetch(path, { method: 'POST', headers, body });
};

test.each([
  ['/embeddings', JSON.stringify({ object: 'list', data: [{ embedding: Array.from({ length: 600_000 }, Math.sin) }] })],
  ['/images/generations', JSON.stringify({ created: 1, data: [{ b64_json: 'A'.repeat(20_000_000) }] })],
])('a long answer of %s passes', async (path, body) => {
  both.one.answer(called('application/json', body));
  const text = await (await embed(path)).text();
  expect(text === body).toBe(true);
});

test('a long response with pictures passes', async () => {
  const picture = { type: 'image_generation_call', result: 'A'.repeat(36_000_000) };
  const body = JSON.stringify({ id: 'resp_1', object: 'response', error: null, output: [picture] });
  both.one.answer(called('application/json', body));
  const text = await (await embed('/responses')).text();
  expect(text === body).toBe(true);
});

test.each([
  ['cut at a bracket', (body: string) => body.slice(0, body.lastIndexOf('}', body.length - 20) + 1)],
  ['garbled in the middle', (body: string) => `${body.slice(0, 30_000)}\0{{{${body.slice(30_004)}`],
  ['followed by another', (body: string) => body.repeat(200)],
])('an answer of unknown length that is %s is replaced by the next target’s', async (_what, spoil) => {
  const embedding = Array.from({ length: 3_000 }, (_, index) => Math.sin(index));
  const body = spoil(JSON.stringify({ object: 'list', data: [{ embedding }, { embedding: [1] }], model: 'gpt-x' }));
  // As in HTTP/1.0: neither a length nor chunks, so that a cut looks like an end.
  both.one.answer((_request, response) => {
    response.useChunkedEncodingByDefault = false;
    response.removeHeader('transfer-encoding');
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.write(body);
    response.end();
  });
  expect(await (await embed()).json()).toMatchObject({ id: 'of two' });
});

const hear = (path: string, fields: Record<string, string>) => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ model: 'gpt-x', ...fields })) form.set(name, value);
  form.set('file', new File(['RIFF'], 'a.wav'));
  return both.gateway.fetch(path, { method: 'POST', body: form });
};
const piecesOfText = answer('one', 'Hel', 'lo').join('');

test.each([
  ['/audio/transcriptions', 'True'],
  ['/audio/transcriptions', '1'],
  ['/audio/translations', 'true'],
])('a stream of %s passes where it was asked for with %s', async (path, stream) => {
  both.one.answer(called('text/event-stream', piecesOfText));
  expect(await (await hear(path, { stream })).text()).toBe(piecesOfText);
});

test.each([1, 'true', 'TRUE'])('a stream of a chat passes where it was asked for with %j', async (stream) => {
  both.one.answer(called('text/event-stream', piecesOfText));
  expect(textOf(await (await both.gateway.fetch('/chat/completions', chat({ stream }))).text())).toBe('Hello');
  expect(both.two.seen).toHaveLength(0);
});

test.each([0, 'false', null])(
  'a streamed chat is replaced by another target’s whole answer if %j was requested',
  async (stream) => {
    both.one.answer(called('text/event-stream', piecesOfText));
    const response = await both.gateway.fetch('/chat/completions', chat({ stream }));
    expect(await response.json()).toMatchObject({ id: 'of two' });
  },
);

test.each([
  ['text', 'text/html; charset=utf-8'],
  ['lrc', 'text/plain'],
  ['md', 'text/markdown'],
])('a transcript as %s with the content type %s passes', async (format, type) => {
  both.one.answer(called(type, '[00:00.00] <Hello>'));
  expect(await (await hear('/audio/transcriptions', { response_format: format })).text()).toBe('[00:00.00] <Hello>');
});

test.each(['/audio/transcriptions', '/audio/translations'])('the text of %s passes as a JSON string', async (path) => {
  const text = ` "${'Say \\"Hello\\".'.repeat(2_000)}"\n`;
  for (const body of ['"Hello"', '""', text, JSON.stringify('A'.repeat(2_000_000))]) {
    both.one.answer(called('application/json', body));
    const response = await hear(path, { response_format: 'text' });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect((await response.text()) === body).toBe(true);
  }
  expect(both.two.seen).toHaveLength(0);
});

test('a truncated JSON string is not accepted as a transcript', async () => {
  both.one.answer(called('application/json', '"Hel'));
  both.two.answer(called('text/plain', 'Hello'));
  expect(await (await hear('/audio/transcriptions', { response_format: 'text' })).text()).toBe('Hello');
});

test.each(['text/html', 'text/plain'])(
  'an HTML page with the content type %s is not accepted as a transcript',
  async (type) => {
    both.one.answer(called(type, '\n<!DOCTYPE html><html>Sign in</html>'));
    both.two.answer(called('text/plain', 'Hello'));
    expect(await (await hear('/audio/transcriptions', { response_format: 'text' })).text()).toBe('Hello');
  },
);

test.each(['<html is the first tag of a page, and', '<!doctype html comes before it'])(
  'a transcript that begins with %j is one',
  async (said) => {
    both.one.answer(called('text/plain', said));
    expect(await (await hear('/audio/transcriptions', { response_format: 'text' })).text()).toBe(said);
    expect(both.two.seen).toHaveLength(0);
  },
);

test.each([
  '{"text":"Hello"}\n',
  '"Hello"\n',
  'Hello\n',
  'Hello',
  '[Music]\n',
  '{Hello}\n',
  '123\n',
  'null\n',
  '\n',
  '',
])('a transcript as text that is labelled JSON passes: %j', async (body) => {
  for (const format of ['text', 'srt', 'vtt']) {
    both.one.answer(called('application/json; charset=utf-8', body));
    const response = await hear('/audio/transcriptions', { response_format: format });
    expect([response.status, await response.text()]).toEqual([200, body]);
  }
  expect(both.two.seen).toHaveLength(0);
});

test.each(['{"text":"Hel', '"Hel', '[{"text":"Hel'])('JSON that is cut is no transcript: %j', async (body) => {
  both.one.answer(called('application/json', body));
  both.two.answer(called('text/plain', 'Hello'));
  expect(await (await hear('/audio/transcriptions', { response_format: 'text' })).text()).toBe('Hello');
});

const logprobs = JSON.stringify(Array.from({ length: 100_000 }, (_, at) => ({ token: at, logprob: -0.123_456 })));
const fillers = { 'one long text': JSON.stringify('x'.repeat(2_000_000)), 'many values': logprobs };

test.each(Object.entries(fillers))('a chat of 2 MB whose choices come last passes, after %s', async (_what, filler) => {
  for (const isChunked of [false, true]) {
    const body = `{"id":"x","prompt_logprobs":${filler},"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"}}]}`;
    both.one.answer((_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        ...(!isChunked && { 'content-length': Buffer.byteLength(body) }),
      });
      response.end(body);
    });
    const text = await (await both.gateway.fetch('/chat/completions', chat({ stream: false }))).text();
    expect(text === body).toBe(true);
  }
  expect(both.two.seen).toHaveLength(0);
});
