/** The most expensive responses and requests for faults on purpose. */

import { chatStream } from '../../../server/apis/openai/wire/chat-stream.ts';
import { type Fault, isEarly, type ResponseFault } from '../../../server/faults/fault-kinds.ts';
import { FaultTextError, parseFaults } from '../../../server/faults/parse-rule.ts';
import { shapeResponse } from '../../../server/faults/shape-response.ts';
import type { Shape } from '../../../server/faults/steps.ts';
import type { WorstCase } from '../worst-cases.ts';

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
    readers: ['editJson', 'shapeEvents', 'shapeResponse', 'send'],
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
