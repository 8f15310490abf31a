import { withHistory, withReferredItems } from '../../../server/exchange/translation/kept-history.ts';
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
};
