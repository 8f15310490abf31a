import { expect, test } from 'vitest';
import { estimateTokens } from '../../../../../server/apis/core/usage/estimate-tokens.ts';
import { estimatePrompt } from '../../../../../server/apis/openai/usage/estimate-prompt.ts';

const prompt = (body: unknown) => estimatePrompt(Buffer.from(JSON.stringify(body)));
const text = 'The lighthouse keeper had learned to tell the weather by the sound of the gulls.';
const tokens = estimateTokens(text);

test('messages are their text and a little for each', () => {
  const messages = [
    { role: 'system', content: text },
    { role: 'user', content: [{ type: 'text', text }] },
  ];
  expect(prompt({ model: 'gpt-x', messages, temperature: 1 })).toBe(2 * tokens + 2 * 4);
});

test('calls that are sent back count with their arguments', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: text } };
  expect(prompt({ messages: [{ role: 'assistant', content: null, tool_calls: [call] }] })).toBe(4 + 1 + tokens);
});

test('prompts, inputs and instructions are text, texts, items or tokens', () => {
  expect(prompt({ prompt: text })).toBe(tokens);
  expect(prompt({ input: [text, text] })).toBe(2 * tokens);
  expect(prompt({ input: [1, 2, 3] })).toBe(3);
  expect(
    prompt({
      input: [
        [1, 2],
        [3, 4, 5],
      ],
    }),
  ).toBe(5);
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
  expect(prompt({ input: [item], instructions: text })).toBe(2 * tokens + 4);
});

test('tools are read by the model too', () => {
  const tools = [{ type: 'function', function: { name: 'look', description: text, parameters: { type: 'object' } } }];
  expect(prompt({ messages: [{ role: 'user', content: text }], tools })).toBeGreaterThan(2 * tokens);
});

test('a picture counts as a picture, however long its data', () => {
  const url = `data:image/png;base64,${'iVBORw0KGgo'.repeat(100_000)}`;
  const picture = (detail?: string) => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url, detail } },
          { type: 'text', text },
        ],
      },
    ],
  });
  expect(prompt(picture())).toBe(4 + tokens + 765);
  expect(prompt(picture('low'))).toBe(4 + tokens + 85);
  const sound = { type: 'input_audio', input_audio: { data: 'UklGR'.repeat(1_000), format: 'wav' } };
  expect(prompt({ messages: [{ role: 'user', content: [sound] }] })).toBeLessThan(10);
});

test('what is not a prompt is unknown, not nothing', () => {
  expect(prompt({ model: 'gpt-x' })).toBeNull();
  expect(prompt([])).toBeNull();
  expect(estimatePrompt(Buffer.from('{"messages": "cut'))).toBeNull();
  expect(estimatePrompt(Buffer.from('{"input": "data:x;base64,never ended'))).toBeNull();
});

test('endless nesting causes no problem', () => {
  expect(estimatePrompt(Buffer.from(`{"input":${'['.repeat(5_000)}${']'.repeat(5_000)}}`))).toBeNull();
});

test('a prompt that is long is estimated by its length, within a quarter of what its parts are', () => {
  const text = 'The quick brown fox jumps over the lazy dog, and then it sleeps. '.repeat(60);
  const messages = (count: number) => ({
    messages: Array.from({ length: count }, () => ({ role: 'user', content: text })),
  });
  const few = prompt(messages(10)) ?? 0;
  const many = prompt(messages(1_000)) ?? 0;
  expect(many / (100 * few)).toBeGreaterThan(0.75);
  expect(many / (100 * few)).toBeLessThan(1.25);
});

test('pictures count as pictures, however long a prompt is', () => {
  const url = `data:image/png;base64,${'A'.repeat(3_000_000)}`;
  const content = [
    { type: 'image_url', image_url: { url } },
    { type: 'text', text: 'word '.repeat(50_000) },
  ];
  const tokens = prompt({ messages: [{ role: 'user', content }] }) ?? 0;
  expect(tokens).toBeGreaterThan(45_000);
  expect(tokens).toBeLessThan(55_000);
});
