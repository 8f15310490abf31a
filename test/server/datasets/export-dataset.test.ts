import { expect, test } from 'vitest';
import type { RequestInFull, RequestView } from '../../../server/contract/request-views.ts';
import { exportDataset } from '../../../server/datasets/export-dataset.ts';
import { finishedRow } from '../ledger/records.ts';

const of = { id: 'r1', provider: 'one', model: 'm', costUsd: 1, firstByteMs: 1, totalMs: 2, outputTokens: 3 };

function row(id: string, more: Parameters<typeof finishedRow>[1] = {}): RequestView {
  return { ...finishedRow(id, { captured: 'group', ...more }), seq: 1 };
}

function full(request: RequestView): RequestInFull {
  const message = (value: object) => {
    const data = JSON.stringify(value);
    return { headers: [], body: { encoding: 'utf8' as const, data }, bytes: data.length, gap: null };
  };
  const asked = { model: 'm', messages: [{ role: 'user', content: 'Why?' }] };
  const choices = [{ index: 0, message: { role: 'assistant', content: request.id }, finish_reason: 'stop' }];
  return {
    request,
    capture: {
      request: { method: 'POST', url: '/v1/chat/completions', ...message(asked) },
      response: { status: 200, ...message({ choices }) },
      attempts: [],
    },
    captureAbsence: null,
    shadow: null,
  };
}

/** Two pages. */
const pages = [
  [row('r3'), row('s1', { shadowOf: of }), row('r2', { captured: null })],
  [row('r1'), row('e1', { capability: 'embeddings' })],
];
let reads = 0;
const source = {
  list: async (before: number | undefined) =>
    before === undefined ? { requests: pages[0] ?? [], next: 5 } : { requests: pages[1] ?? [], next: null },
  read: async (id: string) => {
    reads += 1;
    return full(pages.flat().find((each) => each.id === id) ?? row(id));
  },
};

async function exported(answer: 'own' | 'shadow') {
  const lines = exportDataset(source, answer);
  const said: unknown[] = [];
  for (;;) {
    const { done, value } = await lines.next();
    if (done) return { said, count: value };
    expect(value.endsWith('}\n')).toBe(true);
    said.push(JSON.parse(value).messages.at(-1).content);
  }
}

test('the own answers are those of the requests, page after page, and what is left out is counted', async () => {
  expect(await exported('own')).toEqual({
    said: ['r3', 'r1'],
    count: { conversations: 2, left: { 'not-captured': 1, 'no-conversation': 1 }, changed: {} },
  });
});

test('the answers of shadows are chosen instead', async () => {
  expect(await exported('shadow')).toEqual({ said: ['s1'], count: { conversations: 1, left: {}, changed: {} } });
});

test('a conversation is read when its line is taken, and not before', async () => {
  reads = 0;
  const lines = exportDataset(source, 'own');
  await lines.next();
  expect(reads).toBe(1);
});
