/** The most expensive input that upstreams with Bedrock's Converse API could send. */

import { converse, converseStream } from '../../../../server/apis/bedrock/converse.ts';
import { converseFrames, converseOnBedrock } from '../../../../server/apis/bedrock/provider/converse.ts';
import { FrameUnpacker } from '../../../../server/apis/bedrock/provider/frame-unpacker.ts';
import { objectIn, onOneLine } from '../../../../server/apis/bedrock/provider/frames.ts';
import { EventsReader } from '../../../../server/exchange/readers/events-reader.ts';
import { eventFrame } from '../../../support/strict-bedrock.ts';
import type { WorstCase } from '../../worst-cases.ts';
import { moment, streamed, translate } from '../translation/translating.ts';

const kilobyte = 1024;
const pieceBytes = 1000;
const model = 'us.amazon.nova-2-lite-v1:0';

function readStream(bytes: Buffer): void {
  const needs = { answers: 1, stripUsage: false, text: null, headers: {} };
  const reader = new EventsReader({ format: converseStream, ...needs });
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.read(bytes.subarray(at, at + pieceBytes));
  reader.end();
}

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
      readStream(bytes);
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
    readers: ['converseFrames', 'messageIn', 'objectIn', 'claudeFrames'],
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
