import { describe, expect, it } from 'vitest';
import type { WireName } from '../../../../server/apis/neutral/conversation.ts';
import {
  assembleChunkList,
  assembleStream,
  isEventStream,
  readStreamEvents,
} from '../../../../server/contract/conversation/body-content.ts';
import { readConversation } from '../../../../server/contract/conversation/read-conversation.ts';
import { fixture, fixtureNames } from '../../../support/openai-calls.ts';
import { answered, streamed, streamOf, translate } from '../../apis/translation/translating.ts';

const assemble = (stream: string) => assembleStream(readStreamEvents(stream));

/** The same answer of a chat upstream, whole and as a stream. */
const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Zürich"}' } };
const message = { role: 'assistant', reasoning_content: 'Hm, well.', content: 'Look: rain.', tool_calls: [call] };
const usage = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 };
const base = { id: 'chatcmpl-1', object: 'chat.completion', created: 1_790_000_000, model: 'gpt-x' };
const whole = { ...base, choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage };
const delta = (part: object) => ({
  ...base,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: part, finish_reason: null }],
});
const piece = (text: string) => delta({ tool_calls: [{ index: 0, function: { arguments: text } }] });
const events = [
  delta({ role: 'assistant', content: null }),
  delta({ reasoning_content: 'Hm, ' }),
  delta({ reasoning_content: 'well.' }),
  delta({ content: 'Look: ' }),
  delta({ content: 'rain.' }),
  delta({ tool_calls: [{ ...call, index: 0, function: { name: 'weather', arguments: '' } }] }),
  piece('{"city":'),
  piece('"Zürich"}'),
  { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
  { ...base, object: 'chat.completion.chunk', choices: [], usage },
  '[DONE]',
];

const turn = { role: 'user', content: 'Weather?' };
const tool = { name: 'weather', description: 'Tells it', parameters: { type: 'object', properties: {} } };
const requests: Record<Exclude<WireName, 'openai-chat'>, object> = {
  'anthropic-messages': {
    model: 'm',
    max_tokens: 99,
    messages: [turn],
    stream: true,
    thinking: { type: 'enabled', budget_tokens: 1_024 },
    tools: [{ name: 'weather', input_schema: tool.parameters }],
  },
  'openai-responses': { model: 'm', input: 'Weather?', stream: true, tools: [{ type: 'function', ...tool }] },
  'gemini-generate': {
    contents: [{ parts: [{ text: 'Weather?' }] }],
    tools: [{ functionDeclarations: [tool] }],
    generationConfig: { thinkingConfig: { includeThoughts: true } },
    model: 'm',
    stream: true,
  },
};

describe('a stream, assembled', () => {
  it('of a chat is what the API answers without a stream', () => {
    expect(assemble(streamOf(events, false).toString())).toEqual({ answer: whole, error: null, isComplete: true });
  });

  it.each(Object.entries(requests) as [WireName, object][])(
    'of %s says what the whole answer says',
    (wire, request) => {
      const way = { from: wire, to: 'openai-chat', model: 'gpt-x' } as const;
      const stream = streamed(translate(way, request), [streamOf(events, false)]);
      const assembled = assemble(stream);
      expect(assembled?.isComplete).toBe(true);
      const shown = readConversation(null, assembled?.answer);
      expect(shown).toEqual(readConversation(null, answered(translate(way, { ...request, stream: false }), whole)));
      expect(shown?.messages[0]?.parts).toMatchObject([
        { kind: 'thinking', text: 'Hm, well.' },
        { kind: 'text', text: 'Look: rain.' },
        { kind: 'call', name: 'weather', result: null },
      ]);
    },
  );

  it.each(Object.entries(requests) as [WireName, object][])(
    'of %s keeps what came where it breaks off, and is not complete',
    (wire, request) => {
      const way = { from: wire, to: 'openai-chat', model: 'gpt-x' } as const;
      const stream = streamed(translate(way, request), [streamOf(events, false)]);
      const broken = assemble(stream.slice(0, stream.indexOf('rain.') + 'rain.'.length));
      expect(broken?.isComplete).toBe(false);
      expect(JSON.stringify(readConversation(null, broken?.answer))).toContain('Hm, well.');
    },
  );

  it('tells the error within it', () => {
    const error = { message: 'The server had an error', type: 'server_error' };
    const stream = streamOf([delta({ content: 'Half' }), { error }], false).toString();
    expect(assemble(stream)).toMatchObject({ error, isComplete: false, answer: { choices: [{ message: {} }] } });
  });

  it('has one call for each id where a provider gives all the same index', () => {
    const called = (id: string) => delta({ tool_calls: [{ ...call, id, index: 0 }] });
    const assembled = assemble(streamOf([called('one'), called('two'), '[DONE]'], false).toString());
    expect(readConversation(null, assembled?.answer)?.messages[0]?.parts).toMatchObject([{ id: 'one' }, { id: 'two' }]);
  });

  it('is read from every recorded chat and response', () => {
    const names = fixtureNames().filter((name) => /^openai-(chat|responses|completions)\/.*\.sse$/.test(name));
    expect(names.length).toBeGreaterThan(4);
    for (const name of names) expect(assemble(fixture(name).toString())?.isComplete, name).toBe(true);
  });

  it('of Gemini may be one list', () => {
    const chunk = (text: string) => ({ candidates: [{ content: { role: 'model', parts: [{ text }] } }] });
    expect(assembleChunkList([chunk('Hel'), chunk('lo')])).toMatchObject({
      candidates: [{ content: { parts: [{ text: 'Hello' }] } }],
    });
    expect(assembleChunkList([1, 2])).toEqual([1, 2]);
  });

  it('is none for events of another kind', () => {
    expect(assemble('event: image\ndata: {"type":"image_generation.partial_image"}\n\n')).toBe(null);
  });
});

describe('the events of a captured stream', () => {
  it('are read over any line ends, without comments', () => {
    const text = ': hello\r\n\r\nevent: one\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata:[DONE]\n\n';
    expect(readStreamEvents(text)).toEqual([
      { name: 'one', data: '{"a":\n1}', value: { a: 1 } },
      { name: '', data: '[DONE]', value: undefined },
    ]);
  });

  it('are told from a whole answer', () => {
    expect(isEventStream('data: {}', null)).toBe(true);
    expect(isEventStream('{"data": 1}', null)).toBe(false);
    expect(isEventStream('data: {}', 'text/plain')).toBe(false);
    expect(isEventStream('', 'text/event-stream; charset=utf-8')).toBe(true);
  });
});
