/** An answer says the same to a client whether its upstream sent it as a whole, as a stream, or one byte after another. */
import { describe, expect, test } from 'vitest';
import { sseFraming } from '../../../../server/apis/core/sse-framing.ts';
import { AnswerFold } from '../../../../server/apis/neutral/answers/answer-fold.ts';
import type { UpstreamWireName, WireName } from '../../../../server/apis/neutral/conversation.ts';
import type { Answer, AnswerPart } from '../../../../server/apis/neutral/neutral-answer.ts';
import { wireTranslations } from '../../../../server/apis/translation/translation-registry.ts';
import { type Json, streamed, streamOf, translate, wholeAnswer } from './translating.ts';

interface Recorded {
  whole: Json;
  events: readonly (Json | string)[];
}

const clients = Object.keys(wireTranslations) as WireName[];
const tool = { type: 'object', properties: { path: { type: 'string' } } };
const requests: Record<WireName, Json> = {
  'openai-chat': {
    model: 'm',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ type: 'function', function: { name: 'read', parameters: tool } }],
    stream_options: { include_usage: true },
  },
  'openai-responses': {
    model: 'm',
    input: 'Hi',
    store: false,
    include: ['reasoning.encrypted_content'],
    tools: [{ type: 'function', name: 'read', parameters: tool }],
  },
  'anthropic-messages': {
    model: 'm',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ name: 'read', input_schema: tool }],
  },
  'gemini-generate': {
    model: 'm',
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    tools: [{ functionDeclarations: [{ name: 'read', parameters: tool }] }],
  },
};

const long = 'words '.repeat(35_000);

// Chat.
const completion = (message: Json, reason: string | null = 'stop') => ({
  id: 'c1',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }],
  usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
});
const chunk = (delta: Json, more: Json = {}) => ({
  id: 'c1',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const counted = { id: 'c1', choices: [], usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 } };
const chatEnd = (reason: string | null = 'stop') => [chunk({}, { finish_reason: reason }), counted, '[DONE]'];
const call = (index: number, id: string, args: string) => ({
  index,
  id,
  type: 'function',
  function: { name: 'read', arguments: args },
});
const chat: Record<string, Recorded> = {
  text: {
    whole: completion({ content: 'Hello' }),
    events: [chunk({ content: 'Hel' }), chunk({ content: 'lo' }), ...chatEnd()],
  },
  'a long text': {
    whole: completion({ content: long }),
    events: [...(long.match(/.{1,5000}/gs) ?? []).map((content) => chunk({ content })), ...chatEnd()],
  },
  'a thought and text': {
    whole: completion({ reasoning_content: 'Hm. So.', content: 'Hello' }),
    events: [
      chunk({ reasoning_content: 'Hm. ' }),
      chunk({ reasoning_content: 'So.' }),
      chunk({ content: 'Hello' }),
      ...chatEnd(),
    ],
  },
  'a refusal': {
    whole: completion({ refusal: 'No.' }),
    events: [chunk({ refusal: 'N' }), chunk({ refusal: 'o.' }), ...chatEnd()],
  },
  'two calls': {
    whole: completion(
      { content: 'I read.', tool_calls: [call(0, 'a', '{"path":"x"}'), call(1, 'b', '{}')] },
      'tool_calls',
    ),
    events: [
      chunk({ content: 'I read.' }),
      chunk({ tool_calls: [call(0, 'a', '{"pa')] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: 'th":"x"}' } }] }),
      chunk({ tool_calls: [call(1, 'b', '{}')] }),
      ...chatEnd('tool_calls'),
    ],
  },
  'a call with null for arguments': {
    whole: completion({ tool_calls: [call(0, 'a', 'null')] }, 'tool_calls'),
    events: [
      chunk({ tool_calls: [call(0, 'a', 'nu')] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: 'll' } }] }),
      ...chatEnd('tool_calls'),
    ],
  },
  'a call without a name': {
    whole: completion({ content: 'Hello', function_call: { name: '', arguments: '' } }),
    events: [chunk({ content: 'Hello', function_call: { name: '', arguments: '' } }), ...chatEnd()],
  },
  'an empty custom call beside a function': {
    whole: completion({ tool_calls: [{ ...call(0, 'a', '{}'), custom: { name: '', input: '' } }] }, 'tool_calls'),
    events: [
      chunk({ tool_calls: [{ ...call(0, 'a', '{}'), custom: { name: '', input: '' } }] }),
      ...chatEnd('tool_calls'),
    ],
  },
  'two choices out of order': {
    whole: {
      ...completion({}),
      choices: [
        { index: 1, message: { content: 'B' }, finish_reason: 'stop' },
        { index: 0, message: { content: 'A' }, finish_reason: 'stop' },
      ],
    },
    events: [
      { id: 'c1', choices: [{ index: 1, delta: { content: 'B' }, finish_reason: null }] },
      chunk({ content: 'A' }),
      { id: 'c1', choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] },
      ...chatEnd(),
    ],
  },
};

// Claude.
const message = (content: Json[], reason: string | null = 'end_turn') => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content,
  stop_reason: reason,
  usage: { input_tokens: 9, output_tokens: 5 },
});
const started = {
  type: 'message_start',
  message: { ...message([], null), usage: { input_tokens: 9, output_tokens: 1 } },
};
const begin = (index: number, block: Json) => ({ type: 'content_block_start', index, content_block: block });
const add = (index: number, delta: Json) => ({ type: 'content_block_delta', index, delta });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const ended = (reason: string | null = 'end_turn') => [
  { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
];
const said = [{ type: 'text', text: 'Hello' }];
const saying = [begin(1, { type: 'text', text: '' }), add(1, { type: 'text_delta', text: 'Hello' }), stop(1)];
const thought = (signature?: string) => ({
  type: 'thinking',
  thinking: 'Hm.',
  ...(signature !== undefined && { signature }),
});
const thinking = [add(0, { type: 'thinking_delta', thinking: 'Hm.' })];
const claude: Record<string, Recorded> = {
  text: { whole: message(said), events: [started, ...saying, ...ended()] },
  'a signature in the first event of its block': {
    whole: message([thought('Ev=='), ...said]),
    events: [
      started,
      begin(0, { type: 'thinking', thinking: '', signature: 'Ev==' }),
      ...thinking,
      stop(0),
      ...saying,
      ...ended(),
    ],
  },
  'a signature in two pieces': {
    whole: message([thought('Ev=='), ...said]),
    events: [
      started,
      begin(0, { type: 'thinking', thinking: '' }),
      ...thinking,
      add(0, { type: 'signature_delta', signature: 'Ev' }),
      add(0, { type: 'signature_delta', signature: '==' }),
      stop(0),
      ...saying,
      ...ended(),
    ],
  },
  'a thought without a signature': {
    whole: message([thought(), ...said]),
    events: [started, begin(0, { type: 'thinking', thinking: '' }), ...thinking, stop(0), ...saying, ...ended()],
  },
  'a thought whose end is missing': {
    whole: message([thought('Ev=='), ...said]),
    events: [
      started,
      begin(0, { type: 'thinking', thinking: '', signature: 'Ev==' }),
      ...thinking,
      ...saying,
      ...ended(),
    ],
  },
  'two sealed thoughts and a call': {
    whole: message(
      [
        thought('Ev=='),
        { type: 'redacted_thinking', data: 'Rx==' },
        { type: 'tool_use', id: 't', name: 'read', input: { path: 'x' } },
      ],
      'tool_use',
    ),
    events: [
      started,
      begin(0, { type: 'thinking', thinking: '' }),
      ...thinking,
      add(0, { type: 'signature_delta', signature: 'Ev==' }),
      stop(0),
      begin(1, { type: 'redacted_thinking', data: 'Rx==' }),
      stop(1),
      begin(2, { type: 'tool_use', id: 't', name: 'read', input: {} }),
      add(2, { type: 'input_json_delta', partial_json: '{"path":"x"}' }),
      stop(2),
      ...ended('tool_use'),
    ],
  },
};

// Gemini.
const candidate = (parts: Json[], more: Json = {}) => ({
  responseId: 'r1',
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5, totalTokenCount: 14 },
});
const finished = { finishReason: 'STOP' };
const gemini: Record<string, Recorded> = {
  text: {
    whole: candidate([{ text: 'Hello' }], finished),
    events: [candidate([{ text: 'Hel' }]), candidate([{ text: 'lo' }], finished)],
  },
  'a thought and a signed call': {
    whole: candidate(
      [
        { text: 'Hm.', thought: true },
        { functionCall: { name: 'read', args: { path: 'x' } }, thoughtSignature: 'Sg==' },
      ],
      finished,
    ),
    events: [
      candidate([{ text: 'Hm.', thought: true }]),
      candidate([{ functionCall: { name: 'read', args: { path: 'x' } }, thoughtSignature: 'Sg==' }]),
      candidate([], finished),
    ],
  },
  'a signed text': {
    whole: candidate([{ text: 'Hello' }, { text: '', thoughtSignature: 'Sg==' }], finished),
    events: [candidate([{ text: 'Hello' }]), candidate([{ text: '', thoughtSignature: 'Sg==' }], finished)],
  },
  'a limit': {
    whole: candidate([{ text: 'Hello' }], { finishReason: 'MAX_TOKENS' }),
    events: [candidate([{ text: 'Hello' }]), candidate([], { finishReason: 'MAX_TOKENS' })],
  },
};

// Responses.
const response = (output: Json[], more: Json = {}) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output,
  usage: { input_tokens: 9, output_tokens: 5, total_tokens: 14 },
  ...more,
});
const created = { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } };
const completed = (output: Json[]) => ({ type: 'response.completed', response: response(output) });
const done = (index: number, item: Json) => ({ type: 'response.output_item.done', output_index: index, item });
const added = (index: number, item: Json) => ({ type: 'response.output_item.added', output_index: index, item });
const spoken = {
  type: 'message',
  id: 'm1',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
};
const refused = { type: 'message', id: 'm1', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] };
const reasoned = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [
    { type: 'summary_text', text: 'First.' },
    { type: 'summary_text', text: 'Second.' },
  ],
  content: [{ type: 'reasoning_text', text: 'Third.' }],
  encrypted_content: 'gAbc',
};
const called = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'read', arguments: '{"path":"x"}' };
const summaryDelta = (at: number, delta: string) => ({
  type: 'response.reasoning_summary_text.delta',
  output_index: 0,
  summary_index: at,
  delta,
});
const onlyIn = (item: Json): Record<string, Recorded> => ({
  [`a ${item.type} of ${item.id} only in output_item.done`]: {
    whole: response([item]),
    events: [created, done(0, item), completed([item])],
  },
  [`a ${item.type} of ${item.id} only in response.completed`]: {
    whole: response([item]),
    events: [created, completed([item])],
  },
  [`a ${item.type} of ${item.id} only in output_item.done, with an empty end`]: {
    whole: response([item]),
    events: [created, done(0, item), completed([])],
  },
});
const responses: Record<string, Recorded> = {
  ...onlyIn(spoken),
  ...onlyIn({ ...refused, id: 'refusal' }),
  ...onlyIn(reasoned),
  ...onlyIn(called),
  ...onlyIn({ type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'read', input: 'text' }),
  text: {
    whole: response([spoken]),
    events: [
      created,
      added(0, { ...spoken, content: [] }),
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'm1', delta: 'Hel' },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'm1', delta: 'lo' },
      done(0, spoken),
      completed([spoken]),
    ],
  },
  'text and a refusal of which only the text came in deltas': {
    whole: response([{ ...spoken, content: [...spoken.content, ...refused.content] }]),
    events: [
      created,
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hello' },
      done(0, { ...spoken, content: [...spoken.content, ...refused.content] }),
      completed([]),
    ],
  },
  'a summary and its content': {
    whole: response([reasoned, spoken]),
    events: [
      created,
      added(0, { type: 'reasoning', id: 'rs_1', summary: [] }),
      summaryDelta(0, 'First.'),
      summaryDelta(1, 'Sec'),
      summaryDelta(1, 'ond.'),
      { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'Third.' },
      done(0, reasoned),
      done(1, spoken),
      completed([reasoned, spoken]),
    ],
  },
  'deltas of a call before it is announced': {
    whole: response([called]),
    events: [
      created,
      { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc_1', delta: '{"path":"x"}' },
      done(0, called),
      completed([called]),
    ],
  },
  'a last event without the reasoning': {
    whole: response([reasoned, spoken]),
    events: [
      created,
      done(0, reasoned),
      { type: 'response.output_text.delta', output_index: 1, content_index: 0, item_id: 'm1', delta: 'Hello' },
      done(1, spoken),
      completed([spoken]),
    ],
  },
};

// Converse.
const converse = (content: Json[], reason = 'end_turn') => ({
  output: { message: { role: 'assistant', content } },
  stopReason: reason,
  usage: { inputTokens: 9, outputTokens: 5, totalTokens: 14 },
});
const delta = (index: number, value: Json) => ({ contentBlockDelta: { contentBlockIndex: index, delta: value } });
const blockEnd = (index: number) => ({ contentBlockStop: { contentBlockIndex: index } });
const converseEnd = (reason = 'end_turn') => [
  { messageStop: { stopReason: reason } },
  { metadata: { usage: { inputTokens: 9, outputTokens: 5, totalTokens: 14 } } },
];
const role = { messageStart: { role: 'assistant' } };
const bedrock: Record<string, Recorded> = {
  text: {
    whole: converse([{ text: 'Hello' }]),
    events: [role, delta(0, { text: 'Hel' }), delta(0, { text: 'lo' }), blockEnd(0), ...converseEnd()],
  },
  'a thought and a call': {
    whole: converse(
      [
        { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'Ev==' } } },
        { toolUse: { toolUseId: 't', name: 'read', input: { path: 'x' } } },
      ],
      'tool_use',
    ),
    events: [
      role,
      delta(0, { reasoningContent: { text: 'Hm.' } }),
      delta(0, { reasoningContent: { signature: 'Ev==' } }),
      blockEnd(0),
      { contentBlockStart: { contentBlockIndex: 1, start: { toolUse: { toolUseId: 't', name: 'read' } } } },
      delta(1, { toolUse: { input: '{"pa' } }),
      delta(1, { toolUse: { input: 'th":"x"}' } }),
      blockEnd(1),
      ...converseEnd('tool_use'),
    ],
  },
  'an unsigned thought': {
    whole: converse([{ reasoningContent: { reasoningText: { text: 'Hm.' } } }, { text: 'Hello' }]),
    events: [role, delta(0, { reasoningContent: { text: 'Hm.' } }), delta(1, { text: 'Hello' }), ...converseEnd()],
  },
};

const recorded: Record<UpstreamWireName, Record<string, Recorded>> = {
  'openai-chat': chat,
  'openai-responses': responses,
  'anthropic-messages': claude,
  'gemini-generate': gemini,
  'bedrock-converse': bedrock,
};
const models: Record<UpstreamWireName, string> = {
  'openai-chat': 'gpt-4o',
  'openai-responses': 'gpt-5.4',
  'anthropic-messages': 'claude-opus-4-6',
  'gemini-generate': 'gemini-2.5-pro',
  'bedrock-converse': 'us.amazon.nova-2-lite-v1:0',
};

/** Clients of Anthropic's and Gemini's APIs cannot offer a custom tool, so that no model calls one. */
function mayBeTold(client: WireName, name: string): boolean {
  return client.startsWith('openai') || !name.includes('custom_tool_call');
}

/** A client's stream as its own API's accumulator reads it. */
function collected(client: WireName, stream: string): Answer {
  const parser = wireTranslations[client].eventParser(0);
  const fold = new AnswerFold();
  for (const text of stream.split(/\r?\n\r?\n/)) {
    const event = text === '' ? null : sseFraming.readEvent(Buffer.from(text));
    for (const each of event ? parser.push(event) : []) fold.take(each);
  }
  for (const each of parser.end()) fold.take(each);
  return fold.answer;
}

/** The seal of a text is known only after it: a whole answer has it before the text, a stream after it or not at all. */
function withoutLateSeals(answer: Answer | null): Answer | null {
  const isLate = (part: AnswerPart) => part.type === 'thinking' && part.text === '' && part.seal?.kind !== 'redacted';
  const hasCall = answer?.parts.some(({ type }) => type === 'call');
  return answer && { ...answer, parts: answer.parts.filter((part) => hasCall || !isLate(part)) };
}

describe.each(Object.keys(recorded) as UpstreamWireName[])('an answer of %s', (upstream) => {
  const cases = Object.entries(recorded[upstream]);
  const others = clients.filter((client) => client !== upstream);

  test.each(
    cases.flatMap(([name, each]) =>
      others.filter((client) => mayBeTold(client, name)).map((client) => [name, client, each] as const),
    ),
  )('with %s is the same for a client of %s', (_name, client, { whole, events }) => {
    const request = translate({ from: client, to: upstream, model: models[upstream] }, requests[client]);
    const told = request.whole(Buffer.from(JSON.stringify(whole)), { createdAt: 1 });
    if (!told?.ok) expect.unreachable(JSON.stringify(told));
    const fromWhole = wholeAnswer(wireTranslations[client], JSON.parse(told.body.toString()));
    const bytes = streamOf(
      events,
      upstream !== 'openai-chat' && upstream !== 'bedrock-converse' && upstream !== 'gemini-generate',
    );
    const pieces = bytes.length > 20_000 ? [bytes] : [...bytes].map((byte) => Buffer.from([byte]));
    const expected = withoutLateSeals(fromWhole);
    expect(withoutLateSeals(collected(client, streamed(request, pieces)))).toEqual(expected);
    expect(expected?.parts).not.toEqual([]);
    const converted = request.wholeAsEvents(Buffer.from(JSON.stringify(whole)), { createdAt: 1 });
    expect(withoutLateSeals(collected(client, String(converted)))).toEqual(expected);
  });
});

describe('a call that the answer’s limit cut off', () => {
  const cut = (reason: string): Recorded => ({
    whole: completion({ content: 'I write. ', tool_calls: [call(0, 'a', '{"path":"lorem ip')] }, reason),
    events: [
      chunk({ content: 'I write. ' }),
      chunk({ tool_calls: [call(0, 'a', '{"path":"lorem ip')] }),
      ...chatEnd(reason),
    ],
  });
  const others = clients.filter((client) => client !== 'openai-chat');
  const requestOf = (client: WireName) =>
    translate({ from: client, to: 'openai-chat', model: 'gpt-4o' }, requests[client]);

  test.each(others)('leaves the text and says so to a client of %s', (client) => {
    const { whole, events } = cut('length');
    const told = requestOf(client).whole(Buffer.from(JSON.stringify(whole)), { createdAt: 1 });
    if (!told?.ok) expect.unreachable(JSON.stringify(told));
    const fromWhole = wholeAnswer(wireTranslations[client], JSON.parse(told.body.toString()));
    const fromStream = collected(client, streamed(requestOf(client), [streamOf(events, false)]));
    for (const answer of [fromWhole, fromStream]) {
      expect(answer?.stop.reason).toBe('length');
      expect(answer?.parts[0]).toMatchObject({ type: 'text', text: 'I write. ' });
    }
  });

  test.each(['anthropic-messages', 'gemini-generate'] as const)(
    'is damage for a client of %s without a limit',
    (client) => {
      const { whole, events } = cut('tool_calls');
      expect(requestOf(client).whole(Buffer.from(JSON.stringify(whole)), { createdAt: 1 })?.ok).toBe(false);
      expect(streamed(requestOf(client), [streamOf(events, false)])).toMatch(/"error":/);
    },
  );
});
