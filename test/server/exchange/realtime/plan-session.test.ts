import { expect, test } from 'vitest';
import { realtimeSession } from '../../../../server/apis/openai/realtime.ts';
import { queryOf } from '../../../../server/exchange/realtime/plan-session.ts';

test.each([
  ['', 'm', '?model=m'],
  ['?model=a', 'm/1 &', '?model=m%2F1%20%26'],
  ['?a=1&model=x&b=%20', 'm', '?model=m&a=1&b=%20'],
  ['?deployment=x&a', 'm', '?model=m&a'],
  ['?m%6fdel=x', 'm', '?model=m'],
  ['?models=x', 'm', '?model=m&models=x'],
  ['?model=', null, ''],
  ['?intent=transcription', null, '?intent=transcription'],
])('the query %j for model %j is %j', (query, model, expected) => {
  expect(queryOf(query, realtimeSession, model)).toBe(expected);
});
