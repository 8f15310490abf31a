/**
 * What a Responses provider tells of its answer in one event only, whichever that is, reaches the official client of each
 * other API, and once.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { claudeAt, geminiAt } from '../../support/sdk-clients.ts';
import { eventStream, type ScriptedUpstream, sendPieces, startUpstream } from '../../support/upstream.ts';

type Json = Record<string, unknown>;
interface Told {
  text: string;
  calls: [name: string, input: unknown][];
}

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let events: readonly (Json | string)[] = [];
let cuts: (length: number) => number[] = () => [];

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => {
    const written = events.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`);
    const bytes = Buffer.from(written.join(''));
    eventStream(response);
    return sendPieces(response, bytes, cuts(bytes.length));
  });
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl, { serves: ['responses'] })] } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const parameters = { type: 'object' as const, properties: {} };
const names = ['f', 'g'];

const clients: Record<string, () => Promise<Told>> = {
  chat: async () => {
    const stream = gateway.client.chat.completions.stream({
      model: 'gpt-x',
      messages: [{ role: 'user', content: 'Hi' }],
      tools: names.map((name) => ({ type: 'function' as const, function: { name, parameters } })),
    });
    const message = (await stream.finalChatCompletion()).choices[0]?.message;
    const calls = message?.tool_calls ?? [];
    return {
      text: message?.content ?? '',
      calls: calls.flatMap((each) =>
        each.type === 'function' ? [[each.function.name, JSON.parse(each.function.arguments)]] : [],
      ),
    };
  },
  anthropic: async () => {
    const stream = claudeAt(gateway).messages.stream({
      model: 'gpt-x',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: names.map((name) => ({ name, input_schema: parameters })),
    });
    const { content } = await stream.finalMessage();
    return {
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls: content.flatMap((block) => (block.type === 'tool_use' ? [[block.name, block.input]] : [])),
    };
  },
  gemini: async () => {
    const stream = await geminiAt(gateway).models.generateContentStream({
      model: 'gpt-x',
      contents: 'Hi',
      config: { tools: [{ functionDeclarations: names.map((name) => ({ name, parametersJsonSchema: parameters })) }] },
    });
    const told: Told = { text: '', calls: [] };
    for await (const { candidates } of stream) {
      for (const { text = '', functionCall } of candidates?.[0]?.content?.parts ?? []) {
        told.text += text;
        if (functionCall) told.calls.push([functionCall.name ?? '', functionCall.args]);
      }
    }
    return told;
  },
};

const created = { type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress' } };
const completed = (...output: Json[]) => ({
  type: 'response.completed',
  response: { id: 'resp_1', object: 'response', status: 'completed', output },
});
const message = (text: string, more: Json = {}) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...more,
});
const call = (name: string, callArguments: string, more: Json = {}) => ({
  type: 'function_call',
  call_id: `call_${name}`,
  name,
  arguments: callArguments,
  ...more,
});
const added = (item: Json, place: Json = {}) => ({ type: 'response.output_item.added', ...place, item });
const done = (item: Json, place: Json = {}) => ({ type: 'response.output_item.done', ...place, item });
const textDelta = (delta: string, place: Json = {}) => ({ type: 'response.output_text.delta', ...place, delta });
const argumentsDelta = (delta: string, place: Json = {}) => ({
  type: 'response.function_call_arguments.delta',
  ...place,
  delta,
});
const at = (place: number, id?: string) => ({ output_index: place, ...(id !== undefined && { item_id: id }) });
const part = (place: Json) => ({ ...place, content_index: 0 });

const five = '{"a":5}';
const f: Told = { text: '', calls: [['f', { a: 5 }]] };
const both: Told = { text: '', calls: [...f.calls, ['g', { a: 6 }]] };
const hello: Told = { text: 'Hello', calls: [] };
const all: Told = { ...f, text: 'Hello' };

const cases: Record<string, [readonly (Json | string)[], Told]> = {
  'a call only at its end': [[created, done(call('f', five)), completed(call('f', five))], f],
  'a call only in the last event': [[created, completed(call('f', five))], f],
  'a call only at its end, and an empty last event': [[created, done(call('f', five)), completed()], f],
  'a call only at its beginning': [
    [created, added(call('f', five, { id: 'fc_1' }), at(0)), completed(call('f', five, { id: 'fc_1' }))],
    f,
  ],
  'a call only at its beginning, and an empty last event': [[created, added(call('f', five)), completed()], f],
  'two calls at their ends, without a place': [
    [created, done(call('f', five)), done(call('g', '{"a":6}')), completed(call('f', five), call('g', '{"a":6}'))],
    both,
  ],
  'two calls, one of them only in the last event': [
    [created, done(call('f', five), at(0)), completed(call('f', five), call('g', '{"a":6}'))],
    both,
  ],
  'two calls, the first of them only in the last event': [
    [created, done(call('g', '{"a":6}'), at(1)), completed(call('f', five), call('g', '{"a":6}'))],
    { text: '', calls: [['g', { a: 6 }], ...f.calls] },
  ],
  'arguments whose call is told only at its end': [
    [
      created,
      argumentsDelta('{"a"', at(0, 'fc_1')),
      argumentsDelta(':5}', at(0, 'fc_1')),
      done(call('f', five), at(0)),
      completed(),
    ],
    f,
  ],
  'arguments only in their own end': [
    [
      created,
      added(call('f', '', { id: 'fc_1' }), at(0)),
      { type: 'response.function_call_arguments.done', ...at(0, 'fc_1'), arguments: five },
      completed(),
    ],
    f,
  ],
  'arguments of which the deltas lack the end': [
    [
      created,
      added(call('f', '', { id: 'fc_1' }), at(0)),
      argumentsDelta('{"a"', at(0, 'fc_1')),
      done(call('f', five, { id: 'fc_1' }), at(0)),
      completed(call('f', five, { id: 'fc_1' })),
    ],
    f,
  ],
  'a call whose name comes at its end': [
    [
      created,
      added(call('f', '', { id: 'fc_1', name: '' }), at(0)),
      argumentsDelta(five, at(0, 'fc_1')),
      done(call('f', five, { id: 'fc_1' }), at(0)),
      completed(),
    ],
    f,
  ],
  'ids that are others in each event': [
    [
      created,
      added(call('f', '', { id: 'x1' }), at(0)),
      argumentsDelta(five, at(0, 'x2')),
      done(call('f', five, { id: 'x3' }), at(0)),
      completed(call('f', five, { id: 'x4' })),
    ],
    f,
  ],
  'ids and no places': [
    [
      created,
      added(call('f', '', { id: 'fc_1' })),
      added(call('g', '', { id: 'fc_2' })),
      argumentsDelta('{"a":6}', { item_id: 'fc_2' }),
      argumentsDelta(five, { item_id: 'fc_1' }),
      completed(call('f', five, { id: 'fc_1' }), call('g', '{"a":6}', { id: 'fc_2' })),
    ],
    both,
  ],
  'neither ids nor places': [
    [created, added(call('f', '')), argumentsDelta('{"a"'), argumentsDelta(':5}'), done(call('f', five)), completed()],
    f,
  ],
  'a custom call only at its end, of a function': [
    [created, done({ type: 'function_call', call_id: 'c', name: 'f', arguments: five }, at(0)), completed()],
    f,
  ],
  'text only in the last event': [[created, completed(message('Hello'))], hello],
  'text only in the last event, after a thought': [
    [
      created,
      added({ type: 'reasoning', id: 'rs_1', summary: [] }, at(0)),
      done({ type: 'reasoning', id: 'rs_1', summary: [] }, at(0)),
      completed({ type: 'reasoning', id: 'rs_1', summary: [] }, message('Hello')),
    ],
    hello,
  ],
  'text only at the end of its item': [[created, done(message('Hello'), at(0)), completed()], hello],
  'text only at its own end': [
    [created, { type: 'response.output_text.done', ...part(at(0, 'msg_1')), text: 'Hello' }, completed()],
    hello,
  ],
  'text only at the end of its part': [
    [
      created,
      { type: 'response.content_part.done', ...part(at(0)), part: { type: 'output_text', text: 'Hello' } },
      completed(),
    ],
    hello,
  ],
  'text of which the deltas lack the end': [
    [
      created,
      textDelta('Hel', part(at(0, 'msg_1'))),
      done(message('Hello', { id: 'msg_1' }), at(0)),
      completed(message('Hello', { id: 'msg_1' })),
    ],
    hello,
  ],
  'text whose end is in the last event': [[created, textDelta('Hel', part(at(0))), completed(message('Hello'))], hello],
  'text whose events have no place': [
    [created, textDelta('Hel'), textDelta('lo'), done(message('Hello')), completed(message('Hello'))],
    hello,
  ],
  'text that the last event has at another place, under another id': [
    [
      created,
      done({ type: 'reasoning', id: 'rs_1', summary: [] }, at(0)),
      textDelta('Hello', part(at(1, 'msg_1'))),
      done(message('Hello', { id: 'msg_1' }), at(1)),
      completed(message('Hello', { id: 'msg_9' }), call('f', five)),
    ],
    all,
  ],
  'text that the last event has differently': [
    [created, textDelta('Hello', part(at(0, 'msg_1'))), completed(message('Hello.\n', { id: 'msg_9' }))],
    { text: 'Hello.\n', calls: [] },
  ],
  'text that the last event contradicts': [
    [created, textDelta('Hello', part(at(0, 'msg_1'))), completed(message('Hallo', { id: 'msg_9' }))],
    hello,
  ],
  'text, and a call only in the last event': [
    [created, textDelta('Hello', part(at(0, 'msg_1'))), completed(message('Hello', { id: 'msg_1' }), call('f', five))],
    all,
  ],
  'all of it in all events': [
    [
      created,
      added(message('', { id: 'msg_1', content: [] }), at(0)),
      textDelta('Hel', part(at(0, 'msg_1'))),
      textDelta('lo', part(at(0, 'msg_1'))),
      { type: 'response.output_text.done', ...part(at(0, 'msg_1')), text: 'Hello' },
      {
        type: 'response.content_part.done',
        ...part(at(0, 'msg_1')),
        part: { type: 'output_text', text: 'Hello', annotations: [] },
      },
      done(message('Hello', { id: 'msg_1' }), at(0)),
      added(call('f', '', { id: 'fc_1' }), at(1)),
      argumentsDelta('{"a"', at(1, 'fc_1')),
      argumentsDelta(':5}', at(1, 'fc_1')),
      { type: 'response.function_call_arguments.done', ...at(1, 'fc_1'), arguments: five },
      done(call('f', five, { id: 'fc_1' }), at(1)),
      completed(message('Hello', { id: 'msg_1' }), call('f', five, { id: 'fc_1' })),
      '[DONE]',
    ],
    all,
  ],
};

const eachByte = (length: number) => Array.from({ length: length - 1 }, (_, place) => place + 1);

for (const [client, read] of Object.entries(clients)) {
  test.each(Object.entries(cases))(`${client}: %s`, async (_name, [given, told]) => {
    events = given;
    cuts = client === 'gemini' ? eachByte : () => [];
    expect(await read()).toEqual(told);
  });

  test(`${client}: an end without the event that has all is no end`, async () => {
    events = [created, textDelta('Hello', part(at(0))), '[DONE]'];
    cuts = () => [];
    await expect(read()).rejects.toThrow('before it was complete');
  });

  test(`${client}: 200 kB in deltas, and the last word only in the last event`, async () => {
    const words = 'words "in quotes" \\ größer '.repeat(7_500);
    const deltas = words.match(/.{1,120}/gs) ?? [];
    events = [
      created,
      ...deltas.map((delta) => textDelta(delta, part(at(0, 'msg_1')))),
      completed(message(`${words}End.`, { id: 'msg_1' })),
    ];
    cuts = () => [];
    expect(await read()).toEqual({ text: `${words}End.`, calls: [] });
  });

  test(`${client}: arguments whose call never gets a name are an error`, async () => {
    events = [created, argumentsDelta(five, at(0, 'fc_1')), completed()];
    await expect(read()).rejects.toThrow(/could not read/);
  });
}
