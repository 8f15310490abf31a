/** The built-in demo answers clients of all four APIs in words, whole and streamed, whatever they offer and ask for. */
import { ThinkingLevel } from '@google/genai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashOf, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { claudeAt, geminiAt } from '../../support/sdk-clients.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({
    config: { providers: [], settings: { demo: 'on' }, keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }] },
  });
});
afterAll(() => gateway.stop());

const model = 'demo-chat';
const question = 'What is the weather?';
const answer = /built-in demo provider.*You wrote: "What is the weather\?"/;
const picture = 'iVBORw0KGgo=';
const parameters = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] };

test('a chat with a picture, thoughts and tools', async () => {
  const url = `data:image/png;base64,${picture}`;
  const asked = {
    model,
    reasoning_effort: 'low' as const,
    tools: [{ type: 'function' as const, function: { name: 'weather', parameters } }],
    messages: [
      {
        role: 'user' as const,
        content: [
          { type: 'image_url' as const, image_url: { url } },
          { type: 'text' as const, text: question },
        ],
      },
    ],
  };
  const { choices } = await gateway.client.chat.completions.create(asked);
  expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: expect.stringMatching(answer) } });
  const streamed = await gateway.client.chat.completions.stream(asked).finalChatCompletion();
  expect(streamed.choices[0]?.message.content).toBe(choices[0]?.message.content);
});

test('a chat that is cut at its limit, and one that is to be JSON', async () => {
  const messages = [{ role: 'user' as const, content: question }];
  const { choices, usage } = await gateway.client.chat.completions.create({ model, messages, max_tokens: 3 });
  expect([choices[0]?.finish_reason, usage?.completion_tokens]).toEqual(['length', 3]);
  const asJson = { model, messages, response_format: { type: 'json_object' as const } };
  const parsed = await gateway.client.chat.completions.create(asJson);
  expect(JSON.parse(parsed.choices[0]?.message.content ?? '')).toEqual({ message: expect.stringMatching(answer) });
});

test('a response, as Codex asks for it, and its continuation', async () => {
  const tools = [
    { type: 'function' as const, name: 'shell', parameters, strict: false },
    { type: 'custom' as const, name: 'apply_patch' },
    { type: 'web_search' as const },
  ];
  const asked = { model, reasoning: { effort: 'low' as const }, input: question, tools, parallel_tool_calls: false };
  const streamed = await gateway.client.responses.stream(asked).finalResponse();
  expect(streamed).toMatchObject({ status: 'completed', output_text: expect.stringMatching(answer) });
  const whole = await gateway.client.responses.create({ ...asked, previous_response_id: streamed.id });
  expect(whole.output_text).toMatch(answer);
  expect((await gateway.client.responses.retrieve(whole.id)).output_text).toBe(whole.output_text);
});

test('a message of Anthropic’s API, and a count of its tokens', async () => {
  const client = claudeAt(gateway);
  const tools = [{ name: 'weather', input_schema: { ...parameters, type: 'object' as const } }];
  const messages = [{ role: 'user' as const, content: question }];
  const thinking = { type: 'enabled' as const, budget_tokens: 1_024 };
  const asked = { model, max_tokens: 2_048, thinking, tools, messages };
  const { content } = await client.messages.create(asked);
  expect(content).toMatchObject([{ type: 'text', text: expect.stringMatching(answer) }]);
  expect((await client.messages.stream(asked).finalMessage()).content).toEqual(content);
  expect((await client.messages.countTokens({ model, messages })).input_tokens).toBeGreaterThan(0);
});

test('an answer of Gemini’s API', async () => {
  const client = geminiAt(gateway);
  const thinkingConfig = { thinkingLevel: ThinkingLevel.LOW, includeThoughts: true };
  const functionDeclarations = [{ name: 'weather', parametersJsonSchema: parameters }];
  const asked = { model, contents: question, config: { thinkingConfig, tools: [{ functionDeclarations }] } };
  const { text } = await client.models.generateContent(asked);
  expect(text).toMatch(answer);
  let streamed = '';
  for await (const piece of await client.models.generateContentStream(asked)) streamed += piece.text ?? '';
  expect(streamed).toBe(text);
});
