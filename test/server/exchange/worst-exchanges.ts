import { sseFraming } from '../../../server/apis/core/sse-framing.ts';
import { chatStream } from '../../../server/apis/openai/wire/streams.ts';
import { upstreamTranslations } from '../../../server/apis/translation/translation-registry.ts';
import { ClientReasoning, ReasoningObserver } from '../../../server/exchange/translation/client-reasoning.ts';
import { withHistory, withReferredItems } from '../../../server/exchange/translation/kept-history.ts';
import { type Fault, isEarly, type ResponseFault } from '../../../server/faults/fault-kinds.ts';
import { FaultTextError, parseFaults } from '../../../server/faults/parse-rule.ts';
import { type Shape, shapeResponse } from '../../../server/faults/shape-response.ts';
import type { ResponseStore } from '../../../server/store/ports/kept-stores.ts';
import type { WorstCase } from '../worst-cases.ts';

// The most expensive responses and requests for faults on purpose.

const kilobyte = 1024;
const pieceBytes = 1000;

const isOfResponse = (fault: Fault): fault is ResponseFault => !isEarly(fault);

/** Each fault alone, and some together. */
const faults = [
  'pace;tokens-per-second=1',
  'usage',
  'filtered',
  'cut;inside=character',
  'cut;inside=tool-call',
  'huge-event',
  'usage, filtered, duplicate-events, pace;tokens-per-second=1, cut;inside=tool-call',
  'late-event, usage, cut;bytes=30000',
].map((text) => parseFaults(text).filter(isOfResponse));

function feed(shape: Shape | null, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; at += pieceBytes) shape?.push(bytes.subarray(at, at + pieceBytes));
  shape?.end();
}

const inputs: WorstCase['inputs'] = {
  events: ['', 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n', ''],
  'deep objects': ['data: ', '{"usage":', '1\n\n'],
  'deep lists': ['data: {"content":', '[', ']}\n\n'],
  'arguments that end at once': ['data: {"arguments":"', '"arguments" : ""', '"}\n\n'],
  'blanks after a name': ['data: {"finish_reason"', ' ', ':1}\n\n'],
  'empty lines': ['', '\n', ''],
  'half a character': ['data: {"a":"', '\u00e9', ''],
};

export const worstFaults: Record<string, WorstCase> = {
  'a stream with a fault': {
    atOnceBytes: 64 * kilobyte,
    readers: ['editJson', 'shapeEvents', 'shapeResponse'],
    inputs,
    run: (bytes) => {
      for (const each of faults) feed(shapeResponse(each, chatStream), bytes);
    },
  },
  'an answer with a fault': {
    atOnceBytes: 64 * kilobyte,
    readers: ['LateBytes'],
    inputs,
    run: (bytes) => {
      for (const each of faults) feed(shapeResponse(each, null), bytes);
    },
  },
  'a request for a fault': {
    atOnceBytes: 16 * kilobyte,
    readers: ['parseRule'],
    inputs: {
      parameters: ['stall', ';after=1', ''],
      blanks: ['stall;', ' ', 'after=1'],
      names: ['', 'stall', ''],
      lists: ['', 'usage,', 'usage'],
    },
    run: (bytes) => {
      try {
        return parseFaults(bytes.toString());
      } catch (error) {
        if (!(error instanceof FaultTextError)) throw error;
        return null;
      }
    },
  },
};

const keptItemId = `msg_sluice_${'0'.repeat(32)}_0`;
const keptResponse = {
  id: `resp_sluice_${'0'.repeat(32)}`,
  groupId: 'g',
  createdAt: 0,
  answerId: 'answer',
  response: JSON.stringify({ output: [{ type: 'message', id: keptItemId, role: 'assistant', content: 'Hi' }] }),
  input: '"Hi"',
};
const keptStore: ResponseStore = {
  mayKeep: () => true,
  keep() {},
  find: () => keptResponse,
  forget() {},
  sweep() {},
  close() {},
};

export const worstHistories: Record<string, WorstCase> = {
  'a conversation that refers to what is kept': {
    atOnceBytes: 256 * 1024,
    readers: ['withHistory'],
    inputs: {
      references: ['{"input":[', `{"type":"item_reference","id":"${keptItemId}"},`, '{}]}'],
      strangers: ['{"input":[', '{"type":"item_reference","id":"msg_sluice_0"},', '{}]}'],
      items: ['{"input":[', '{"type":"reasoning"},', '{"type":"item_reference"}]}'],
    },
    run: (bytes) => {
      withReferredItems(bytes, keptStore, 'g');
      withHistory(bytes, keptResponse);
    },
  },
  'the reasoning of an answer that passes unchanged': {
    atOnceBytes: 256 * 1024,
    readers: ['ReasoningObserver'],
    inputs: {
      thoughts: ['', `data: {"choices":[{"delta":{"reasoning_content":"x"}}]}\n\n`, 'data: [DONE]\n\n'],
      calls: [
        '',
        `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"x"}}]}}]}\n\n`,
        'data: [DONE]\n\n',
      ],
      braces: ['{"a":"', '}', ''],
    },
    run: (bytes) => {
      const store = { keep() {}, find: () => new Map<string, string>(), flush() {}, close() {} };
      for (const type of ['text/event-stream', 'application/json']) {
        const reasoning = new ClientReasoning(store, 'k');
        const observer = new ReasoningObserver(reasoning, upstreamTranslations['openai-chat'], sseFraming);
        observer.begin(200, type, {});
        for (let at = 0; at < bytes.length; at += 1024) observer.take(bytes.subarray(at, at + 1024));
      }
    },
  },
};
