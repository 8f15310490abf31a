/** Input from clients and upstreams that tries to make Sluice misbehave or hang. */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { json } from '../../support/upstream.ts';
import { answer, chat, startTwo, streams, type TwoUpstreams, textOf } from './two-upstreams.ts';

let both: TwoUpstreams;

beforeEach(async () => {
  both = await startTwo({ retries: 0, fallbacks: 1 });
});
afterEach(() => both.stop());

/** Resolves when more can be written, or never will be. */
function written(response: ServerResponse, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    response.write(bytes, () => resolve());
  });
}

function ask(body: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return both.gateway.fetch('/chat/completions', { method: 'POST', headers, body });
}

test.each([
  ['{"model":"gpt-x","MODEL":"denied","messages":[]}', 'model'],
  ['{"MODEL":"denied","model":"gpt-x","messages":[]}', 'model'],
  ['{"model":"denied","model":"gpt-x","messages":[]}', 'model'],
  ['{"model":"gpt-x","mod\\u0065l":"denied","messages":[]}', 'model'],
  ['{"model":"gpt-x","n":1,"N":50,"messages":[]}', 'n'],
])('input that servers may interpret in two ways is refused, and reaches none: %s', async (body, param) => {
  const response = await ask(body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param } });
  expect(both.one.seen).toHaveLength(0);
});

test('one key again and again is refused at once', async () => {
  const response = await ask(`{"model":"gpt-x",${'"n":1,'.repeat(200_000)}"messages":[]}`);
  expect(response.status).toBe(400);
});

test('a body of many megabytes is read while others are served, and arrives as it was', async () => {
  both.one.answer((_request, response) => json(response, { choices: [{ index: 0, message: { content: 'Hi' } }] }));
  const body = `{"model":"gpt-x","messages":[${'{},'.repeat(3_000_000)}{}]}`;
  const response = await ask(body);
  expect(response.status).toBe(200);
  expect(both.one.seen[0]?.body.toString() === body).toBe(true);
});

test('an endless stream of events without data is abandoned, and the next target called', async () => {
  streams(both.one, ['data:\n\n'.repeat(2_000)], 'stalls');
  streams(both.two, answer('two', 'Hel', 'lo'));
  const response = await both.gateway.fetch('/chat/completions', chat());
  expect(textOf(await response.text())).toBe('Hello');
  const { attempts } = await both.gateway.record();
  expect(attempts.map(({ failure }) => failure)).toEqual(['transient', null]);
  expect(attempts[0]?.droppedEvents).toBe(1_000);
});

test('an event of 100 MB is abandoned before its end, and the next target called', async () => {
  const [, first = ''] = answer('one', 'Hel');
  const piece = 'A'.repeat(1024 * 1024);
  let sent = 0;
  both.one.answer(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(first.slice(0, first.indexOf('Hel')));
    for (; sent < 100 && !response.destroyed; sent++) await written(response, piece);
    response.end(`${first.slice(first.indexOf('Hel'))}data: [DONE]\n\n`);
  });
  streams(both.two, answer('two', 'Hel', 'lo'));
  const response = await both.gateway.fetch('/chat/completions', chat());
  expect(textOf(await response.text())).toBe('Hello');
  expect(sent).toBeLessThan(100);
  const { attempts } = await both.gateway.record();
  expect(attempts.map(({ failure }) => failure)).toEqual(['transient', null]);
});

test('blocks without data and a byte order mark do not keep the SDK from a stream', async () => {
  const [head = '', hel = '', lo = '', ...end] = answer('one', 'Hel', 'lo');
  streams(both.one, [`\ufeffretry: 3000\n\n${head}id: 7\n\n`, hel, 'event: ping\n\n', lo, ...end]);
  const stream = await both.gateway.client.chat.completions.create({ model: 'gpt-x', messages: [], stream: true });
  let text = '';
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
  expect(text).toBe('Hello');
});

test('one that becomes such a stream after content is continued by the next target', async () => {
  streams(both.one, [...answer('one', 'Hel').slice(0, 2), 'data: x\n\n'.repeat(2_000)], 'stalls');
  streams(both.two, answer('two', 'Hel', 'lo'));
  const response = await both.gateway.fetch('/chat/completions', chat());
  expect(textOf(await response.text())).toBe('Hello');
});

test('a few events that are no JSON are left out', async () => {
  const [first = '', ...rest] = answer('one', 'Hel', 'lo');
  streams(both.one, [first, 'data: x\n\n'.repeat(900), ...rest]);
  const response = await both.gateway.fetch('/chat/completions', chat());
  expect(textOf(await response.text())).toBe('Hello');
  expect((await both.gateway.record()).attempts[0]?.droppedEvents).toBe(900);
});

test.each([
  ['of words that are looked for', `{"error":{"a":[${'"error",'.repeat(100_000)}1],"code":"x"}}`],
  ['with a long message', JSON.stringify({ error: { message: 'exceed'.repeat(150_000), code: 'x' } })],
])('an error %s is told as it came', async (_what, error) => {
  both.one.answer(
    (_request, response) => void response.writeHead(400, { 'content-type': 'application/json' }).end(error),
  );
  const response = await ask('{"model":"gpt-x","messages":[]}');
  expect(response.status).toBe(400);
  expect((await response.text()) === error).toBe(true);
});

test('an answer with one member again and again is judged at once', async () => {
  const whole = `{${'"id":1,'.repeat(100_000)}"choices":[{"index":0,"message":{"content":"Hi"}}]}`;
  both.one.answer(
    (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(whole),
  );
  const response = await ask('{"model":"gpt-x","messages":[]}');
  expect((await response.text()) === whole).toBe(true);
});
