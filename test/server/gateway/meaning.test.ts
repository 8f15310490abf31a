/** What changes the meaning of a request or an answer reaches the other side, or is told: never lost in silence. */
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { claudeAt, geminiAt } from '../../support/sdk-clients.ts';
import * as chat from '../../support/strict-chat.ts';
import * as gemini from '../../support/strict-gemini.ts';
import * as responses from '../../support/strict-responses.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import type { Json } from '../apis/translation/translating.ts';

const refusal = 'I cannot help with that.';
let chatAnswer: Json = { content: 'Hi.' };
const service = chat.strictChat(
  (body, response) => {
    if (body.stream === true) chat.sendStream(response, chat.streamOf([chatAnswer]));
    else json(response, chat.completion(chatAnswer));
  },
  ({ continue_final_message: _, add_generation_prompt: __, safety_identifier: ___, ...body }) => body,
);

const upstreams = {
  openai: { models: ['gpt-5.4'], config: { serves: ['chat'] }, path: '/v1', secret: 'k', script: service },
  vllm: {
    models: ['qwen3-32b'],
    config: { preset: 'vllm', serves: ['chat'] },
    path: '/v1',
    secret: 'k',
    script: service,
  },
  other: { models: ['llama-4'], config: { serves: ['chat'] }, path: '/v1', secret: 'k', script: service },
  responses: {
    models: ['gpt-5.2'],
    config: { serves: ['responses'] },
    path: '/v1',
    secret: 'k',
    script: responses.strictResponses((body, response) => {
      const content = [{ type: 'refusal', refusal }];
      const item = { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content };
      const whole = responses.responseWith([item]);
      if (body.stream !== true) json(response, whole);
      else chat.sendStream(response, responses.streamOfResponse(whole));
    }),
  },
  google: {
    models: ['gemini-3-pro'],
    config: { dialect: 'gemini' },
    path: '/v1beta',
    secret: gemini.geminiKey,
    script: gemini.strictGemini((_, response) => json(response, gemini.answered([{ text: 'Hi.' }]))),
  },
};
type Upstream = keyof typeof upstreams;

let gateway: TestGateway;
let claude: Anthropic;
let openai: OpenAI;
const started: Partial<Record<Upstream, ScriptedUpstream>> = {};

beforeAll(async () => {
  const providers = [];
  const secrets: Record<string, string> = {};
  for (const [id, { models, config, path, secret, script }] of Object.entries(upstreams)) {
    const upstream = await startUpstream(script);
    started[id as Upstream] = upstream;
    providers.push(mainProvider(upstream.origin + path, { id, models, ...config }));
    secrets[`provider/${id}/c1`] = secret;
  }
  gateway = await startGateway({ config: { providers }, secrets });
  claude = claudeAt(gateway);
  openai = gateway.client;
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(Object.values(started).map((upstream) => upstream.stop()));
});
beforeEach(() => {
  chatAnswer = { content: 'Hi.' };
});

const seen = (id: Upstream) => JSON.parse(started[id]?.seen.at(-1)?.body.toString() ?? '{}') as Json;
const user = { role: 'user' as const, content: 'Capital of France?' };
const begun = { role: 'assistant' as const, content: 'The capital is' };

describe('the beginning of an answer', () => {
  const ask = (model: string) =>
    claude.messages.create({ model, max_tokens: 100, messages: [user, begun] }).withResponse();

  test.each([
    ['openai', 'gpt-5.4', 'messages'],
    ['responses', 'gpt-5.2', 'input'],
  ] as const)('is followed by a request to go on, and told, at %s', async (id, model, field) => {
    const { response } = await ask(model);
    expect(response.headers.get('x-sluice-emulated')).toContain('messages;why=added-turn');
    expect((seen(id)[field] as Json[]).at(-1)).toMatchObject({ role: 'user' });
    expect(JSON.stringify(seen(id))).toContain('The capital is');
  });

  test('is continued by a service that documents how', async () => {
    const { response } = await ask('qwen3-32b');
    expect(response.headers.get('x-sluice-emulated')).toBeNull();
    expect(seen('vllm')).toMatchObject({
      messages: [{ role: 'user' }, begun],
      continue_final_message: true,
      add_generation_prompt: false,
    });
  });

  test('is sent as it is, and told, to a service that does not say what it does with it', async () => {
    const { response } = await ask('llama-4');
    expect(response.headers.get('x-sluice-emulated')).toContain('messages;why=prefill');
    expect((seen('other').messages as Json[]).at(-1)).toEqual(begun);
  });
});

describe("a model's refusal", () => {
  test.each([false, true])('is one for clients of Anthropic and Gemini, streamed: %s', async (stream) => {
    const asked = { model: 'gpt-5.2', max_tokens: 100, messages: [user] };
    const answer = await (stream ? claude.messages.stream(asked).finalMessage() : claude.messages.create(asked));
    expect(answer).toMatchObject({ stop_reason: 'refusal', content: [{ type: 'text', text: refusal }] });
    const models = geminiAt(gateway).models;
    const request = { model: 'gpt-5.2', contents: 'Hi' };
    const parts = [];
    if (stream) for await (const part of await models.generateContentStream(request)) parts.push(part);
    else parts.push(await models.generateContent(request));
    expect(parts.map(({ text }) => text ?? '').join('')).toBe(refusal);
    expect(parts.at(-1)?.candidates?.[0]?.finishReason).toBe('SAFETY');
  });

  test('of a chat is one too', async () => {
    chatAnswer = { content: null, refusal };
    const answer = await claude.messages.create({ model: 'gpt-5.4', max_tokens: 100, messages: [user] });
    expect(answer).toMatchObject({ stop_reason: 'refusal', content: [{ type: 'text', text: refusal }] });
  });
});

test('the end user of Anthropic’s clients is OpenAI’s safety identifier, and told where there is none', async () => {
  const asked = { max_tokens: 100, messages: [user], metadata: { user_id: 'user-7' } };
  await claude.messages.create({ ...asked, model: 'gpt-5.4' });
  expect(seen('openai').safety_identifier).toBe('user-7');
  const { response } = await claude.messages.create({ ...asked, model: 'llama-4' }).withResponse();
  expect(response.headers.get('x-sluice-dropped')).toContain('metadata.user_id;why=no-equal');
  const long = { ...asked, model: 'gpt-5.4', metadata: { user_id: 'u'.repeat(65) } };
  const told = await claude.messages.create(long).withResponse();
  expect(told.response.headers.get('x-sluice-dropped')).toContain('metadata.user_id;why=no-equal');
});

test('a document that is text stays a part of the result that it is in', async () => {
  const source = { type: 'text' as const, media_type: 'text/plain' as const, data: 'All of it.' };
  const result = {
    type: 'tool_result' as const,
    tool_use_id: 'toolu_1',
    content: [{ type: 'document' as const, source }],
  };
  const call = { type: 'tool_use' as const, id: 'toolu_1', name: 'read', input: {} };
  const messages = [
    user,
    { role: 'assistant' as const, content: [call] },
    { role: 'user' as const, content: [result] },
  ];
  const tools = [{ name: 'read', input_schema: { type: 'object' as const } }];
  await claude.messages.create({ model: 'gemini-3-pro', max_tokens: 100, messages, tools });
  const { contents } = seen('google') as { contents: { parts: Json[] }[] };
  expect(contents.at(-1)?.parts).toEqual([{ functionResponse: { name: 'read', response: { output: 'All of it.' } } }]);
  await claude.messages.create({ model: 'gpt-5.4', max_tokens: 100, messages, tools });
  expect((seen('openai').messages as Json[]).at(-1)).toMatchObject({ role: 'tool', content: 'All of it.' });
});

test('a summary does not run into the text after it, and an error is told once', async () => {
  const compaction = { type: 'compaction', content: 'SUMMARY: the user is Bob' };
  const call = { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content: 'Error: no such file' };
  const messages = [
    { role: 'assistant', content: [compaction, { type: 'text', text: 'ok' }, call] },
    { role: 'user', content: [result] },
  ] as unknown as Anthropic.MessageParam[];
  const tools = [{ name: 'read', input_schema: { type: 'object' as const } }];
  await claude.messages.create({ model: 'gpt-5.4', max_tokens: 100, messages, tools });
  const [first, second] = seen('openai').messages as Json[];
  expect(first?.content).toBe('Summary of the conversation so far:\nSUMMARY: the user is Bob\n\nok');
  expect(second?.content).toBe('Error: no such file');
  await claude.messages.create({ model: 'gpt-5.2', max_tokens: 100, messages, tools });
  expect((seen('responses').input as Json[]).at(-1)).toMatchObject({ output: 'Error: no such file' });
});

test('other services’ words in a chat are understood, or told', async () => {
  const tools = [{ type: 'openrouter:web_search' }, { type: 'function', function: { name: 'read' } }];
  const content = [
    { type: 'text', text: 'Read it.' },
    { type: 'document_url', document_url: 'data:application/pdf;base64,AAAA', document_name: 'a.pdf' },
  ];
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] };
  const messages = [
    user,
    { role: 'assistant', content: [thinking, { type: 'text', text: 'Paris.' }] },
    { role: 'user', content },
  ];
  const body = { model: 'gemini-3-pro', messages, tools, tool_choice: 'any' };
  const request = openai.chat.completions.create(body as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming);
  const { response } = await request.withResponse();
  expect(response.headers.get('x-sluice-dropped')).toContain('tools[0];why=provider-tool');
  expect(seen('google')).toMatchObject({ toolConfig: { functionCallingConfig: { mode: 'ANY' } } });
  expect(JSON.stringify(seen('google'))).toContain('"mimeType":"application/pdf"');
});
