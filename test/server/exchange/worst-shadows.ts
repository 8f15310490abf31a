import { isSameAnswer } from '../../../server/exchange/shadow/same-answer.ts';
import type { WorstCase } from '../worst-cases.ts';

const chunk = 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n';
const fragment =
  'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]}}]}\n\n';
const listStart = '['.charCodeAt(0);
const end = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

export const worstShadows: Record<string, WorstCase> = {
  'the answers of a request and of its shadow': {
    atOnceBytes: 1024 * 1024,
    readers: ['isSameAnswer', 'readAnswer'],
    inputs: {
      texts: [chunk, chunk, end],
      arguments: [fragment, fragment, end],
      'empty lines': [chunk, '\n', end],
      'lines of one event': [chunk, 'data: 1\n', `\n\n${end}`],
      'a list': ['[', '{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},', '{}]'],
      nested: ['{"choices":', '[', end],
    },
    run: (bytes) => {
      const answer = { status: 200, headers: [], body: bytes, bytes: bytes.length, gap: null };
      isSameAnswer(bytes[0] === listStart ? 'gemini-generate' : 'openai-chat', answer, answer);
    },
  },
};
