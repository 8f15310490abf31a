/**
 * Chat services refuse some of what OpenAI takes. Every service of the table is asked with every member that it refuses, whole
 * and streamed, by a chat client, whose body changes in that member alone, and by clients of the other APIs.
 */
import type Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ChatFlavour } from '../../../server/apis/core/chat-flavour.ts';
import { piecesOf } from '../../../server/apis/json/json-peek.ts';
import { chatFitting } from '../../../server/apis/openai/wire/fit-request.ts';
import { chatFlavourOf } from '../../../server/providers/chat-flavours.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { claudeAt, geminiAt } from '../../support/sdk-clients.ts';
import { flavouredChat, flavouredServices } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
const flavours = new Map<string, ChatFlavour>(flavouredServices.map(({ preset, flavour }) => [preset, flavour]));
const services = [...new Set(flavouredServices.map(({ preset }) => preset))];

beforeAll(async () => {
  upstream = await startUpstream(flavouredChat());
  const provider = (id: string, preset?: string) => ({
    id,
    ...(preset && { preset }),
    baseUrl: `${upstream.origin}/${id}/v1`,
    serves: ['chat' as const],
    models: ['*'],
  });
  gateway = await startGateway({
    config: {
      providers: [
        ...services.map((id) => provider(id, id)),
        provider('unknown'),
        { id: 'claude', dialect: 'anthropic', baseUrl: `${upstream.origin}/claude`, models: ['*'] },
      ],
      aliases: [
        {
          name: 'moves',
          targets: [
            { provider: 'groq', model: 'm', priority: 0 },
            { provider: 'unknown', model: 'm', priority: 1 },
          ],
        },
      ],
    },
  });
});
afterEach(() => {
  upstream.answer(flavouredChat());
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

async function post(body: string, headers: Record<string, string> = {}) {
  const response = await gateway.fetch('/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const text = await response.text();
  return {
    response,
    text,
    dropped: response.headers.get('x-sluice-dropped'),
    emulated: response.headers.get('x-sluice-emulated'),
    sent: upstream.seen.at(-1)?.body.toString() ?? '',
  };
}

/** Odd but valid: spaces, numbers, escapes, unknown members, and names within texts. `{…}` are the places for members. */
const odd = String.raw`{ "temperature":1.0e0,{first}
  "x_mine" : [1.50, {"reasoning_content":"deep"}],"messages":[{"role":"system","content":"caf\u00e9 \"reasoning_content\": 1"},
  {"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]},
  {{message} "role":"assistant","content" :"Hi" },{"role":"user","content":"Go on","x" : 2{last of message}}],
  "tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"strict":{}}}}}],
  "model":"{model}" {last}}`;

function oddBody(model: string, places: Record<string, string>, stream: boolean): string {
  const asksUsage = stream ? '"stream":true,"stream_options":{"include_usage":true},' : '';
  return odd.replaceAll(/\{(first|last|message|last of message|model)\}/g, (_all, place: string) =>
    place === 'model' ? model : place === 'first' ? asksUsage + (places.first ?? '') : (places[place] ?? ''),
  );
}

const cases = flavouredServices.flatMap(({ preset, model, flavour }) => [
  ...Object.entries(flavour.request).map(([name, instead]) => ({ preset, model, name, instead, where: 'request' })),
  ...Object.entries(flavour.messages).map(([name, instead]) => ({ preset, model, name, instead, where: 'messages' })),
]);

describe.each([false, true])('stream: %s', (stream) => {
  test.each(cases.filter(({ name }) => name !== 'stream_options'))(
    '$preset refuses $name of $where, which alone is changed',
    async ({ preset, model, name, instead, where }) => {
      const asksUsage = stream && preset !== 'mistral';
      const value = where === 'request' && instead !== null ? '77' : '{"a" : [1]}';
      for (const place of where === 'request' ? ['first', 'last'] : ['message', 'last of message']) {
        const isLast = place.startsWith('last');
        const write = (member: string) => (isLast ? `, ${member}` : `${member} ,`);
        const client = oddBody(`${preset}/${model}`, { [place]: write(`"${name}" :${value}`) }, asksUsage);
        const { response, text, dropped, emulated, sent } = await post(client);
        expect(response.status, text).toBe(200);
        const told = `${where === 'request' ? '' : `messages[${isLast ? 3 : 2}].`}${name};why=provider-refuses`;
        expect([dropped, emulated]).toEqual(instead === null ? [told, null] : [null, told]);
        const fitted = instead === null ? '' : write(`"${instead}" :${value}`);
        expect(squeezed(sent)).toBe(squeezed(oddBody(model, { [place]: fitted }, asksUsage)));
      }
    },
  );

  test('all that a service refuses at once, in bodies of 200 kB and of 2 MB', async () => {
    for (const { preset, model, flavour } of flavouredServices)
      for (const length of preset === 'mistral' ? [200_000, 2_000_000] : [70_000]) {
        const roles = ['developer', 'user', 'assistant'];
        const each = Object.fromEntries(Object.keys(flavour.messages).map((name) => [name, 'x']));
        const messages = roles.map((role) => ({
          ...each,
          role,
          content: [{ type: 'text', text: 'x'.repeat(length) }],
        }));
        const members = Object.fromEntries(Object.keys(flavour.request).map((name) => [name, 7]));
        const body = { ...members, model: `${preset}/${model}`, stream, messages, ...members };
        const { response, text, sent } = await post(JSON.stringify(body));
        expect(response.status, text).toBe(200);
        expect(JSON.parse(sent).messages.map(({ content }: { content: unknown }) => content)).toEqual(
          messages.map(({ content }) => (flavour.joinsTexts ? content[0]?.text : content)),
        );
      }
  });

  test.each(flavouredServices.filter(({ flavour }) => 'developer' in flavour.roles))(
    '$preset gets a developer’s message as that of the system, and all others as they are',
    async ({ preset }) => {
      const messages =
        '[{"role" : "developer","content":"a developer"},{"role":"user","content":"\\"role\\":\\"developer\\""}]';
      const body = (model: string) => `{"model":"${model}","messages": ${messages},"seed2":1.0}`;
      const { response, emulated, sent } = await post(body(`${preset}/m`));
      expect(response.status).toBe(200);
      expect(sent).toBe(body('m').replace('"developer"', '"system"'));
      expect(emulated).toBe('messages[0].role;why=provider-refuses');
    },
  );

  test.each(flavouredServices.filter(({ flavour }) => flavour.wantsReasoning !== 'of all'))(
    'a request without such a member reaches $preset byte for byte',
    async ({ preset, model }) => {
      const body = oddBody(`${preset}/${model}`, {}, stream && preset !== 'mistral');
      const { response, dropped, emulated, sent } = await post(body);
      expect(response.status).toBe(200);
      expect(sent).toBe(body.replace(`"${preset}/${model}"`, `"${model}"`));
      expect([dropped, emulated]).toEqual([null, null]);
    },
  );

  test.each(flavouredServices)('clients of the other APIs are answered by $preset', async ({ preset, model }) => {
    const name = `${preset}/${model}`;
    const answers = await Promise.all([askClaude(name, stream), askResponses(name, stream), askGemini(name, stream)]);
    expect(answers).toEqual(['Hello', 'Hello', 'Hello']);
  });
});

test('a stream that asks Mistral for usage, which comes without asking, is not refused', async () => {
  const body = '{"model":"mistral/m","messages":[],"stream_options":{"include_usage":true},"stream":true}';
  const { response, text, dropped, sent } = await post(body);
  expect(response.status).toBe(200);
  expect(sent).toBe('{"model":"m","messages":[],"stream":true}');
  expect(text).toContain('"total_tokens":30');
  expect(dropped).toBe('stream_options;why=provider-refuses');
});

const withReasoning = JSON.stringify({
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello', reasoning_content: 'They greet me.' },
    { role: 'user', content: 'Go on' },
  ],
  model: 'groq/m',
});

test('a client that accepts no loss is told what the service refuses, and the service is not asked', async () => {
  const asked = upstream.seen.length;
  const { response, text } = await post(withReasoning, { 'x-sluice-lossy': 'refuse' });
  expect(response.status).toBe(400);
  expect(text).toContain("'messages[1].reasoning_content'");
  expect(upstream.seen.length).toBe(asked);
});

test('an unknown service gets the bytes of the client', async () => {
  const body = withReasoning.replace('groq/m', 'unknown/m');
  const { response, dropped, sent } = await post(body);
  expect(response.status).toBe(200);
  expect(sent).toBe(body.replace('unknown/m', 'm'));
  expect(dropped).toBeNull();
});

test('the next target gets what the first one would have refused, and nothing is told as lost', async () => {
  upstream.answer((request, response) =>
    request.url.startsWith('/groq') ? json(response, {}, 503) : flavouredChat()(request, response, undefined as never),
  );
  const { response, dropped, sent } = await post(withReasoning.replace('groq/m', 'moves'));
  expect(response.status).toBe(200);
  expect(JSON.parse(sent).messages[1].reasoning_content).toBe('They greet me.');
  expect(dropped).toBeNull();
  await gateway.gateway.execute({ type: 'provider.reset-health', id: 'groq' });
});

test('a conversation that was sealed elsewhere loses seals and what the service refuses', async () => {
  const content = [
    { type: 'thinking', thinking: 'They greet me.', signature: 'c2VhbA==' },
    { type: 'text', text: 'Hello' },
  ];
  const usage = { input_tokens: 1, output_tokens: 1 };
  upstream.answer((request, response) =>
    request.url.startsWith('/claude')
      ? json(response, { id: 'msg_1', type: 'message', role: 'assistant', content, stop_reason: 'end_turn', usage })
      : flavouredChat()(request, response, undefined as never),
  );
  const hello = { role: 'user', content: 'Hi' };
  const first = await post(JSON.stringify({ model: 'claude/claude-opus-4-5', messages: [hello] }));
  const { message } = JSON.parse(first.text).choices[0];
  expect(message.reasoning_details).toHaveLength(1);
  for (const preset of services) {
    const messages = [hello, message, { ...hello, name: 'me' }];
    const { response, text, sent } = await post(JSON.stringify({ messages, model: `${preset}/m` }));
    expect(response.status, text).toBe(200);
    expect(JSON.parse(sent).messages).toMatchObject([hello, { role: 'assistant', content: 'Hello' }, hello]);
    expect(sent).not.toContain('reasoning_details');
  }
});

const turnWith = (reasoning: string) =>
  `{"role":"assistant","content":null,${reasoning}"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]}`;
const conversationWith = (model: string, reasoning: string, ofText: string, more = '') =>
  `{"model":"${model}",${more}"messages":[{"role":"user","content":"Hi"}, {${ofText}"role":"assistant","content":"Hello"}, ${turnWith(reasoning)},
  {"role":"tool","tool_call_id":"call_1","content":"1"}]}`;
const empty = '"reasoning_content":"",';

test.each([
  ['deepseek', 'deepseek-v4-pro', empty],
  ['moonshot', 'kimi-k2.6', ''],
])(
  'a client that does not return the reasoning of %s is not refused by its thinking mode',
  async (preset, model, ofText) => {
    const { response, dropped, emulated, sent } = await post(conversationWith(`${preset}/${model}`, '', ''));
    expect(response.status).toBe(200);
    const wanted = conversationWith(model, '', ofText).replace(
      '{"role":"assistant","content":null',
      `{${empty}"role":"assistant","content":null`,
    );
    expect(sent).toBe(wanted);
    expect([dropped, emulated]).toEqual([null, null]);
  },
);

test.each([
  ['deepseek', 'deepseek-v4-pro', true],
  ['moonshot', 'kimi-k2.6', false],
])('a client that returns null for the reasoning of %s has returned none', async (preset, model, isOfAll) => {
  const absent = ['"reasoning_content" : null,', '"reasoning_content":null,'] as const;
  const { sent, dropped } = await post(conversationWith(`${preset}/${model}`, ...absent));
  expect(sent).toBe(
    conversationWith(model, '"reasoning_content" : "",', isOfAll ? '"reasoning_content":"",' : absent[1]),
  );
  expect(dropped).toBeNull();
});

test('what a client returns of its reasoning stays, and without thinking nothing is added', async () => {
  const returned = ['"reasoning_content":"First f.",', '"reasoning_content":"They greet me.",'] as const;
  const { sent } = await post(conversationWith('deepseek/deepseek-v4-pro', ...returned));
  expect(sent).toBe(conversationWith('deepseek-v4-pro', ...returned));
  upstream.answer((_request, response) => json(response, {}));
  const off = '"thinking":{"type":"disabled"},';
  expect((await post(conversationWith('deepseek/deepseek-v4-pro', '', '', off))).sent).toBe(
    conversationWith('deepseek-v4-pro', '', '', off),
  );
});

const greeting = { role: 'user', content: 'Hi' };
const callOf = (more: object) => ({
  id: 'call_1',
  type: 'function',
  function: { name: 'f', arguments: '{}' },
  ...more,
});
const placeholder = {
  type: 'reasoning.encrypted',
  data: 'skip_thought_signature_validator',
  format: 'google-gemini-v1',
  index: 0,
  id: 'call_1',
};
const summary = { type: 'reasoning.summary', summary: 'Hm.', format: 'openai-responses-v1' };
const sealed = { type: 'reasoning.encrypted', data: 'U0lH', id: 'call_1', format: 'google-gemini-v1', index: 0 };

test.each([
  ['nothing', {}, [placeholder]],
  ['null', { reasoning_details: null }, [placeholder]],
  ['an empty list', { reasoning_details: [] }, [placeholder]],
  ['what another model thought', { reasoning_details: [summary] }, [summary, placeholder]],
  ['its own', { reasoning_details: [summary, sealed] }, [summary, sealed]],
])('calls with %s of Gemini’s reasoning are taken by OpenRouter', async (_name, given, wanted) => {
  const turn = { role: 'assistant', content: null, tool_calls: [callOf({}), callOf({ id: 'call_2' })], ...given };
  const results = ['call_1', 'call_2'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'x' }));
  const messages = [greeting, { role: 'assistant', content: 'Hello' }, turn, ...results];
  const { response, sent } = await post(
    JSON.stringify({ model: 'openrouter/google/gemini-3-pro-preview', odd: [1.5], messages }),
  );
  expect(response.status).toBe(200);
  const [asked, said, called, ...rest] = JSON.parse(sent).messages;
  expect([asked, said, ...rest]).toEqual([greeting, messages[1], ...results]);
  expect(called).toEqual({ ...turn, reasoning_details: wanted });
});

test('calls of other models get Google’s placeholder at its own chat API, once a message', async () => {
  const flavour = chatFlavourOf({
    dialect: 'openai',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
  })('gemini-3-flash');
  const body = { model: 'gemini-3-flash', messages: [{ role: 'assistant', tool_calls: [callOf({}), callOf({})] }] };
  const bytes = Buffer.from(JSON.stringify(body));
  const outline = chatFitting.outlineOf(bytes);
  const fitted = await chatFitting.fitted(outline, flavour ?? expect.fail('It has no flavour.'), () => '');
  const [message] = JSON.parse(Buffer.concat(piecesOf(bytes, fitted?.edits ?? [])).toString()).messages;
  const extra = { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } };
  expect(message.tool_calls).toEqual([callOf(extra), callOf({})]);
});

test('the record of a request has what its service refuses', async () => {
  const { response } = await post(withReasoning);
  const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  expect(record.dropped).toEqual([{ code: 'provider-refuses', field: 'messages[].reasoning_content', times: 1 }]);
});

test('a service that takes texts only as strings gets lists of texts joined, and lists with media as they are', async () => {
  const text = (value: string) => `{"type":"text","text":"${value}"}`;
  const media = `[${text('see')},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]`;
  const body = (model: string, joined: string) =>
    `{"model":"${model}","messages":[{"role":"user","content": ${joined}},{"role":"user","content": ${media}}]}`;
  const { response, emulated, sent } = await post(body('nvidia/m', `[${text('one \\u00e9')}, ${text('two')}]`));
  expect(response.status).toBe(200);
  expect(sent).toBe(body('m', '"one é\\ntwo"'));
  expect(emulated).toBe('messages[0].content;why=provider-refuses');
});

test('a provider that was added by its address alone is known by it', async () => {
  const bodyFor = (host: string) => chatFlavourOf({ dialect: 'openai', baseUrl: `https://${host}/v1` })('m');
  expect(bodyFor('api.groq.com')).toBe(flavours.get('groq'));
  expect(bodyFor('my.openai.azure.com')).toBeNull();
  expect(bodyFor('api.groq.com.example')).toBeNull();
});

const tool = { description: 'Reads.', properties: { path: { type: 'string' } } };

async function askClaude(model: string, stream: boolean): Promise<string> {
  const { messages } = claudeAt(gateway);
  const request: Anthropic.MessageCreateParamsNonStreaming = {
    model,
    max_tokens: 500,
    system: [
      { type: 'text', text: 'Be brief.' },
      { type: 'text', text: 'Be kind.' },
    ],
    tools: [{ name: 'read', input_schema: { type: 'object', ...tool } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'text', text: 'there' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'They greet me.', signature: 'abc' },
          { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'text' }] },
    ],
  };
  const { content } = stream ? await messages.stream(request).finalMessage() : await messages.create(request);
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

async function askResponses(model: string, stream: boolean): Promise<string> {
  const request = {
    model,
    max_output_tokens: 500,
    instructions: 'Be brief.',
    prompt_cache_key: 'k',
    input: [
      { role: 'developer' as const, content: 'Be kind.' },
      { role: 'user' as const, content: 'Hi' },
    ],
    tools: [{ type: 'function' as const, name: 'read', strict: true, parameters: { type: 'object', ...tool } }],
  };
  if (!stream) return (await gateway.client.responses.create(request)).output_text;
  return (await gateway.client.responses.stream(request).finalResponse()).output_text;
}

async function askGemini(model: string, stream: boolean): Promise<string> {
  const { models } = geminiAt(gateway);
  const config = {
    maxOutputTokens: 500,
    seed: 7,
    presencePenalty: 1,
    frequencyPenalty: 1,
    systemInstruction: 'Be brief.',
  };
  const request = { model, contents: 'Hi', config };
  if (!stream) return (await models.generateContent(request)).text ?? '';
  let text = '';
  for await (const part of await models.generateContentStream(request)) text += part.text ?? '';
  return text;
}

/** Spaces at the seam of a removed member may stay or go. */
function squeezed(text: string): string {
  return text.replaceAll(/(?<=[,{])\s+|\s+(?=[}])/g, '');
}
