/** The official SDK of each API with a provider of each API: an answer, a stream, and a tool with its result. */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import * as anthropic from '../../support/strict-anthropic.ts';
import * as converse from '../../support/strict-bedrock.ts';
import { bedrockKey } from '../../support/strict-bedrock.ts';
import * as chat from '../../support/strict-chat.ts';
import * as gemini from '../../support/strict-gemini.ts';
import * as responses from '../../support/strict-responses.ts';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import type { Json } from '../apis/translation/translating.ts';

const question = 'How is the weather in Köln?';
const place = { place: 'Köln' };
const weather = 'Rain until noon.';
const parameters = { type: 'object' as const, properties: { place: { type: 'string' } }, required: ['place'] };
const about = { name: 'weather', description: 'The weather of a place' };

/** A provider that greets, calls the tool if there is one, and reports the tool's result. */
interface Provider {
  model: string;
  config: Json;
  secret: string;
  script: Script;
  /** The part of its thoughts that must be sent back. */
  seal: string;
}

/** Chooses the reply for the current stage of the conversation. */
function pick<Kind>(body: Json, { greeting, call, report }: { greeting: Kind; call: Kind; report: Kind }): Kind {
  if (JSON.stringify(body).includes(weather)) return report;
  return body.tools === undefined && body.toolConfig === undefined ? greeting : call;
}
const greeting = 'Hello there';
const report = 'Take an umbrella';

const providers: Record<string, Provider> = {
  chat: {
    model: 'kimi-k2-thinking',
    config: { serves: ['chat'] },
    secret: 'k',
    seal: '"reasoning_content":"Hm."',
    script: chat.strictChat((body, response) => {
      const calls = [{ index: 0, ...chat.toolCall('call_1', 'weather', place) }];
      const message = pick<Json>(body, {
        greeting: { content: greeting },
        call: { reasoning_content: 'Hm.', tool_calls: calls },
        report: { content: report },
      });
      const finish = message.tool_calls ? 'tool_calls' : 'stop';
      const text = String(message.content ?? '');
      const halves = [text.slice(0, 6), text.slice(6)].map((content) => ({ content }));
      if (body.stream !== true) json(response, chat.completion(message, finish));
      else chat.sendStream(response, chat.streamOf(message.tool_calls ? [message] : halves, finish));
    }),
  },
  responses: {
    model: 'gpt-5.4',
    config: { serves: ['responses'] },
    secret: 'k',
    seal: '"encrypted_content":"gAAAAsealed"',
    script: responses.strictResponses((body, response) => {
      const call = [responses.reasoningWith('Hm.'), responses.callWith('call_1', 'weather', place)];
      const items = { greeting: [responses.messageWith(greeting)], call, report: [responses.messageWith(report)] };
      const whole = responses.responseWith(pick(body, items));
      if (body.stream !== true) json(response, whole);
      else chat.sendStream(response, responses.streamOfResponse(whole));
    }),
  },
  anthropic: {
    model: 'claude-opus-5-5',
    config: { dialect: 'anthropic' },
    secret: anthropic.anthropicKey,
    seal: anthropic.signatureOf('Hm.'),
    script: anthropic.strictAnthropic((body, response) => {
      const call = [anthropic.thought('Hm.'), anthropic.toolUse('toolu_1', 'weather', place)];
      const blocks = pick(body, { greeting: [anthropic.text(greeting)], call, report: [anthropic.text(report)] });
      anthropic.send(response, body, blocks, blocks === call ? 'tool_use' : 'end_turn');
    }),
  },
  gemini: {
    model: 'gemini-3-pro',
    config: { dialect: 'gemini' },
    secret: gemini.geminiKey,
    seal: '"thoughtSignature":"c2ln"',
    script: gemini.strictGemini(({ verb, body }, response) => {
      const call = { functionCall: { name: 'weather', args: place }, thoughtSignature: 'c2ln' };
      const texts = (text: string) => [{ text: text.slice(0, 6) }, { text: text.slice(6) }];
      const thought = { text: 'Hm.', thought: true };
      const parts = pick<Json[]>(body, { greeting: texts(greeting), call: [thought, call], report: texts(report) });
      const events = parts.map((part, index) =>
        index === parts.length - 1 ? gemini.answered([part]) : gemini.generated([part]),
      );
      if (verb === 'generateContent') json(response, gemini.answered(parts));
      else gemini.sendEvents(response, events);
    }),
  },
  bedrock: {
    model: 'openai.gpt-oss-120b-1:0',
    config: { dialect: 'bedrock' },
    secret: bedrockKey,
    seal: '"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}',
    script: converse.strictConverse((asked, response) => {
      const call = [converse.reasoned('Hm.', 'c2ln'), converse.toolUse('tooluse_1', 'weather', place)];
      const content = pick(asked.body, { greeting: [{ text: greeting }], call, report: [{ text: report }] });
      converse.sendConverse(response, asked, content, content === call ? 'tool_use' : 'end_turn');
    }),
  },
};

/** How a program uses an SDK. */
interface Client {
  ask(model: string): Promise<string | null | undefined>;
  stream(model: string): Promise<string[]>;
  /** Asks with a tool, and sends the tool's result. Resolves with the arguments of the call and the final answer. */
  useTool(model: string, isStreamed: boolean): Promise<[given: unknown, said: string | null | undefined]>;
}

/** Providers whose base URL has no path. */
const isAtRoot = (id: string) => id === 'anthropic' || id === 'bedrock';

let gateway: TestGateway;
const upstreams: Record<string, ScriptedUpstream> = {};

beforeAll(async () => {
  const configs = [];
  for (const [id, { model, config, script }] of Object.entries(providers)) {
    const upstream = await startUpstream(script);
    upstreams[id] = upstream;
    const baseUrl = id === 'gemini' ? `${upstream.origin}/v1beta` : isAtRoot(id) ? upstream.origin : upstream.baseUrl;
    configs.push(mainProvider(baseUrl, { id, models: [model], ...config }));
  }
  const secrets = Object.entries(providers).map(([id, { secret }]) => [`provider/${id}/c1`, secret]);
  const groups = [{ id: 'default', policy: { retries: 0 } }];
  gateway = await startGateway({ config: { groups, providers: configs }, secrets: Object.fromEntries(secrets) });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.stop()));
});
beforeEach(() => {
  for (const upstream of Object.values(upstreams)) upstream.seen.length = 0;
});

function throughChat(): Client {
  const { completions } = gateway.client.chat;
  const tools = [{ type: 'function' as const, function: { ...about, parameters } }];
  const asked = { role: 'user' as const, content: question };
  return {
    ask: async (model) => (await completions.create({ model, messages: [asked] })).choices[0]?.message.content,
    async stream(model) {
      const pieces = [];
      for await (const chunk of await completions.create({ model, messages: [asked], stream: true }))
        pieces.push(chunk.choices[0]?.delta.content ?? '');
      return pieces;
    },
    async useTool(model, isStreamed) {
      const request = { model, messages: [asked], tools };
      const first = isStreamed
        ? await completions.stream(request).finalChatCompletion()
        : await completions.create(request);
      const message = first.choices[0]?.message;
      const call = message?.tool_calls?.[0];
      if (call?.type !== 'function') throw new Error('The tool was not called.');
      const result = { role: 'tool' as const, tool_call_id: call.id, content: weather };
      const second = await completions.create({ model, messages: [asked, message ?? asked, result], tools });
      return [JSON.parse(call.function.arguments), second.choices[0]?.message.content];
    },
  };
}

function throughResponses(): Client {
  const client = gateway.client.responses;
  const tools = [{ type: 'function' as const, ...about, parameters, strict: false }];
  const asked = { role: 'user' as const, content: question };
  const base = { store: false, include: ['reasoning.encrypted_content' as const] };
  return {
    ask: async (model) => (await client.create({ ...base, model, input: question })).output_text,
    async stream(model) {
      const pieces = [];
      for await (const event of await client.create({ ...base, model, input: question, stream: true }))
        if (event.type === 'response.output_text.delta') pieces.push(event.delta);
      return pieces;
    },
    async useTool(model, isStreamed) {
      const request = { ...base, model, input: [asked], tools };
      const first: OpenAI.Responses.Response = isStreamed
        ? await client.stream(request).finalResponse()
        : await client.create(request);
      const call = first.output.find((item) => item.type === 'function_call');
      if (!call) throw new Error('The tool was not called.');
      const items = first.output.filter((item) => item.type === 'reasoning' || item.type === 'function_call');
      const result = { type: 'function_call_output' as const, call_id: call.call_id, output: weather };
      const second = await client.create({ ...base, model, input: [asked, ...items, result], tools });
      return [JSON.parse(call.arguments), second.output_text];
    },
  };
}

function throughMessages(): Client {
  const { messages } = new Anthropic({ baseURL: gateway.origin, apiKey: testKey, maxRetries: 0 });
  const tools = [{ ...about, input_schema: parameters }];
  const asked = { role: 'user' as const, content: question };
  const textIn = ({ content }: Anthropic.Message) =>
    content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return {
    ask: async (model) => textIn(await messages.create({ model, max_tokens: 1000, messages: [asked] })),
    async stream(model) {
      const pieces: string[] = [];
      const stream = messages.stream({ model, max_tokens: 1000, messages: [asked] });
      stream.on('text', (piece) => pieces.push(piece));
      await stream.finalMessage();
      return pieces;
    },
    async useTool(model, isStreamed) {
      const request = { model, max_tokens: 1000, messages: [asked], tools };
      const { content } = isStreamed ? await messages.stream(request).finalMessage() : await messages.create(request);
      const call = content.find((block) => block.type === 'tool_use');
      if (!call) throw new Error('The tool was not called.');
      const result = { type: 'tool_result' as const, tool_use_id: call.id, content: weather };
      const turns = [asked, { role: 'assistant' as const, content }, { role: 'user' as const, content: [result] }];
      return [call.input, textIn(await messages.create({ model, max_tokens: 1000, messages: turns, tools }))];
    },
  };
}

function throughGemini(): Client {
  const { models } = new GoogleGenAI({ apiKey: testKey, httpOptions: { baseUrl: gateway.origin } });
  const config = { tools: [{ functionDeclarations: [{ ...about, parametersJsonSchema: parameters }] }] };
  const asked = { role: 'user', parts: [{ text: question }] };
  return {
    ask: async (model) => (await models.generateContent({ model, contents: question })).text,
    async stream(model) {
      const pieces = [];
      for await (const chunk of await models.generateContentStream({ model, contents: question }))
        pieces.push(chunk.text ?? '');
      return pieces;
    },
    async useTool(model, isStreamed) {
      const request = { model, contents: [asked], config };
      const parts = [];
      if (isStreamed) {
        for await (const { candidates } of await models.generateContentStream(request))
          parts.push(...(candidates?.[0]?.content?.parts ?? []));
      } else parts.push(...((await models.generateContent(request)).candidates?.[0]?.content?.parts ?? []));
      const call = parts.find(({ functionCall }) => functionCall)?.functionCall;
      if (!call) throw new Error('The tool was not called.');
      const functionResponse = { id: call.id ?? '', name: 'weather', response: { output: weather } };
      const contents = [asked, { role: 'model', parts }, { role: 'user', parts: [{ functionResponse }] }];
      return [call.args, (await models.generateContent({ model, contents, config })).text];
    },
  };
}

const clients = { chat: throughChat, responses: throughResponses, anthropic: throughMessages, gemini: throughGemini };

describe.each(Object.entries(clients))('a client of %s', (_name, open) => {
  describe.each(Object.entries(providers))('in front of %s', (id, { model, seal }) => {
    test('gets an answer', async () => {
      expect(await open().ask(model)).toBe(greeting);
    });

    test('gets a stream piece by piece', async () => {
      const pieces = (await open().stream(model)).filter((piece) => piece !== '');
      expect(pieces.length).toBeGreaterThan(1);
      expect(pieces.join('')).toBe(greeting);
    });

    test.each([
      ['at once', false],
      ['in a stream', true],
    ])('has its tool called %s, and told the result, with the thought that led to it', async (_name, isStreamed) => {
      expect(await open().useTool(model, isStreamed)).toEqual([place, report]);
      expect(upstreams[id]?.seen.map(({ body }) => body.includes(weather))).toEqual([false, true]);
      expect(upstreams[id]?.seen[1]?.body.toString()).toContain(seal);
    });
  });
});
