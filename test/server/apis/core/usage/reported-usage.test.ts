/** The places of usage in streams and in answers of which only the ends are kept. */
import { describe, expect, test } from 'vitest';
import { messages, messagesReports } from '../../../../../server/apis/anthropic/messages.ts';
import { converseReports } from '../../../../../server/apis/bedrock/converse.ts';
import { cloudEmbeddings } from '../../../../../server/apis/core/usage/conversation-usage.ts';
import {
  reportedUsage,
  StreamedUsage,
  type UsageReports,
} from '../../../../../server/apis/core/usage/reported-usage.ts';
import { geminiReports } from '../../../../../server/apis/gemini/usage.ts';
import { plainReports, responseReports } from '../../../../../server/apis/openai/usage/usage-shapes.ts';
import { ResponseExcerpt } from '../../../../../server/exchange/record/response-taps.ts';

const sse = 'text/event-stream';
const long = 'All work and no play. '.repeat(2_000);

function keptOf(text: string, contentType: string, pieceLength = 1_000) {
  const excerpt = new ResponseExcerpt();
  for (let at = 0; at < text.length; at += pieceLength) excerpt.push(Buffer.from(text.slice(at, at + pieceLength)));
  return excerpt.kept(contentType);
}

const streamOf = (events: readonly object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

/** What the ledger finds in the kept bytes, and what a translation is told event by event. */
function bothOf(reports: UsageReports, events: readonly object[]) {
  const streamed = new StreamedUsage(reports);
  const told = events.map((event) => streamed.push({ ...event })).findLast((usage) => usage !== null);
  return [reportedUsage(keptOf(streamOf(events), sse), reports), told ?? null];
}

const chat = { prompt_tokens: 10, completion_tokens: 5 };
const used = { inputTokens: 10, outputTokens: 5 };
const no = { prompt_tokens: 777, completion_tokens: 777, input_tokens: 777, output_tokens: 777 };

test.each<[string, UsageReports, object[]]>([
  ['Groq’s', plainReports, [{ choices: [{ delta: {} }], x_groq: { id: 'r', usage: chat } }]],
  [
    'Moonshot’s',
    plainReports,
    [
      {
        choices: [
          { delta: {}, usage: no },
          { delta: {}, usage: chat },
        ],
      },
    ],
  ],
  [
    'that of an event before others with null',
    plainReports,
    [
      { choices: [], usage: chat },
      { choices: [], usage: null },
    ],
  ],
  [
    'that of a response, not of its items',
    responseReports,
    [
      { type: 'response.completed', response: { usage: { input_tokens: 10, output_tokens: 5 } } },
      { type: 'response.output_item.done', item: { usage: no } },
    ],
  ],
  [
    'that in the first words of a long event',
    responseReports,
    [
      {
        type: 'response.completed',
        response: { usage: { input_tokens: 10, output_tokens: 5 }, output: [long, { usage: no }] },
      },
    ],
  ],
  [
    'that in the last words of a long event',
    responseReports,
    [
      {
        type: 'response.completed',
        response: { output: [{ usage: no }, long], usage: { input_tokens: 10, output_tokens: 5 } },
      },
    ],
  ],
  [
    'that of a long first event',
    messagesReports,
    [
      { type: 'message_start', message: { usage: { input_tokens: 10 }, container: { usage: no, text: long } } },
      { type: 'message_delta', usage: { output_tokens: 5 }, delta: { usage: no } },
    ],
  ],
  [
    'that of Converse, not of a tool',
    converseReports,
    [
      { metadata: { usage: { inputTokens: 10, outputTokens: 5 } } },
      { contentBlockDelta: { delta: { toolUse: { usage: { inputTokens: 777 } } } } },
    ],
  ],
  [
    'that of Gemini, not of a call',
    geminiReports,
    [
      { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 } },
      {
        candidates: [
          { content: { parts: [{ functionCall: { args: { usageMetadata: { promptTokenCount: 777 } } } }] } },
        ],
      },
    ],
  ],
])('the ledger finds %s usage in a stream, as a translation does', (_name, reports, events) => {
  expect(bothOf(reports, events)).toEqual([used, used].map((usage) => expect.objectContaining(usage)));
});

describe('a stream of Gemini that is a list', () => {
  const elements = [
    {
      candidates: [{ content: { parts: [{ text: long }] } }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1 },
    },
    {
      candidates: [{ content: { parts: [{ functionCall: { args: { usageMetadata: { promptTokenCount: 777 } } } }] } }],
    },
    { candidates: [{ finishReason: 'STOP' }], usageMetadata: { candidatesTokenCount: 5, note: { usageMetadata: {} } } },
  ];

  test.each([
    ['whole', `[${elements.map((each) => JSON.stringify(each)).join(',\r\n')}\n]`],
    ['without its end', `[${elements.map((each) => JSON.stringify(each)).join(',\r\n')}`],
  ])('%s', (_name, text) => {
    for (const pieceLength of [1, 999, text.length])
      expect(reportedUsage(keptOf(text, 'application/json', pieceLength), geminiReports)).toEqual(used);
  });
});

/** A stream of Claude that says its usage after a note of this length. */
const startedWith = (note: string) =>
  streamOf([
    { type: 'message_start', note, message: { usage: { input_tokens: 10 } } },
    { type: 'content_block_delta', text: long },
    { type: 'message_delta', usage: { output_tokens: 5 } },
  ]);

test.each([1, 999, 5_000, 1_000_000])(
  'a long beginning of a stream of Claude is read to its usage, in %i bytes a piece',
  (pieceLength) => {
    for (const length of [0, 3_900, 5_000, 20_000, 60_000]) {
      const { usage, certainty } = messages.usage.read(keptOf(startedWith('x'.repeat(length)), sse, pieceLength), {});
      expect({ usage, certainty }, `${length}`).toEqual({ usage: used, certainty: 'reported' });
    }
  },
);

test('a stream of Claude whose beginning is not kept has its input estimated, not counted as none', () => {
  const { usage, certainty } = messages.usage.read(keptOf(startedWith('x'.repeat(70_000)), sse), {});
  expect({ usage, certainty }).toEqual({ usage: { outputTokens: 5 }, certainty: 'estimated' });
});

test('what follows the end of a stream is read by no client, and not by the ledger', () => {
  const text = `${streamOf([{ choices: [], usage: chat }])}data: [DONE]\n\n${streamOf([{ usage: no }])}`;
  for (const pieceLength of [1, 999]) expect(reportedUsage(keptOf(text, sse, pieceLength), plainReports)).toEqual(used);
  const said = streamOf([{ choices: [{ delta: { content: '\ndata: [DONE]\n' } }], usage: chat }]);
  expect(reportedUsage(keptOf(said, sse), plainReports)).toEqual(used);
});

test.each([
  ['Titan', { embedding: Array(3_000).fill(0.123_456), inputTextTokenCount: 15 }],
  [
    'Vertex',
    {
      predictions: [7, 8].map((token_count) => ({
        embeddings: { values: Array(3_000).fill(0.123_456), statistics: { truncated: false, token_count } },
      })),
    },
  ],
])('vectors of %s, however long, have their tokens counted', (_name, answer) => {
  const { usage: format } = cloudEmbeddings({
    ...messages,
    ...{ name: 'embeddings', members: [], judge: () => ({ kind: 'answer' }) },
  });
  const text = JSON.stringify(answer);
  const excerpt = new ResponseExcerpt();
  excerpt.keepWhole({ plain: Buffer.from(text), document: undefined });
  expect(format.read(excerpt.kept('application/json'), {}).usage).toEqual({ inputTokens: 15, outputTokens: 0 });
});
