/**
 * Calls that a chat provider streams in any of the ways there are reach the official client of each other API whole: the
 * index places a fragment, id and name only refine, and what cannot be placed is an error instead of an empty call.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { claudeAt, geminiAt } from '../../support/sdk-clients.ts';
import { eventStream, type ScriptedUpstream, sendPieces, startUpstream } from '../../support/upstream.ts';

type Json = Record<string, unknown>;
type Calls = [name: string, input: unknown][];

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let deltas: readonly Json[] = [];
let finish = 'tool_calls';
let cuts: (length: number) => number[] = () => [];

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => {
    const chunk = (delta: Json, reason: string | null) => ({
      ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' },
      choices: [{ index: 0, delta, finish_reason: reason }],
    });
    const chunks = [...deltas.map((delta) => chunk(delta, null)), chunk({}, finish)];
    const bytes = Buffer.from([...chunks.map((each) => JSON.stringify(each)), '[DONE]'].map(inEvent).join(''));
    eventStream(response);
    return sendPieces(response, bytes, cuts(bytes.length));
  });
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl, { serves: ['chat'] })] } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const inEvent = (data: string) => `data: ${data}\n\n`;

const schema = { type: 'object' as const, properties: { path: { type: 'string' } } };
const names = ['write_file', 'read_file'];

/** What the official client of each API makes of the stream. */
const clients: Record<string, () => Promise<Calls>> = {
  anthropic: async () => {
    const stream = claudeAt(gateway).messages.stream({
      model: 'gpt-x',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: names.map((name) => ({ name, input_schema: schema })),
    });
    const { content } = await stream.finalMessage();
    return content.flatMap((block): Calls => (block.type === 'tool_use' ? [[block.name, block.input]] : []));
  },
  responses: async () => {
    const stream = gateway.client.responses.stream({
      model: 'gpt-x',
      input: 'Hi',
      tools: names.map((name) => ({ type: 'function' as const, name, parameters: schema, strict: false })),
    });
    const { output } = await stream.finalResponse();
    return output.flatMap(
      (item): Calls => (item.type === 'function_call' ? [[item.name, JSON.parse(item.arguments)]] : []),
    );
  },
  gemini: async () => {
    const stream = await geminiAt(gateway).models.generateContentStream({
      model: 'gpt-x',
      contents: 'Hi',
      config: { tools: [{ functionDeclarations: names.map((name) => ({ name, parametersJsonSchema: schema })) }] },
    });
    const calls: Calls = [];
    for await (const { functionCalls = [] } of stream) {
      for (const { name = '', args } of functionCalls) calls.push([name, args]);
    }
    return calls;
  },
};

/** A delta with a fragment of a call; undefined members are left out. */
const part = (place: Json, name: string | null | undefined, text: unknown = '') => ({
  tool_calls: [{ type: 'function', ...place, function: { name, arguments: text } }],
});
const input = { path: 'a.txt' };
const json = JSON.stringify(input);
const [start, end] = [json.slice(0, 6), json.slice(6)];
const one: Calls = [['write_file', input]];
const both: Calls = [...one, ['read_file', { path: 'b.txt' }]];
const second = '{"path":"b.txt"}';

const cases: Record<string, [readonly Json[], Calls]> = {
  'the usual way': [[part({ index: 0, id: 'a' }, 'write_file'), part({ index: 0 }, undefined, json)], one],
  'another id with the arguments': [
    [part({ index: 0, id: 'a' }, 'write_file'), part({ index: 0, id: 'b' }, undefined, json)],
    one,
  ],
  'another id in the middle of the arguments': [
    [part({ index: 0, id: 'a' }, 'write_file', start), part({ index: 0, id: 'b' }, undefined, end)],
    one,
  ],
  'another id with each fragment': [
    [
      part({ index: 0, id: 'a' }, 'write_file'),
      ...[...json].map((character, at) => part({ index: 0, id: `x${at}` }, undefined, character)),
    ],
    one,
  ],
  'another id and the name with each fragment': [
    [
      part({ index: 0, id: 'a' }, 'write_file', start),
      part({ index: 0, id: 'b' }, 'write_file', end),
      part({ index: 0, id: 'c' }, 'write_file'),
    ],
    one,
  ],
  'another id, the name and all arguments twice': [
    [
      part({ index: 0, id: 'a' }, 'write_file'),
      part({ index: 0, id: 'b' }, 'write_file', start),
      part({ index: 0, id: 'c' }, 'write_file', end),
      part({ index: 0, id: 'd' }, 'write_file', json),
    ],
    one,
  ],
  'the id "null"': [[part({ index: 0, id: 'a' }, 'write_file'), part({ index: 0, id: 'null' }, undefined, json)], one],
  'an id that is null, and a name that is': [
    [part({ index: 0, id: 'a' }, 'write_file', start), part({ index: 0, id: null }, null, end)],
    one,
  ],
  'another id and an empty name': [
    [part({ index: 0, id: 'a' }, 'write_file', start), part({ index: 0, id: 'b' }, '', end)],
    one,
  ],
  'an empty id and an empty name': [
    [part({ index: 0, id: 'a' }, 'write_file', start), part({ index: 0, id: '' }, '', end)],
    one,
  ],
  'the name again with each fragment': [
    [
      part({ index: 0, id: 'a' }, 'write_file', start),
      part({ index: 0 }, 'write_file', end),
      part({ index: 0 }, 'write_file'),
    ],
    one,
  ],
  'id and name again with each fragment': [
    [
      part({ index: 0, id: 'a' }, 'write_file', start),
      part({ index: 0, id: 'a' }, 'write_file', end),
      part({ index: 0, id: 'a' }, 'write_file'),
    ],
    one,
  ],
  'all of the arguments again at the end': [
    [
      part({ index: 0, id: 'a' }, 'write_file', start),
      part({ index: 0 }, undefined, end),
      part({ index: 0, id: 'a' }, 'write_file', json),
    ],
    one,
  ],
  'no id at all': [[part({ index: 0 }, 'write_file', start), part({ index: 0 }, undefined, end)], one],
  'an id that comes late': [
    [part({ index: 0 }, 'write_file', start), part({ index: 0, id: 'a' }, undefined, end)],
    one,
  ],
  'a name that comes late': [[part({ index: 0, id: 'a' }, '', start), part({ index: 0 }, 'write_file', end)], one],
  'a name that comes late, with another id': [
    [part({ index: 0, id: 'a' }, undefined, start), part({ index: 0, id: 'b' }, 'write_file', end)],
    one,
  ],
  'no index': [[part({ id: 'a' }, 'write_file', start), part({}, undefined, end)], one],
  'no index and another id': [[part({ id: 'a' }, 'write_file', start), part({ id: 'b' }, undefined, end)], one],
  'an index only at the beginning': [[part({ index: 0, id: 'a' }, 'write_file', start), part({}, undefined, end)], one],
  'an index only after the beginning': [
    [part({ id: 'a' }, 'write_file', start), part({ index: 0 }, undefined, end)],
    one,
  ],
  'another index under the same id': [
    [part({ index: 0, id: 'a' }, 'write_file', start), part({ index: 1, id: 'a' }, undefined, end)],
    one,
  ],
  'an index in quotes': [[part({ index: '0', id: 'a' }, 'write_file', start), part({ index: 0 }, '', end)], one],
  'an index that is null': [
    [part({ index: null, id: 'a' }, 'write_file', start), part({ index: null }, undefined, end)],
    one,
  ],
  'an index from one': [[part({ index: 1, id: 'a' }, 'write_file', start), part({ index: 1 }, undefined, end)], one],
  'arguments that are an object': [[part({ index: 0, id: 'a' }, 'write_file', input)], one],
  'arguments of null before the real ones': [
    [part({ index: 0, id: 'a' }, 'write_file', null), part({ index: 0 }, null, json)],
    one,
  ],
  'a call told flatly': [
    [
      { tool_calls: [{ index: 0, id: 'a', type: 'function', name: 'write_file', arguments: start }] },
      { tool_calls: [{ index: 0, arguments: end }] },
    ],
    one,
  ],
  'a call where a list of calls belongs': [
    [
      { tool_calls: { index: 0, id: 'a', function: { name: 'write_file', arguments: start } } },
      { tool_calls: { index: 0, function: { arguments: end } } },
    ],
    one,
  ],
  'the older form beside an empty one of today': [
    [
      { tool_calls: [{ index: 0, type: 'function', function: { name: '', arguments: '' } }] },
      { function_call: { name: 'write_file', arguments: json } },
    ],
    one,
  ],
  'two calls, one after another': [
    [
      part({ index: 0, id: 'a' }, 'write_file', start),
      part({ index: 0 }, undefined, end),
      part({ index: 1, id: 'b' }, 'read_file', second),
    ],
    both,
  ],
  'two calls, interleaved': [
    [
      part({ index: 0, id: 'a' }, 'write_file', start),
      part({ index: 1, id: 'b' }, 'read_file'),
      part({ index: 0 }, undefined, end),
      part({ index: 1 }, undefined, second),
    ],
    both,
  ],
  'two calls, interleaved, under other ids': [
    [
      part({ index: 0, id: 'a' }, 'write_file', start),
      part({ index: 1, id: 'b' }, 'read_file'),
      part({ index: 0, id: 'c' }, undefined, end),
      part({ index: 1, id: 'd' }, undefined, second),
    ],
    both,
  ],
  'two calls that share an index': [
    [part({ index: 0, id: 'a' }, 'write_file', json), part({ index: 0, id: 'b' }, 'read_file', second)],
    both,
  ],
  'two calls of one name that share an index': [
    [part({ index: 0, id: 'a' }, 'write_file', json), part({ index: 0, id: 'b' }, 'write_file', second)],
    [...one, ['write_file', { path: 'b.txt' }]],
  ],
  'two equal calls that share an index': [
    [part({ index: 0, id: 'a' }, 'write_file', json), part({ index: 0, id: 'b' }, 'write_file', json)],
    [...one, ...one],
  ],
  'two calls in fragments that share an index': [
    [
      part({ index: 0, id: 'a' }, 'write_file'),
      part({ index: 0 }, undefined, json),
      part({ index: 0, id: 'b' }, 'write_file'),
      part({ index: 0 }, undefined, second),
    ],
    [...one, ['write_file', { path: 'b.txt' }]],
  ],
  'two calls that share an index, interleaved by id': [
    [
      part({ index: 0, id: 'a' }, 'write_file'),
      part({ index: 0, id: 'b' }, 'read_file'),
      part({ index: 0, id: 'a' }, undefined, json),
      part({ index: 0, id: 'b' }, undefined, second),
    ],
    both,
  ],
  'two calls that share an index, without ids': [
    [part({ index: 0 }, 'write_file', json), part({ index: 0 }, 'read_file', second)],
    both,
  ],
  'two calls without arguments that share an index': [
    [part({ index: 0, id: 'a' }, 'write_file'), part({ index: 0, id: 'b' }, 'write_file')],
    [
      ['write_file', {}],
      ['write_file', {}],
    ],
  ],
  'two calls without an index': [
    [
      part({ id: 'a' }, 'write_file', start),
      part({}, undefined, end),
      part({ id: 'b' }, 'read_file'),
      part({}, undefined, second),
    ],
    both,
  ],
  'two calls without an index, interleaved by id': [
    [
      part({ id: 'a' }, 'write_file'),
      part({ id: 'b' }, 'read_file'),
      part({ id: 'a' }, undefined, json),
      part({ id: 'b' }, undefined, second),
    ],
    both,
  ],
  'two calls without index and id': [[part({}, 'write_file', json), part({}, 'read_file', second)], both],
  'two calls in one event': [
    [
      {
        tool_calls: [
          { id: 'a', function: { name: 'write_file', arguments: json } },
          { id: 'b', function: { name: 'read_file', arguments: second } },
        ],
      },
    ],
    both,
  ],
  'an empty custom call beside the function (Snowflake)': [
    [
      {
        content: '',
        function_call: { name: '', arguments: '' },
        tool_calls: [
          {
            index: 0,
            id: 'a',
            type: 'function',
            function: { name: 'write_file', arguments: json },
            custom: { name: '', input: '' },
          },
        ],
      },
    ],
    one,
  ],
  'the older form': [
    [{ function_call: { name: 'write_file', arguments: '' } }, { function_call: { arguments: json } }],
    one,
  ],
  'the older form beside that of today': [
    [
      {
        function_call: { name: 'write_file', arguments: json },
        tool_calls: [{ index: 0, id: 'a', function: { name: 'write_file', arguments: json } }],
      },
    ],
    one,
  ],
};

const eachByte = (length: number) => Array.from({ length: length - 1 }, (_, at) => at + 1);

test.each(Object.entries(cases))('one byte after another: %s', async (_name, [given, calls]) => {
  deltas = given;
  finish = 'tool_calls';
  cuts = eachByte;
  expect(await clients.anthropic?.()).toEqual(calls);
});

for (const [client, read] of Object.entries(clients)) {
  test.each(Object.entries(cases))(`${client}: %s`, async (_name, [given, calls]) => {
    deltas = given;
    finish = 'tool_calls';
    cuts = () => [];
    expect(await read()).toEqual(calls);
  });

  test(`${client}: 200 kB of arguments under another id with each fragment`, async () => {
    const long = { path: 'words "in quotes" \\ {brackets} '.repeat(7_000) };
    const pieces = JSON.stringify(long).match(/.{1,97}/gs) ?? [];
    deltas = [
      part({ index: 0, id: 'a' }, 'write_file'),
      ...pieces.map((piece, at) => part({ index: 0, id: `x${at}` }, 'write_file', piece)),
    ];
    cuts = () => [];
    expect(await read()).toEqual([['write_file', long]]);
  });

  test(`${client}: text with an empty call beside it is text`, async () => {
    deltas = [
      { content: 'Hello', function_call: { name: '', arguments: '' } },
      { content: '', tool_calls: [{ index: 0, type: 'function', function: { name: '', arguments: '{}' } }] },
      { tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: ' ', arguments: ' ' } }] },
    ];
    finish = 'stop';
    expect(await read()).toEqual([]);
  });

  test.each(['error', 'network_error', 'insufficient_system_resource'])(
    `${client}: an answer that the service broke off (%s) has no clean end`,
    async (reason) => {
      deltas = [{ content: 'Hello' }];
      finish = reason;
      await expect(read()).rejects.toThrow(/error of its own/);
    },
  );

  test(`${client}: arguments of a call that never gets a name are an error`, async () => {
    deltas = [part({ index: 0, id: 'a' }, undefined, json)];
    finish = 'tool_calls';
    await expect(read()).rejects.toThrow(/could not read/);
  });
}
