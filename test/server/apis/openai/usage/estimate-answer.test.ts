import { expect, test } from 'vitest';
import { estimateTokens } from '../../../../../server/apis/core/usage/prompt-estimate.ts';
import { estimateAnswer } from '../../../../../server/apis/openai/usage/estimate-answer.ts';

const words = 'Over thirty winters the keeper had learned to tell the weather by the sound of the gulls. '.repeat(8);
const tokens = estimateTokens(words);

const stream = (text: string, bytes?: number) => {
  const tail = Buffer.from(text);
  return estimateAnswer({ tail, bytes: bytes ?? tail.length, contentType: 'text/event-stream; charset=utf-8' });
};
const json = (value: unknown) => {
  const tail = Buffer.from(JSON.stringify(value));
  return estimateAnswer({ tail, bytes: tail.length, contentType: 'application/json' });
};
const chunk = (delta: object) => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta }] })}\n\n`;
const chunks = (text: string) =>
  text
    .split(/(?= )/)
    .map((content) => chunk({ content }))
    .join('');

test('the text of a chat stream, its reasoning and its calls', () => {
  expect(stream(chunks(words))).toBe(tokens);
  expect(stream(chunk({ reasoning_content: words, reasoning: words }) + chunk({ content: '' }))).toBe(tokens);
  const call = chunk({ tool_calls: [{ index: 0, function: { name: 'look', arguments: '{"at":"sea"}' } }] });
  expect(stream(call)).toBe(estimateTokens('look{"at":"sea"}'));
});

test('a stream that was cut in the middle of an event counts what is whole', () => {
  expect(stream(`${chunks(words)}data: {"choices":[{"delta":{"content":"half`)).toBe(tokens);
});

test('typed events count each text once', () => {
  const delta = words
    .split(/(?= )/)
    .map(
      (text) =>
        `event: response.output_text.delta\ndata: ${JSON.stringify({ type: 'response.output_text.delta', delta: text })}\n\n`,
    )
    .join('');
  const done = `data: ${JSON.stringify({ type: 'response.output_text.done', text: words })}\n\n`;
  expect(stream(delta + done)).toBe(tokens);
  expect(stream(`data: ${JSON.stringify({ type: 'speech.audio.delta', audio: 'AAAA' })}\n\n`)).toBe(0);
});

test('of a long stream the end stands for all of it', () => {
  const whole = chunks(words.repeat(20));
  const tail = whole.slice(-12_000);
  const estimate = stream(tail, whole.length) ?? 0;
  expect(Math.abs(estimate / (tokens * 20) - 1)).toBeLessThan(0.05);
});

test('one event of many megabytes is estimated by its end, unless that is of an image or a sound', () => {
  const tailOf = (content: string) => `${content.repeat(200)}"}}]}\n\ndata: [DONE]\n\n`.slice(-8_000);
  expect(stream(tailOf(words.replaceAll('. ', '.\\n')), 100_000)).toBeGreaterThan(10_000);
  expect(stream(tailOf(words), 50_000_000)).toBe(262_144);
  expect(stream(tailOf('iVBORw0KGgo+AAAA/SUhEUgAA'), 50_000_000)).toBe(0);
});

test('the text of a whole reply in JSON', () => {
  expect(json({ choices: [{ message: { role: 'assistant', content: words } }] })).toBe(tokens);
  expect(json({ choices: [{ text: words }, { text: words }] })).toBe(estimateTokens(words + words));
  const message = { type: 'message', content: [{ type: 'output_text', text: words }] };
  expect(json({ object: 'response', output: [message] })).toBe(tokens);
  expect(json({ object: 'list', data: [{ embedding: [0.1, 0.2] }] })).toBe(0);
});

test('what is made in the background is not known yet', () => {
  expect(json({ object: 'response', status: 'queued', output: [], usage: null })).toBeNull();
});

test('a piece of a reply in JSON is read as text, escapes as what they stand for', () => {
  const chinese = '老街的尽头有一家修表铺，门面只有两米宽。'.repeat(40);
  const escaped = JSON.stringify({ choices: [{ message: { content: chinese } }] }).replaceAll(
    /[^ -~]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const tail = Buffer.from(escaped.slice(0, 2_000));
  const estimate = estimateAnswer({ tail, bytes: escaped.length, contentType: 'application/json' }) ?? 0;
  expect(Math.abs(estimate / estimateTokens(chinese) - 1)).toBeLessThan(0.1);
});

test('sound, pictures and what was compressed are not read', () => {
  expect(estimateAnswer({ tail: Buffer.from('ID3'), bytes: 3, contentType: 'audio/mpeg' })).toBeNull();
  const gzip = Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0x00]);
  expect(estimateAnswer({ tail: gzip, bytes: 5, contentType: 'application/json' })).toBeNull();
});

test('no text is estimated at more than a quarter of a million tokens', () => {
  const tail = Buffer.from('a'.repeat(10_000));
  expect(estimateAnswer({ tail, bytes: 256 * 1024 * 1024, contentType: 'application/json' })).toBe(262_144);
});
