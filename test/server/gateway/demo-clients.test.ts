/** The built-in demo answers clients of all four APIs, with thoughts, tools and images. */
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
const picture = 'iVBORw0KGgo=';
const parameters = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] };

test('a chat', async () => {
  const { choices } = await gateway.client.chat.completions.create({
    model,
    reasoning_effort: 'low',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hello' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } },
        ],
      },
    ],
  });
  expect(choices[0]?.message.content).toMatch(/"Hello".*Attached: image/);
  expect(choices[0]?.message).toHaveProperty('reasoning_content');
});

test('a response', async () => {
  const { output } = await gateway.client.responses
    .stream({
      model,
      reasoning: { effort: 'low' },
      input: question,
      tools: [{ type: 'function', name: 'weather', parameters, strict: false }],
    })
    .finalResponse();
  expect(output).toMatchObject([
    { type: 'reasoning', summary: [{ type: 'summary_text' }] },
    { type: 'function_call', name: 'weather', arguments: '{"place":"demo"}' },
  ]);
});

test('a message of Anthropic’s API', async () => {
  const client = claudeAt(gateway);
  const asked = { model, max_tokens: 2_048, thinking: { type: 'enabled' as const, budget_tokens: 1_024 } };
  const tools = [{ name: 'weather', input_schema: { ...parameters, type: 'object' as const } }];
  const called = await client.messages.stream({ ...asked, tools, messages: [{ role: 'user', content: question }] });
  const { content } = await called.finalMessage();
  expect(content).toMatchObject([
    { type: 'thinking' },
    { type: 'tool_use', name: 'weather', input: { place: 'demo' } },
  ]);
  const source = { type: 'base64' as const, media_type: 'image/png' as const, data: picture };
  const seen = await client.messages.create({
    ...asked,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source },
          { type: 'text', text: 'Hello' },
        ],
      },
    ],
  });
  expect(seen.content.at(-1)).toMatchObject({ type: 'text', text: expect.stringMatching(/"Hello".*Attached: image/) });
});

test('an answer of Gemini’s API', async () => {
  const client = geminiAt(gateway);
  const thinkingConfig = { thinkingLevel: ThinkingLevel.LOW, includeThoughts: true };
  const functionDeclarations = [{ name: 'weather', parametersJsonSchema: parameters }];
  const called = await client.models.generateContent({
    model,
    contents: question,
    config: { thinkingConfig, tools: [{ functionDeclarations }] },
  });
  expect(called.functionCalls).toMatchObject([{ name: 'weather', args: { place: 'demo' } }]);
  expect(called.candidates?.[0]?.content?.parts?.[0]).toMatchObject({ thought: true });
  const seen = await client.models.generateContent({
    model,
    contents: [{ inlineData: { mimeType: 'image/png', data: picture } }, { text: 'Hello' }],
  });
  expect(seen.text).toMatch(/"Hello".*Attached: image/);
});
