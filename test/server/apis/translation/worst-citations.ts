/** The most expensive citations that upstreams could send to clients that are told of them. */
import type { UpstreamWireName, WireName } from '../../../../server/apis/neutral/conversation.ts';
import type { WorstCase } from '../../worst-cases.ts';
import { moment, streamed, translate } from './translating.ts';

const kilobyte = 1024;

const asked: Partial<Record<WireName, object>> = {
  'openai-responses': { model: 'm', input: 'x', stream: true },
  'gemini-generate': { model: 'm', contents: [{ parts: [{ text: 'x' }] }], stream: true },
};

/** Whole answers, and streams if the bytes are one. */
function answers(from: WireName, to: UpstreamWireName, model: string): (bytes: Buffer) => void {
  const request = translate({ from, to, model }, asked[from] ?? {});
  return (bytes) => {
    if (bytes.subarray(0, 5).toString() === 'data:') streamed(request, [bytes]);
    else {
      request.whole(bytes, moment);
      request.wholeAsEvents(bytes, moment);
    }
  };
}

const long = 'ä🚀'.repeat(4000);
const annotation = '{"type":"url_citation","url":"x","start_index":0,"end_index":11000},';
const chunk = (delta: string) => `data: {"choices":[{"delta":${delta}}]}\n\n`;

export const worstCitations: Record<string, WorstCase> = {
  'an answer of a chat that cites': {
    atOnceBytes: 256 * kilobyte,
    readers: ['AnswerText'],
    inputs: {
      annotations: [`{"choices":[{"message":{"content":"${long}","annotations":[`, annotation, '{}]}}]}'],
      'a list of sources': ['{"choices":[{"message":{"content":"x"}}],"citations":[', '"x",', '""]}'],
      'annotations in pieces': [chunk('{"content":"x"}'), chunk(`{"content":"ä","annotations":[${annotation}{}]}`), ''],
    },
    run: answers('gemini-generate', 'openai-chat', 'kimi-k3'),
  },
  'a response that cites': {
    atOnceBytes: 256 * kilobyte,
    readers: [],
    inputs: {
      annotations: [
        `{"output":[{"type":"message","content":[{"type":"output_text","text":"${long}","annotations":[`,
        annotation,
        '{}]}]}]}',
      ],
      'texts with annotations': [
        '{"output":[',
        `{"type":"message","content":[{"type":"output_text","text":"x","annotations":[${annotation}{}]}]},`,
        '{}]}',
      ],
    },
    run: answers('gemini-generate', 'openai-responses', 'gpt-5.4'),
  },
  'an answer of Gemini that cites': {
    atOnceBytes: 256 * kilobyte,
    readers: [],
    inputs: {
      supports: [
        `{"candidates":[{"content":{"parts":[{"text":"${long}"}]},"groundingMetadata":{"groundingChunks":[{"web":{"uri":"x"}}],"groundingSupports":[`,
        '{"segment":{"startIndex":2,"endIndex":20000},"groundingChunkIndices":[0,0]},',
        '{}]}}]}',
      ],
      pages: ['{"candidates":[{"groundingMetadata":{"groundingChunks":[', '{"web":{"uri":"x"}},', '{}]}}]}'],
    },
    run: answers('openai-responses', 'gemini-generate', 'gemini-3-pro'),
  },
  'a message that cites': {
    atOnceBytes: 256 * kilobyte,
    readers: [],
    inputs: {
      blocks: ['{"content":[', '{"type":"text","text":"ä","citations":[{"url":"x"}]},', '{"type":"text","text":"x"}]}'],
      citations: [`{"content":[{"type":"text","text":"${long}","citations":[`, '{"url":"x"},', '{}]}]}'],
    },
    run: answers('openai-responses', 'anthropic-messages', 'claude-sonnet-4-5'),
  },
};
