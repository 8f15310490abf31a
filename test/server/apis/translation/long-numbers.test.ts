/** Integers that a double cannot hold: kept where they are passed on, and read where a number is expected. */
import { expect, test } from 'vitest';
import type { WireName } from '../../../../server/apis/neutral/conversation.ts';
import { type Json, moment, streamed, streamOf, targetOf, translatorOf } from './translating.ts';

const long = '12345678901234567890';

function request(from: WireName, to: 'openai-chat' | 'gemini-generate', body: string) {
  const translator = translatorOf(from, to);
  return translator.request(translator.read(Buffer.from(body)), targetOf('gemini-2.5-pro'));
}

test('a long seed is a number, as is a fraction in the same request', () => {
  const messages = '[{"role":"user","content":"Hi"}]';
  const body = `{"model":"m","messages":${messages},"seed":${long},"temperature":0.70}`;
  const sent = JSON.parse(request('openai-chat', 'gemini-generate', body).body.toString()) as Json;
  expect(sent.generationConfig).toMatchObject({ seed: Number(long), temperature: 0.7 });
});

test('a response repeats the long numbers of its tools in a stream as in a whole answer', () => {
  const parameters = `{"type":"object","properties":{"n":{"type":"integer","maximum":${long}}}}`;
  const body = `{"model":"m","input":"Hi","tools":[{"type":"function","name":"t","parameters":${parameters}}]}`;
  const translated = request('openai-responses', 'openai-chat', body);
  const message = { role: 'assistant', content: 'Hello' };
  const whole = translated.whole(
    Buffer.from(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] })),
    moment,
  );
  expect(whole?.ok && whole.body.toString()).toContain(`"maximum":${long}`);
  const chunk = { choices: [{ delta: { content: 'Hello' }, finish_reason: 'stop' }] };
  expect(streamed(translated, [streamOf([chunk, '[DONE]'], false)])).toContain(`"maximum":${long}`);
});

test.each([
  ['openai-chat', { messages: [{ role: 'user', content: 'Hi' }] }],
  ['openai-responses', { input: 'Hi' }],
  ['anthropic-messages', { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }],
] as const)('a call in a stream of Gemini keeps its long numbers for %s', (from, body) => {
  const call = `{"functionCall":{"name":"read","args":{"id":${long}}}}`;
  const event = `data: {"candidates":[{"content":{"parts":[${call}]},"finishReason":"STOP"}]}\n\n`;
  const translated = request(from, 'gemini-generate', JSON.stringify({ model: 'm', ...body }));
  expect(streamed(translated, [Buffer.from(event)])).toContain(long);
});
