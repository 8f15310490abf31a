import { describe, expect, test } from 'vitest';
import type { SealKind } from '../../../../../server/apis/neutral/conversation.ts';
import { wrapSeal, wrapSeals } from '../../../../../server/apis/neutral/requests/carried-reasoning.ts';
import { carriedOrigin, newestResultIds } from '../../../../../server/apis/neutral/requests/reasoning-origin.ts';

const origin = { provider: 'gem', model: 'gemini-3-pro', account: 'c2' };
const seal = (kind: SealKind, more: object = {}) => ({ kind, data: 'x'.repeat(9_000), origin: { ...origin, ...more } });
const bodyWith = (...signatures: string[]) =>
  Buffer.from(JSON.stringify({ messages: signatures.map((signature) => ({ content: [{ signature }] })) }));

describe('the origin of carried reasoning', () => {
  test('is that of the newest envelope, even of a long one', () => {
    const older = wrapSeal(seal('signature', { account: 'c1' }));
    expect(carriedOrigin(bodyWith(older, wrapSeal(seal('thought-signature'))))).toEqual(origin);
    expect(carriedOrigin(bodyWith(older))).toEqual({ ...origin, account: 'c1' });
  });

  test('is found among several in one field', () => {
    expect(carriedOrigin(bodyWith(wrapSeals([seal('encrypted'), seal('signature')])))).toEqual(origin);
  });

  test('is none for bare signatures, for text that all can read, and for text about envelopes', () => {
    expect(carriedOrigin(bodyWith('c2lnbmF0dXJl'))).toBeNull();
    expect(carriedOrigin(bodyWith(wrapSeal({ ...seal('plain'), data: '' })))).toBeNull();
    expect(carriedOrigin(Buffer.from('{"content":"c2wxA'))).toBeNull();
    expect(carriedOrigin(Buffer.from('{}'))).toBeNull();
  });
});

test('the ids of tool results are read newest first, and none out of a text', () => {
  const text = JSON.stringify({ tool_call_id: 'quoted' });
  const messages = [
    { role: 'tool', tool_call_id: 'call_1', content: text },
    { role: 'tool', content: 'x', tool_call_id: 'call_2' },
  ];
  expect(newestResultIds(Buffer.from(JSON.stringify({ messages }, null, 2)))).toEqual(['call_2', 'call_1']);
  expect(newestResultIds(Buffer.from('"tool_call_id":'))).toEqual([]);
});
