/** The most expensive input that clients of Anthropic's and Gemini's API, and upstreams of each API and cloud, could send. */

import { messages, messagesStream, messagesUsage } from '../../../server/apis/anthropic/messages.ts';
import { anthropicApi } from '../../../server/apis/anthropic/routes.ts';
import { droppedBetas } from '../../../server/apis/anthropic/translation/translation.ts';
import { converse, converseStream } from '../../../server/apis/bedrock/converse.ts';
import {
  claudeFrames,
  claudeOnBedrock,
  converseFrames,
  converseOnBedrock,
} from '../../../server/apis/bedrock/provider/bedrock.ts';
import { FrameUnpacker } from '../../../server/apis/bedrock/provider/frame-unpacker.ts';
import { objectIn, onOneLine } from '../../../server/apis/bedrock/provider/frames.ts';
import { sortBetas } from '../../../server/apis/core/dialects/hosted-claude.ts';
import { referredIn } from '../../../server/apis/core/referred-input.ts';
import type { StreamFormat } from '../../../server/apis/core/stream-format.ts';
import { generateArrayStream, generateContent, generateStream } from '../../../server/apis/gemini/generate.ts';
import { locateGemini } from '../../../server/apis/gemini/routes.ts';
import { modelOnVertex } from '../../../server/apis/gemini/vertex/vertex.ts';
import { CountTranslator } from '../../../server/apis/translation/count-translator.ts';
import { createEmbeddingsTranslator } from '../../../server/apis/translation/embeddings-translator.ts';
import { createTranslator, estimateRequestTokens } from '../../../server/apis/translation/translator.ts';
import { GatewayError } from '../../../server/contract/errors.ts';
import { EventsReader } from '../../../server/exchange/readers/events-reader.ts';
import { AnswerTranslation } from '../../../server/exchange/translation/answer-translation.ts';
import { JsonBody } from '../../../server/http/body/json-body.ts';
import { findRoute } from '../../support/routes.ts';
import { eventFrame, frame } from '../../support/strict-bedrock.ts';
import type { WorstCase } from '../worst-cases.ts';
import { moment, streamed, translate } from './translation/translating.ts';

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

// The most expensive input that upstreams with Bedrock's Converse API could send.

const model = 'us.amazon.nova-2-lite-v1:0';

const asked = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }], stream: true };
const delta = (said: string) => `data: {"contentBlockDelta":{"contentBlockIndex":0,"delta":${said}}}\n\n`;
const call = (index: number) =>
  `data: {"contentBlockStart":{"contentBlockIndex":${index},"start":{"toolUse":{"toolUseId":"a","name":"x"}}}}\n\n`;

export const worstConverse: Record<string, WorstCase> = {
  'a stream of Converse': {
    atOnceBytes: 64 * kilobyte,
    readers: ['ConverseEventParser'],
    inputs: {
      'single letters': ['', delta('{"text":"a"}'), ''],
      thoughts: ['', delta('{"reasoningContent":{"text":"a"}}'), ''],
      signatures: ['', delta('{"reasoningContent":{"signature":"a"}}'), ''],
      'calls without end': ['', call(0) + call(1), ''],
      'arguments of a call': [call(0), delta('{"toolUse":{"input":"1"}}'), ''],
      'unknown deltas': ['', delta('{"other":{}}'), ''],
      usages: ['', 'data: {"metadata":{"usage":{"inputTokens":1}}}\n\n', ''],
    },
    run: (bytes) => {
      readStream(converseStream, bytes);
      streamed(translate({ from: 'anthropic-messages', to: 'bedrock-converse', model }, asked), [bytes]);
      const kept = { tail: bytes, head: Buffer.alloc(0), bytes: bytes.length, contentType: 'text/event-stream' };
      converse.usage.read(kept, {});
    },
  },
  'an answer of Converse': {
    atOnceBytes: 256 * kilobyte,
    readers: [],
    inputs: {
      blocks: ['{"output":{"message":{"content":[', '{"text":"x"},', '{}]}}}'],
      calls: ['{"output":{"message":{"content":[', '{"toolUse":{"toolUseId":"a","name":"x","input":{}}},', '{}]}}}'],
      'a deep input': ['{"output":{"message":{"content":[{"toolUse":{"input":{"a":', '[', ']}}}]}}}'],
      citations: ['{"output":{"message":{"content":[{"citationsContent":{"content":[', '{"text":"x"},', '{}]}}]}}}'],
    },
    run: (bytes) => {
      const request = translate({ from: 'anthropic-messages', to: 'bedrock-converse', model }, asked);
      request.whole(bytes, moment);
      request.wholeAsEvents(bytes, moment);
    },
  },
  'an error and the frames of Bedrock': {
    atOnceBytes: 256 * kilobyte,
    readers: ['converseFrames', 'modelOnBedrock', 'objectIn', 'claudeFrames'],
    inputs: {
      'a long message': ['{"message":"', 'Invocation of model ID ', '"}'],
      'many members': ['{"message":"a"', ',"a":1', '}'],
      lists: ['[', '[', ''],
      lines: ['{"message":"a"', '\n', '}'],
    },
    run: (bytes) => {
      converseOnBedrock(model).errorBody(400, { 'x-amzn-errortype': 'ValidationException' }, bytes);
      onOneLine(bytes);
      objectIn(bytes);
      const long = eventFrame('contentBlockDelta', { delta: { text: bytes.toString('latin1') } });
      new FrameUnpacker(converseFrames).push(long);
    },
  },
};

// The most expensive input that clients of Gemini's API, and upstreams with it, could send.

function readStream(format: StreamFormat, bytes: Buffer): void {
  const reader = new EventsReader({
    format,

    answers: 1,
    stripUsage: false,
    text: null,
    headers: {},
  });
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.read(bytes.subarray(at, at + pieceBytes));
  reader.end();
}

const part = '{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}';
const blocked = '{"candidates":[{},{},{}],"promptFeedback":{}}';

export const worstGemini: Record<string, WorstCase> = {
  'a stream of Gemini’s events': {
    atOnceBytes: 256 * kilobyte,
    readers: ['generateArrayStream'],
    inputs: {
      'single letters': ['', `data: ${part}\r\n\r\n`, ''],
      'nothing said': ['', `data: ${blocked}\r\n\r\n`, ''],
      'many candidates': ['data: {"candidates":[', '{"content":{"parts":[{}]}},', '{}]}\r\n\r\n'],
      'many usages': ['data: {"a":[', '{"usageMetadata":{"promptTokenCount":1}},', '1]}\r\n\r\n'],
      'a usage without end': ['data: {"usageMetadata":{"a":', '{"a":', '1'],
    },
    run: (bytes) => {
      readStream(generateStream, bytes);
      const kept = { tail: bytes, head: Buffer.alloc(0), bytes: bytes.length, contentType: 'text/event-stream' };
      generateContent.usage.read(kept, {});
    },
  },
  'a stream that is a JSON array': {
    atOnceBytes: 256 * kilobyte,
    readers: ['jsonArrayFraming'],
    inputs: {
      'single letters': ['[', `${part},`, `${part}]`],
      'nothing said': ['[', '{},', '{}]'],
      'blanks alone': ['[', '  \n', ''],
      'an element without end': ['[', '{"a":', ''],
      'a text without end': ['[{"a":"', 'b', ''],
      'escapes without end': ['[{"a":"', '\\"', ''],
      'brackets alone': ['', '[]', ''],
    },
    run: (bytes) => readStream(generateArrayStream, bytes),
  },
  'a request for embeddings': {
    atOnceBytes: 256 * kilobyte,
    readers: ['EmbeddingsTranslator'],
    inputs: {
      'many texts': ['{"requests":[', '{"content":{"parts":[{"text":"a"}]}},', '{"content":{"parts":[]}}]}'],
      'many parts': ['{"content":{"parts":[', '{"text":"a"},', '{"text":"b"}]}}'],
      'unknown fields': ['{', '"n":1,', '"content":{"parts":[{"text":"b"}]}}'],
    },
    run: (bytes) => {
      try {
        new JsonBody(bytes);
        const request = createEmbeddingsTranslator('gemini-embeddings', 'openai-embeddings', false);
        request?.open(bytes, { model: 'm', stream: false })({ model: 'm' });
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
      }
    },
  },
  'a path of Gemini’s API': {
    atOnceBytes: 16 * kilobyte,
    readers: [],
    inputs: {
      'many colons': ['/v1beta/models/', ':', ':generateContent'],
      'many encoded ones': ['/v1beta/models/', '%3A', '/'],
      'many slashes': ['/v1beta/models/', '/', ':nothing'],
      'many parameters': ['/v1beta/models/m:streamGenerateContent?', 'alt=&', 'alt=sse'],
    },
    run: (bytes) => {
      const [path = '', query = ''] = bytes.toString().split('?', 2);
      return locateGemini(path, query === '' ? '' : `?${query}`);
    },
  },
};

// The most expensive input that upstreams could send to the parsers of clouds' answers.

const smallFrame = frame({ type: 'ping' });

export const worstClouds: Record<string, WorstCase> = {
  'an error of a cloud': {
    atOnceBytes: 1024 * kilobyte,
    readers: ['claudeOnBedrock', 'sortBetas', 'modelOnVertex'],
    inputs: {
      'a long message': ['{"message":"', 'Invocation of model ID ', '"}'],
      'many members': ['{"message":"a"', ',"a":1', '}'],
      lists: ['[', '[', ''],
      betas: ['', 'mcp-client-', ''],
    },
    run: (bytes) => {
      const headers = { 'x-amzn-errortype': 'ValidationException' };
      claudeOnBedrock('m').errorBody(400, headers, bytes);
      modelOnVertex('claude-x').errorBody(400, {}, bytes);
      sortBetas(bytes.toString('latin1', 0, 16 * kilobyte), new Set(), 'claude-opus-4-5');
    },
  },
  'a stream of frames': {
    atOnceBytes: 64 * kilobyte,
    readers: ['FrameUnpacker', 'UnpackedStream'],
    inputs: { letters: ['\0\0', 'aaaa', ''] },
    run: (bytes) => {
      const small = Buffer.concat(
        Array.from({ length: Math.ceil(bytes.length / smallFrame.length) }, () => smallFrame),
      );
      new FrameUnpacker(claudeFrames).push(small);
      const long = new FrameUnpacker(claudeFrames);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length * 2);
      long.push(length);
      for (let at = 0; at < bytes.length; at += 64) long.push(bytes.subarray(at, at + 64));
    },
  },
};
