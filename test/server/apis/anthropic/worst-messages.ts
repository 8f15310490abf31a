/** The most expensive input that clients of Anthropic's API, and upstreams behind them, could send. */

import { anthropicApi } from '../../../../server/apis/anthropic/api.ts';
import { messages, messagesStream } from '../../../../server/apis/anthropic/messages.ts';
import { droppedBetas } from '../../../../server/apis/anthropic/translation/translation.ts';
import { messagesUsage } from '../../../../server/apis/anthropic/usage.ts';
import { referredIn } from '../../../../server/apis/core/referred-input.ts';
import { CountTranslator } from '../../../../server/apis/translation/count-translator.ts';
import { estimateRequestTokens } from '../../../../server/apis/translation/estimate-input.ts';
import { createTranslator } from '../../../../server/apis/translation/translator.ts';
import { GatewayError } from '../../../../server/contract/errors.ts';
import { EventsReader } from '../../../../server/exchange/readers/events-reader.ts';
import { AnswerTranslation } from '../../../../server/exchange/translation/answer-translation.ts';
import { JsonBody } from '../../../../server/http/body/json-body.ts';
import { findRoute } from '../../../support/routes.ts';
import type { WorstCase } from '../../worst-cases.ts';

const kilobyte = 1024;
const pieceBytes = 1000;

function inPieces(bytes: Buffer, take: (piece: Buffer) => void): void {
  for (let at = 0; at < bytes.length; at += pieceBytes) take(bytes.subarray(at, at + pieceBytes));
}

const head = '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[';
const chunk = (delta: string) => `data: {"id":"c","choices":[{"index":0,"delta":${delta}}]}\n\n`;

function translation(): AnswerTranslation {
  const translator = createTranslator('anthropic-messages', 'openai-chat');
  if (!translator) throw new Error('unreachable: the two differ');
  const asked = translator.read(Buffer.from(`${head}{"type":"text","text":"Hi"}]}]}`));
  const origin = { provider: 'p', model: 'm', account: 'a' };
  const request = translator.request(asked, { model: 'm', origin });
  const upstream = findRoute('POST', '/chat/completions').route;
  return new AnswerTranslation({
    request,
    translator,
    api: anthropicApi,
    upstream,
    stream: messagesStream,
    requestId: 'r',
    requestValues: 0,
    mayParse: () => true,
    keepReasoning: () => {},
    vectorsApart: async () => null,
  });
}

export const worstMessages: Record<string, WorstCase> = {
  'a request of Anthropic’s API': {
    atOnceBytes: 256 * kilobyte,
    readers: ['countedRequest', 'CountTranslator', 'droppedBetas'],
    inputs: {
      'texts of nothing': [head, '{"type":"text","text":"a"},', '{"type":"text","text":"b"}]}]}'],
      'files of nothing': [head, '{"data":"A"},', '{"type":"text","text":"b"}]}]}'],
      'short files': [head, `{"data":"${'A'.repeat(999)}"},`, '{"type":"text","text":"b"}]}]}'],
      'names alone': [`${head}[`, '"data",', '1]]}]}'],
      'a file without end': [`${head}{"data":"`, 'A', ''],
      betas: ['', 'a,', 'b'],
      'a long beta': ['', '-2025', ''],
    },
    run: (bytes) => {
      droppedBetas(bytes.toString('latin1', 0, 16 * kilobyte));
      try {
        const counting = new CountTranslator('anthropic-messages', 'gemini-generate', (tokens) => ({ tokens }));
        counting
          .open(bytes)({ model: 'm', origin: { provider: 'p', model: 'm', account: 'a' } })
          .whole(bytes);
        messages.usage.worst(new JsonBody(bytes), { outputTokens: null, contextTokens: null });
        estimateRequestTokens('anthropic-messages', bytes);
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
      }
    },
  },
  'a request that offers much': {
    atOnceBytes: 512 * kilobyte,
    readers: ['runningFor'],
    inputs: {
      'tools of the provider': ['{"tools":[', '{"type":"web_search"},', '{}]}'],
      'tools of nothing': ['{"tools":[', '{"":0},', '{}]}'],
      'no tools': ['{"tools":', '[', ''],
    },
    run: (bytes) => {
      try {
        messagesUsage.asks?.(new JsonBody(bytes));
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
      }
    },
  },
  'a request that refers to much': {
    atOnceBytes: 256 * kilobyte,
    readers: ['referredIn'],
    inputs: {
      'types of nothing': [head, '{"type":"url"},', '1]}]}'],
      'images without a URL': [head, '{"image_url":{"a":"b",', '1]}]}'],
      'names alone': [`${head}[`, '"file_id" ,', '1]]}]}'],
      'names and blanks': [`${head}[`, '"type"        ', '1]]}]}'],
      escapes: [`${head}"`, '\\u0020', '"]}]}'],
    },
    // A copy, because each body is searched only once.
    run: (bytes) => referredIn(Buffer.from(bytes)),
  },
  'a stream of Anthropic’s API': {
    atOnceBytes: 256 * kilobyte,
    readers: ['messagesStream', 'conversationUsage'],
    inputs: {
      pings: ['', 'event: ping\ndata: {"type":"ping"}\n\n', ''],
      usage: ['', 'data: {"type":"message_delta","usage":{"output_tokens":1}}\n\n', ''],
      'usage in broken lines': ['', 'data: {"usage"\n', '\n'],
    },
    run: (bytes) => {
      const { stream, usage } = messages;
      if (!stream) throw new Error('unreachable: messages are streamed');
      const reader = new EventsReader({
        format: stream,
        answers: 1,
        stripUsage: false,
        text: null,
        headers: {},
      });
      inPieces(bytes, (piece) => reader.read(piece));
      const kept = { tail: bytes, head: Buffer.alloc(0), bytes: bytes.length, contentType: 'text/event-stream' };
      usage.read(kept, {});
    },
  },
  'a stream on its way to another API': {
    atOnceBytes: 256 * kilobyte,
    readers: ['AnswerTranslation', 'TranslatedStream'],
    inputs: {
      'single letters': ['', chunk('{"content":"a"}'), ''],
      'comments alone': ['', ':\n\n', ''],
      'one event without end': [chunk('{"content":"a"}'), 'data: ', ''],
      'text and thoughts by turns': ['', chunk('{"content":"a"}') + chunk('{"reasoning_content":"b"}'), ''],
    },
    run: (bytes) => {
      const answer = translation();
      inPieces(bytes, (piece) => answer.push(piece));
      answer.end();
    },
  },
};
