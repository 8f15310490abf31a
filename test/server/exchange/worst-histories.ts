import { sseFraming } from '../../../server/apis/core/streams/sse-framing.ts';
import { upstreamTranslations } from '../../../server/apis/translation/translation-registry.ts';
import { ClientReasoning } from '../../../server/exchange/translation/client-reasoning.ts';
import { withHistory, withReferredItems } from '../../../server/exchange/translation/kept-history.ts';
import { ReasoningObserver } from '../../../server/exchange/translation/reasoning-observer.ts';
import type { ResponseStore } from '../../../server/store/ports/response-store.ts';
import type { WorstCase } from '../worst-cases.ts';

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
