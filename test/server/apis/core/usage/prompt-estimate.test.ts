import { describe, expect, test } from 'vitest';
import { messages } from '../../../../../server/apis/anthropic/messages.ts';
import { estimateTokens, mostPromptTokens } from '../../../../../server/apis/core/usage/prompt-estimate.ts';
import type { Wire } from '../../../../../server/apis/core/wire.ts';
import { generateContent } from '../../../../../server/apis/gemini/generate.ts';
import type { WireName } from '../../../../../server/apis/neutral/conversation.ts';
import { chat } from '../../../../../server/apis/openai/chat.ts';
import { responses } from '../../../../../server/apis/openai/responses.ts';
import { estimateRequestTokens } from '../../../../../server/apis/translation/translator.ts';
import { JsonBody } from '../../../../../server/http/body/json-body.ts';

const estimatePrompt = (json: Buffer) => chat.usage.text?.ofPrompt(json) ?? null;

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
  expect(prompt(picture())).toBe(4 + tokens + 1_600);
  expect(prompt(picture('low'))).toBe(4 + tokens + 85);
  const sound = { type: 'input_audio', input_audio: { data: 'UklGR'.repeat(1_000), format: 'wav' } };
  expect(prompt({ messages: [{ role: 'user', content: [sound] }] })).toBeLessThan(30);
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

describe('every estimate of every API agrees about', () => {
  const data = Buffer.alloc(300_000, 'a picture, a page or a sound').toString('base64');
  const say = 'What is it?';
  const openaiText = { type: 'text', text: say };
  const inputText = { type: 'input_text', text: say };
  const claude = (type: string, media_type: string) => ({ type, source: { type: 'base64', media_type, data } });
  const gemini = (mimeType: string) => ({ inlineData: { mimeType, data } });
  const chatOf = (part: object) => ({ messages: [{ role: 'user', content: [part, openaiText] }] });
  const responseOf = (part: object) => ({ input: [{ role: 'user', content: [part, inputText] }] });
  const messageOf = (part: object) => ({ max_tokens: 9, messages: [{ role: 'user', content: [part, openaiText] }] });
  const contentsOf = (part: object) => ({ contents: [{ role: 'user', parts: [part, { text: say }] }] });
  const png = `data:image/png;base64,${data}`;
  const pdf = `data:application/pdf;base64,${data}`;
  const file = { filename: 'a.pdf', file_data: pdf };
  const sound = { type: 'input_audio', input_audio: { data, format: 'wav' } };

  /** Tokens by kind: a picture, a document of 400,000 characters of base64, and a sound of as many. */
  const cases: [what: string, Wire, WireName, body: object, tokens: number][] = [
    ['a picture', chat, 'openai-chat', chatOf({ type: 'image_url', image_url: { url: png } }), 1_600],
    ['a picture', responses, 'openai-responses', responseOf({ type: 'input_image', image_url: png }), 1_600],
    ['a picture', messages, 'anthropic-messages', messageOf(claude('image', 'image/png')), 1_600],
    ['a picture', generateContent, 'gemini-generate', contentsOf(gemini('image/png')), 1_600],
    [
      'a picture in capitals',
      ...([chat, 'openai-chat'] as const),
      chatOf({ type: 'image_url', image_url: { url: `DATA:IMAGE/PNG;BASE64,${data}` } }),
      1_600,
    ],
    [
      'a picture in snake case',
      ...([generateContent, 'gemini-generate'] as const),
      contentsOf({ inline_data: { data, mime_type: 'image/png' } }),
      1_600,
    ],
    [
      'a picture in a tool’s result',
      ...([messages, 'anthropic-messages'] as const),
      {
        max_tokens: 9,
        messages: [
          { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'see', input: {} }] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 't', content: [claude('image', 'image/png')] }],
          },
        ],
      },
      1_600,
    ],
    ['a PDF', chat, 'openai-chat', chatOf({ type: 'file', file }), 31_600],
    ['a PDF', responses, 'openai-responses', responseOf({ type: 'input_file', ...file }), 31_600],
    ['a PDF', messages, 'anthropic-messages', messageOf(claude('document', 'application/pdf')), 31_600],
    ['a PDF', generateContent, 'gemini-generate', contentsOf(gemini('application/pdf')), 31_600],
    ['a sound', chat, 'openai-chat', chatOf(sound), 1_164],
    ['a sound', generateContent, 'gemini-generate', contentsOf(gemini('audio/wav')), 1_164],
  ];

  test.each(cases)('%s: %j', (_what, wire, name, body, tokens) => {
    const json = Buffer.from(JSON.stringify({ model: 'm', ...body }));
    const view = new JsonBody(json);
    const estimates = {
      ledger: wire.usage.text?.ofPrompt(json) ?? 0,
      reserved: wire.usage.likely(view).inputTokens ?? 0,
      counted: estimateRequestTokens(name, json),
    };
    for (const [which, estimate] of Object.entries(estimates)) {
      expect(estimate, which).toBeGreaterThanOrEqual(tokens);
      expect(estimate, which).toBeLessThan(tokens + 130);
    }
    const most = wire.usage.worst(view, { outputTokens: null, contextTokens: null }).inputTokens ?? 0;
    expect(most).toBeGreaterThan(Math.max(...Object.values(estimates)));
    expect(most).toBeLessThan(60_000);
  });

  test('what is only called data, and is text', () => {
    const words = 'some words and more of them. '.repeat(4_000);
    const hidden = `${'A'.repeat(2_000)} ${words}`;
    for (const text of [words, hidden, `data:image/png;base64,${hidden}`]) {
      const json = Buffer.from(JSON.stringify(messageOf({ source: { type: 'text', data: text } })));
      expect(mostPromptTokens(json)).toBe(json.length);
    }
  });
});
