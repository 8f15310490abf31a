/**
 * Answers with several sealed thoughts, or with a seal that comes after what it seals, go back to the provider that made
 * them as they came, and are told to clients in an order that they understand.
 */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { claudeAt } from '../../support/sdk-clients.ts';
import * as anthropic from '../../support/strict-anthropic.ts';
import { bodyOf } from '../../support/strict-chat.ts';
import * as gemini from '../../support/strict-gemini.ts';
import * as responses from '../../support/strict-responses.ts';
import { keepings, type LoopClient, question, toolLoops } from '../../support/tool-loops.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import type { Json } from '../apis/translation/translating.ts';

const { text, thought, toolUse } = anthropic;
const redacted = (data: string): Json => ({ type: 'redacted_thinking', data });
const calls = [toolUse('toolu_1', 'weather', {}), toolUse('toolu_2', 'weather', {})];
const long = '"Größe" 漢字\n'.repeat(15_000);

/** The turns with calls of Claude, by model. */
const claudes: Record<string, Json[]> = {
  'claude-opus-5-5-20261001': [thought('Hm.'), redacted('Ev=='), ...calls],
  'claude-opus-5-5-20261002': [thought('First.'), text('I look.'), thought('Then.'), ...calls],
  'claude-opus-5-5-20261003': [
    thought('First.'),
    text('I "look".'),
    thought('Then.'),
    text(' Twice.'),
    redacted('Ev=='),
    ...calls,
  ],
  'claude-opus-5-5-20261004': [thought('First.'), calls[0] ?? {}, thought('Then.'), calls[1] ?? {}],
  'claude-opus-5-5-20261005': [thought(long), text('I look.'), thought('Then.'), ...calls],
};
const items = [responses.callWith('call_1', 'weather', {}), responses.callWith('call_2', 'weather', {})];
/** Those of OpenAI. */
const gpts: Record<string, Json[]> = {
  'gpt-5.4': [
    responses.reasoningWith('First.'),
    { ...responses.reasoningWith('Then.'), id: 'rs_2', encrypted_content: 'gAAAAtwo' },
    ...items,
  ],
};
const called = { functionCall: { name: 'weather', args: {} } };
/** Those of Gemini. */
const geminis: Record<string, Json[]> = {
  'gemini-3-pro': [
    { text: 'I look.', thoughtSignature: 'dGV4dA==' },
    { ...called, thoughtSignature: 'Y2FsbA==' },
    called,
  ],
  'gemini-3-flash': [
    { ...called, thoughtSignature: 'b25l' },
    { ...called, thoughtSignature: 'dHdv' },
  ],
};

const has = (body: Json, results: string) => JSON.stringify(body).includes(results);
const umbrella = 'Take an umbrella';

const scripts = {
  anthropic: anthropic.strictAnthropic((body, response) => {
    const turn = claudes[String(body.model)] ?? [];
    const isDone = has(body, '"tool_result"');
    anthropic.send(response, body, isDone ? [text(umbrella)] : turn, isDone ? 'end_turn' : 'tool_use');
  }),
  responses: responses.strictResponses((body, response) => {
    const isDone = has(body, '"function_call_output"');
    const whole = responses.responseWith(isDone ? [responses.messageWith(umbrella)] : (gpts[String(body.model)] ?? []));
    if (body.stream !== true) json(response, whole);
    else stream(response, responses.streamOfResponse(whole));
  }),
  gemini: gemini.strictGemini(({ model, verb, body }, response) => {
    const parts = has(body, '"functionResponse"') ? [{ text: umbrella }] : (geminis[model] ?? texts[model] ?? []);
    if (verb === 'generateContent') return json(response, gemini.answered(parts));
    const last = parts.length - 1;
    const events = parts.map((part, index) => (index === last ? gemini.answered([part]) : gemini.generated([part])));
    gemini.sendEvents(response, events);
  }),
};

function stream(response: ServerResponse, told: string): void {
  eventStream(response);
  response.end(told);
}

/** Answers of Gemini whose signature comes after the text. */
const texts: Record<string, Json[]> = {
  'gemini-3.1-pro': [{ text: 'It will' }, { text: ' rain.' }, { text: '', thoughtSignature: 'c2ln' }],
  'gemini-3.1-flash': [
    { text: 'I think', thought: true },
    { text: 'It will' },
    { text: ' rain.', thoughtSignature: 'c2ln' },
  ],
};

type Provider = keyof typeof scripts;
const configs: Record<Provider, { path: string; dialect: Json; models: string[]; secret: string }> = {
  anthropic: {
    path: '',
    dialect: { dialect: 'anthropic' },
    models: Object.keys(claudes),
    secret: anthropic.anthropicKey,
  },
  responses: { path: '/v1', dialect: { serves: ['responses'] }, models: Object.keys(gpts), secret: 'k' },
  gemini: {
    path: '/v1beta',
    dialect: { dialect: 'gemini' },
    models: [...Object.keys(geminis), ...Object.keys(texts)],
    secret: gemini.geminiKey,
  },
};

let gateway: TestGateway;
const upstreams = new Map<Provider, ScriptedUpstream>();

beforeAll(async () => {
  const ids = Object.keys(scripts) as Provider[];
  for (const id of ids) upstreams.set(id, await startUpstream(scripts[id]));
  gateway = await startGateway({
    config: {
      providers: ids.map((id) => {
        const { path, dialect, models } = configs[id];
        return mainProvider(`${upstreams.get(id)?.origin}${path}`, { id, models, ...dialect });
      }),
      groups: [{ id: 'default', policy: { retries: 0 } }],
    },
    secrets: Object.fromEntries(ids.map((id) => [`provider/${id}/c1`, configs[id].secret])),
  });
});
afterAll(async () => {
  await gateway.stop();
  for (const upstream of upstreams.values()) await upstream.stop();
});
beforeEach(() => {
  for (const upstream of upstreams.values()) upstream.seen.length = 0;
});

/** The turn with the calls as the provider has received it back. Clients of Gemini's API return a text in its pieces. */
function turnSent(provider: Provider): unknown {
  const last = upstreams.get(provider)?.seen.at(-1);
  const body = last ? bodyOf(last) : {};
  if (provider === 'anthropic') return joined((body.messages as Json[])[1]?.content as Json[]);
  if (provider === 'gemini') return (body.contents as Json[])[1]?.parts;
  return (body.input as Json[]).filter(({ type }) => type === 'reasoning' || type === 'function_call');
}

function joined(blocks: readonly Json[]): Json[] {
  const whole: Json[] = [];
  for (const block of blocks) {
    const before = whole.at(-1);
    if (block.type === 'text' && before?.type === 'text') before.text = `${before.text}${block.text}`;
    else whole.push({ ...block });
  }
  return whole;
}

const clientsOf: Record<Provider, LoopClient[]> = {
  anthropic: ['chat', 'responses', 'gemini'],
  responses: ['chat', 'anthropic', 'gemini'],
  gemini: ['chat', 'responses', 'anthropic'],
};
const turns: [Provider, string, Json[]][] = [
  ...Object.entries(claudes).map(([model, turn]): [Provider, string, Json[]] => ['anthropic', model, turn]),
  ...Object.entries(gpts).map(([model, turn]): [Provider, string, Json[]] => ['responses', model, turn]),
  ...Object.entries(geminis).map(([model, turn]): [Provider, string, Json[]] => ['gemini', model, turn]),
];

describe.each(turns)('the turn of %s’s %s', (provider, model, turn) => {
  const ways = clientsOf[provider].flatMap((client) =>
    [true, false].flatMap((isStreamed) => keepings.map((keeping) => ({ client, isStreamed, keeping }))),
  );
  test.each(ways)(
    'goes back through a client of $client that brings back $keeping of its thoughts (stream: $isStreamed)',
    async ({ client, ...way }) => {
      const { said, dropped } = await toolLoops[client](gateway, { model, ...way });
      expect(said).toBe(umbrella);
      expect(dropped).toBeNull();
      expect(turnSent(provider)).toMatchObject(turn.map(({ id: _, status: _status, ...members }) => members));
    },
  );
});

describe.each(Object.keys(texts))('a text of %s that is signed after it', (model) => {
  const asked = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: question }] };

  test('is the last block of a stream for a client of Anthropic, which prints that one', async () => {
    const { content } = await claudeAt(gateway).messages.stream(asked).finalMessage();
    expect(content.at(-1)).toMatchObject({ type: 'text', text: 'It will rain.' });
    expect(content.filter(({ type }) => type === 'text').length).toBe(1);
  });

  test('has its signature before it in a whole answer, which brings it back to Gemini', async () => {
    const { messages } = claudeAt(gateway);
    const { content } = await messages.create(asked);
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    const history = [...asked.messages, { role: 'assistant' as const, content }, ...asked.messages];
    const { response } = await messages.create({ ...asked, messages: history }).withResponse();
    expect(response.headers.get('x-sluice-dropped')).toBeNull();
    expect(turnSent('gemini')).toEqual([{ text: 'It will rain.', thoughtSignature: 'c2ln' }]);
  });

  test('is the last item of a response', async () => {
    const input = { model, input: question, store: false };
    const streamed = await gateway.client.responses.stream(input).finalResponse();
    const whole = await gateway.client.responses.create(input);
    for (const { output } of [streamed, whole]) expect(output.at(-1)?.type).toBe('message');
  });

  test('tells that a stream has left its signature out', async () => {
    const { data, response } = await claudeAt(gateway)
      .messages.create({ ...asked, stream: true })
      .withResponse();
    for await (const _event of data);
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(JSON.stringify(record)).toContain('thought_signature');
  });
});
