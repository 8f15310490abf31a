/** Captured conversations of every API as lines of a dataset. */
import { describe, expect, test } from 'vitest';
import type { CapturedMessage } from '../../../server/contract/capture.ts';
import type { CapturedBody, RequestInFull } from '../../../server/contract/request-views.ts';
import { datasetLine } from '../../../server/datasets/dataset-line.ts';
import { finishedRow } from '../ledger/records.ts';

type Message = CapturedMessage<CapturedBody>;

const message = (data: string, more: Partial<Message> = {}): Message => ({
  headers: [],
  body: { encoding: 'utf8', data },
  bytes: data.length,
  gap: null,
  ...more,
});

interface Kept {
  url?: string;
  asked: object;
  answered: object | string;
  request?: Partial<Message>;
  response?: Partial<Message>;
  row?: Parameters<typeof finishedRow>[1];
}

function kept({ url = '/v1/chat/completions', asked, answered, request, response, row }: Kept): RequestInFull {
  const text = typeof answered === 'string' ? answered : JSON.stringify(answered);
  return {
    request: { ...finishedRow('r1', { captured: 'group', ...row }), seq: 1 },
    capture: {
      request: { method: 'POST', url, ...message(JSON.stringify(asked), request) },
      response: { status: 200, ...message(text, response) },
      attempts: [],
    },
    captureAbsence: null,
    shadow: null,
  };
}

function lineOf(given: Kept) {
  const line = datasetLine(kept(given));
  return 'gap' in line ? line : { example: JSON.parse(line.text) as object, changed: [...line.changed] };
}

const events = (...values: object[]) => values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');

const why = [{ role: 'user', content: 'Why?' }];
const because = { choices: [{ index: 0, message: { role: 'assistant', content: 'Because.' }, finish_reason: 'stop' }] };
const example = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Why?' },
    { role: 'assistant', content: 'Because.' },
  ],
};

describe('a conversation becomes an example, whatever API its client speaks', () => {
  test.each<[string, Kept]>([
    [
      'Chat Completions',
      {
        asked: { model: 'm', temperature: 0.3, messages: [{ role: 'system', content: 'Be brief.' }, ...why] },
        answered: because,
      },
    ],
    [
      'a stream of Chat Completions',
      {
        asked: { model: 'm', stream: true, messages: [{ role: 'system', content: 'Be brief.' }, ...why] },
        answered: `: comment\n\n${events(
          { choices: [{ index: 0, delta: { content: 'Be' } }] },
          { choices: [{ index: 0, delta: { content: 'cause.' } }] },
          { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
        )}data: [DONE]\n\n`,
      },
    ],
    [
      'Responses',
      {
        url: '/v1/responses',
        asked: { model: 'm', instructions: 'Be brief.', input: 'Why?' },
        answered: {
          id: 'resp_1',
          status: 'completed',
          output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Because.' }] }],
        },
      },
    ],
    [
      'Messages',
      {
        url: '/v1/messages?beta=true',
        asked: { model: 'm', max_tokens: 9, system: 'Be brief.', messages: why },
        answered: {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'text', text: 'Because.' }],
          stop_reason: 'end_turn',
        },
      },
    ],
    [
      'a stream of Messages',
      {
        url: '/v1/messages',
        asked: { model: 'm', max_tokens: 9, stream: true, system: 'Be brief.', messages: why },
        answered: [
          { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [] } },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Because.' } },
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
          { type: 'message_stop' },
        ]
          .map((value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`)
          .join(''),
      },
    ],
    [
      'Gemini',
      {
        url: '/v1beta/models/gemini-2.5-flash:generateContent',
        asked: {
          systemInstruction: { parts: [{ text: 'Be brief.' }] },
          contents: [{ role: 'user', parts: [{ text: 'Why?' }] }],
        },
        answered: { candidates: [{ content: { role: 'model', parts: [{ text: 'Because.' }] }, finishReason: 'STOP' }] },
      },
    ],
    [
      'a stream of Gemini as one JSON array',
      {
        url: '/v1beta/models/gemini-2.5-flash:streamGenerateContent',
        asked: {
          systemInstruction: { parts: [{ text: 'Be brief.' }] },
          contents: [{ role: 'user', parts: [{ text: 'Why?' }] }],
        },
        answered: JSON.stringify([
          { candidates: [{ content: { role: 'model', parts: [{ text: 'Be' }] } }] },
          { candidates: [{ content: { role: 'model', parts: [{ text: 'cause.' }] }, finishReason: 'STOP' }] },
        ]),
      },
    ],
  ])('%s', (_name, given) => {
    expect(lineOf(given)).toEqual({ example, changed: [] });
  });
});

test('tools, calls and results become those of the chat format', () => {
  const given = {
    url: '/v1/messages',
    asked: {
      model: 'm',
      max_tokens: 9,
      tools: [{ name: 'look', description: 'Looks', input_schema: { type: 'object' } }],
      messages: [
        ...why,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 1 } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Nothing.' }] },
      ],
    },
    answered: {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'text', text: 'Again.' },
        { type: 'tool_use', id: 'toolu_2', name: 'look', input: { at: 2 } },
      ],
      stop_reason: 'tool_use',
    },
  };
  const call = (id: string, at: number) => ({
    id,
    type: 'function',
    function: { name: 'look', arguments: `{"at":${at}}` },
  });
  const line = lineOf(given);
  expect(line).toMatchObject({
    example: {
      messages: [
        ...why,
        { role: 'assistant', content: null, tool_calls: [{ function: { name: 'look' } }] },
        { role: 'tool', content: 'Nothing.' },
        { role: 'assistant', content: 'Again.', tool_calls: [{ function: call('', 2).function }] },
      ],
      tools: [{ type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } }],
    },
  });
});

test('what is left out of a conversation is reported', () => {
  const content = [
    { type: 'thinking', thinking: 'Hm.', signature: 'abc' },
    { type: 'text', text: 'Because.' },
  ];
  const line = lineOf({
    url: '/v1/messages',
    asked: { model: 'm', max_tokens: 9, top_k: 5, messages: why },
    answered: { type: 'message', role: 'assistant', content, stop_reason: 'end_turn' },
  });
  expect(line).toEqual({
    example: { messages: [...why, { role: 'assistant', content: 'Because.' }] },
    changed: ['foreign-reasoning'],
  });
});

const chat = { model: 'm', messages: why };

test.each<[string, Kept]>([
  ['not-answered', { asked: chat, answered: because, row: { outcome: 'error' } }],
  ['not-answered', { asked: chat, answered: { error: { message: 'no' } } }],
  ['cut-short', { asked: chat, answered: { choices: [{ message: { content: 'Be' }, finish_reason: 'length' }] } }],
  ['cut-short', { asked: chat, answered: events({ choices: [{ delta: { content: 'Be' } }] }) }],
  ['not-whole', { asked: chat, answered: because, response: { gap: 'too-long' } }],
  ['not-whole', { asked: chat, answered: because, request: { body: null, gap: 'unread' } }],
  ['unreadable', { asked: { model: 'm', messages: 7 }, answered: because }],
  ['no-conversation', { url: '/v1/embeddings', asked: chat, answered: because }],
  ['no-conversation', { url: '/v1/messages/count_tokens', asked: chat, answered: because }],
  ['no-conversation', { url: '/nowhere', asked: chat, answered: because }],
  [
    'not-expressible',
    {
      url: '/v1/responses',
      asked: { model: 'm', input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }] },
      answered: {
        status: 'completed',
        output: [{ type: 'message', content: [{ type: 'output_text', text: 'Yes.' }] }],
      },
    },
  ],
])('a request is left out with its reason: %s', (gap, given) => {
  expect(lineOf(given)).toEqual({ gap });
});
