/** The most expensive input that clients of Gemini's API, and upstreams with it, could send. */

import type { StreamFormat } from '../../../../server/apis/core/stream-format.ts';
import { generateArrayStream, generateContent, generateStream } from '../../../../server/apis/gemini/generate.ts';
import { locateGemini } from '../../../../server/apis/gemini/locate.ts';
import { createEmbeddingsTranslator } from '../../../../server/apis/translation/embeddings-translator.ts';
import { GatewayError } from '../../../../server/contract/errors.ts';
import { EventsReader } from '../../../../server/exchange/readers/events-reader.ts';
import { JsonBody } from '../../../../server/http/body/json-body.ts';
import type { WorstCase } from '../../worst-cases.ts';

const kilobyte = 1024;
const pieceBytes = 1000;

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
