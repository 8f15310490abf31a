/**
 * Threads of Anthropic's messages (beta `message-threads-2026-08-12`), of which a request holds only what is new: a model of another
 * API never answers without the conversation, and Anthropic's own accounts keep the threads that they hold.
 */
import Anthropic, { type APIError } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import * as anthropic from '../../support/strict-anthropic.ts';
import * as chat from '../../support/strict-chat.ts';
import * as gemini from '../../support/strict-gemini.ts';
import * as responses from '../../support/strict-responses.ts';
import { json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';

type Json = Record<string, unknown>;

const place = { place: 'Paris' };
const isReport = (body: Json) => JSON.stringify(body).includes('sunny in Paris');

/** Upstreams that call the tool, then report what it said. */
const foreign = {
  chat: {
    model: 'gpt-x',
    config: { serves: ['chat'] },
    path: '/v1',
    secret: 'k',
    script: chat.strictChat((body, response) => {
      const message = isReport(body)
        ? { content: 'It is sunny.' }
        : { content: null, tool_calls: [chat.toolCall('call_1', 'weather', place)] };
      const reason = isReport(body) ? 'stop' : 'tool_calls';
      if (body.stream !== true) json(response, chat.completion(message, reason));
      else if (isReport(body)) chat.sendStream(response, chat.streamOf([{ content: 'It is sunny.' }]));
      else {
        const call = { index: 0, ...chat.toolCall('call_1', 'weather', place) };
        chat.sendStream(response, chat.streamOf([{ tool_calls: [call] }], reason));
      }
    }),
  },
  responses: {
    model: 'gpt-5.4',
    config: { serves: ['responses'] },
    path: '/v1',
    secret: 'k',
    script: responses.strictResponses((body, response) => {
      const items = isReport(body)
        ? [responses.messageWith('It is sunny.')]
        : [responses.callWith('call_1', 'weather', place)];
      const whole = responses.responseWith(items);
      if (body.stream !== true) json(response, whole);
      else chat.sendStream(response, responses.streamOfResponse(whole));
    }),
  },
  gemini: {
    model: 'gemini-3-pro',
    config: { dialect: 'gemini' },
    path: '/v1beta',
    secret: gemini.geminiKey,
    script: gemini.strictGemini(({ verb, body }, response) => {
      const call = { functionCall: { name: 'weather', args: place }, thoughtSignature: 'c2ln' };
      const answer = gemini.answered([isReport(body) ? { text: 'It is sunny.' } : call]);
      if (verb === 'generateContent') json(response, answer);
      else gemini.sendEvents(response, [answer]);
    }),
  },
};
type Foreign = keyof typeof foreign;

let gateway: TestGateway;
let client: Anthropic;
let claude: ScriptedUpstream;
const upstreams: Partial<Record<Foreign, ScriptedUpstream>> = {};

/** The messages that each of Anthropic's accounts holds. */
const held = new Map<string, Set<string>>();
let messages = 0;

function answerInThread(request: SeenRequest, body: Json): Json | null {
  const account = String(request.headers['x-api-key']);
  const thread = body.thread as { type: string; previous_message_id?: string };
  const ofAccount = held.get(account) ?? new Set();
  held.set(account, ofAccount);
  if (thread.type === 'continue' && !ofAccount.has(thread.previous_message_id ?? '')) return null;
  const id = `msg_${++messages}`;
  ofAccount.add(id);
  return { ...anthropic.message([anthropic.text(account)]), id };
}

beforeAll(async () => {
  claude = await startUpstream((request, response) => {
    const body = JSON.parse(request.body.toString()) as Json;
    const answer = answerInThread(request, body);
    if (answer && body.stream === true) {
      const begun = anthropic.begun.replace(/"id":"[^"]*"/, `"id":"${answer.id}"`);
      const rest = anthropic.streamOf([anthropic.text('Hi.')]).replace(anthropic.begun, '');
      anthropic.sendStream(response, begun + rest);
    } else if (answer) json(response, answer);
    else {
      const error = {
        type: 'not_found_error',
        message: 'No such thread.',
        details: { error_code: 'thread_not_found' },
      };
      json(response, { type: 'error', error }, 404);
    }
  });
  const providers = [];
  const secrets: Record<string, string> = {};
  for (const [id, { model, config, script, path, secret }] of Object.entries(foreign)) {
    const upstream = await startUpstream(script);
    upstreams[id as Foreign] = upstream;
    providers.push(mainProvider(upstream.origin + path, { id, models: [model], ...config }));
    secrets[`provider/${id}/c1`] = secret;
  }
  for (const [id, accounts] of [
    ['first', ['a', 'b']],
    ['second', ['c']],
  ] as const) {
    const credentials = accounts.map((account) => ({ id: account }));
    providers.push(mainProvider(claude.origin, { id, dialect: 'anthropic', models: ['claude-x'], credentials }));
    for (const account of accounts) secrets[`provider/${id}/${account}`] = `account-${account}`;
  }
  const groups = [{ id: 'default', policy: { strategy: 'round-robin' as const } }];
  gateway = await startGateway({ config: { providers, groups }, secrets });
  client = new Anthropic({ baseURL: gateway.origin, apiKey: null, authToken: testKey, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([claude, ...Object.values(upstreams)].map((upstream) => upstream.stop()));
});
beforeEach(() => {
  for (const upstream of Object.values(upstreams)) upstream.seen.length = 0;
});

const seenAt = (id: Foreign) => upstreams[id]?.seen.map(({ body }) => body.toString()) ?? [];
const question = { role: 'user' as const, content: 'My name is Bob. What is the weather?' };
const weather = {
  name: 'weather',
  type: 'custom' as const,
  description: 'The weather of a place',
  input_schema: { type: 'object' as const, properties: { place: { type: 'string' as const } } },
  run: () => 'sunny in Paris',
  parse: (input: unknown) => input,
};

const models = Object.entries(foreign).map(([id, { model }]) => [id as Foreign, model] as const);
const forms = models.flatMap(([id, model]) => [false, true].map((stream) => [id, model, stream] as const));

describe('at a model of another API', () => {
  test.each(forms)(
    "SDK's tool runner keeps the whole conversation: %s (%s), streamed: %s",
    async (id, model, stream) => {
      const request = { model, max_tokens: 200, system: 'You are a pirate.', messages: [question], tools: [weather] };
      const runner = client.beta.messages.toolRunner({ ...request, stream } as Parameters<
        typeof client.beta.messages.toolRunner
      >[0]);
      const last = (await runner.runUntilDone()) as Anthropic.Beta.BetaMessage;
      expect(last.content).toMatchObject([{ type: 'text', text: 'It is sunny.' }]);
      const asked = seenAt(id);
      expect(asked).toHaveLength(2);
      for (const body of asked) for (const part of ['Bob', 'pirate', '"weather"']) expect(body).toContain(part);
    },
  );

  test.each(models)("SDK's threads send the whole conversation each time: %s", async (id, model) => {
    const thread = client.beta.messages.thread({ model, max_tokens: 200, system: 'You are a pirate.' });
    for (const content of ['My name is Bob.', 'I live in Paris.', 'Where do I live?']) {
      await thread.send({ role: 'user', content });
    }
    const [first, second, third] = seenAt(id);
    expect(seenAt(id)).toHaveLength(3);
    for (const part of ['pirate', 'Bob']) expect(first).toContain(part);
    for (const part of ['pirate', 'Bob', 'I live']) expect(second).toContain(part);
    for (const part of ['pirate', 'Bob', 'I live', 'Where']) expect(third).toContain(part);
  });

  const refusal = async (thread: unknown, headers: Record<string, string> = {}) => {
    const body = { model: 'gpt-x', max_tokens: 9, messages: [], thread } as unknown as Anthropic.MessageCreateParams;
    const error = await client.messages.create(body, { headers }).catch((thrown: unknown) => thrown as APIError);
    return [(error as APIError).status, (error as APIError).error] as const;
  };

  test.each([false, true])('what continues a thread is refused, and asks nobody, streamed: %s', async (stream) => {
    const thread = { type: 'continue', previous_message_id: 'msg_never' };
    const body = { model: 'gpt-x', max_tokens: 9, messages: [question], thread, stream };
    const init = { method: 'POST', headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' } };
    const response = await gateway.fetch('/messages', { ...init, body: JSON.stringify(body) });
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { type: 'error', error: { type: 'not_found_error', details: { error_code: 'thread_not_found' } } },
    ]);
    expect(seenAt('chat')).toEqual([]);
  });

  test('an unknown kind of thread is refused, also one that is continued without a message', async () => {
    expect(await refusal({ type: 'fork' })).toMatchObject([
      400,
      { error: { type: 'invalid_request_error', details: { error_code: 'thread_unsupported_request' } } },
    ]);
    expect(await refusal({ type: 'continue', previous_message_id: 'msg_1' })).toMatchObject([
      404,
      { error: { details: { error_code: 'thread_not_found' } } },
    ]);
    expect(seenAt('chat')).toEqual([]);
  });

  test('a client that accepts no losses goes on without threads', async () => {
    const body = { model: 'gpt-x', max_tokens: 9, messages: [question], thread: { type: 'create' } };
    const init = { method: 'POST', headers: { 'content-type': 'application/json', 'x-sluice-lossy': 'refuse' } };
    const response = await gateway.fetch('/messages', { ...init, body: JSON.stringify(body) });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { details: { error_code: 'thread_unsupported_request' } } },
    ]);
    const told = await gateway.fetch('/messages', { ...init, headers: {}, body: JSON.stringify(body) });
    expect([told.status, told.headers.get('x-sluice-emulated')]).toEqual([200, 'thread;why=unkept-thread']);
  });

  test('tools that a conversation adds and removes are offered as they are at its end', async () => {
    const definition = (name: string) => ({ name, description: name, input_schema: { type: 'object' } });
    const change = (type: string, tool: object) => ({ role: 'system', content: [{ type, tool }] });
    const body = {
      model: 'gpt-x',
      max_tokens: 9,
      tools: [definition('old'), definition('kept'), definition('back')],
      messages: [
        question,
        { role: 'assistant', content: 'Ahoy.' },
        change('tool_addition', { type: 'tool_definition', definition: definition('new') }),
        change('tool_removal', { type: 'tool_reference', name: 'old' }),
        change('tool_removal', { type: 'tool_reference', name: 'back' }),
        change('tool_addition', { type: 'tool_reference', name: 'back' }),
        { role: 'user', content: 'sunny in Paris' },
      ],
    };
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const response = await gateway.fetch('/messages', { ...init, body: JSON.stringify(body) });
    expect([response.status, response.headers.get('x-sluice-dropped')]).toEqual([200, null]);
    const { tools } = JSON.parse(seenAt('chat')[0] ?? '{}') as { tools: { function: { name: string } }[] };
    expect(tools.map(({ function: { name } }) => name)).toEqual(['kept', 'new', 'back']);
  });
});

describe("at Anthropic's own accounts", () => {
  test.each([false, true])('a thread goes on where it is held, streamed: %s', async (stream) => {
    const before = claude.seen.length;
    const turns = 4;
    const talk = async (name: string) => {
      const thread = client.beta.messages.thread({ model: 'claude-x', max_tokens: 200 });
      for (let turn = 0; turn < turns; turn++) {
        const message = { role: 'user' as const, content: `${name}, turn ${turn}` };
        if (stream) await thread.stream(message).finalMessage();
        else await thread.send(message);
      }
    };
    await Promise.all(['Ada', 'Bob', 'Cid', 'Dan', 'Eve', 'Fay'].map(talk));
    const sent = claude.seen.slice(before).map(({ body }) => (JSON.parse(body.toString()) as { thread: Json }).thread);
    // A thread that was lost is created again.
    expect(sent.filter(({ type }) => type === 'create')).toHaveLength(6);
    expect(sent).toHaveLength(6 * turns);
    expect(held.size).toBeGreaterThan(1);
  });
});
