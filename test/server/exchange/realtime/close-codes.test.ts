import { expect, test } from 'vitest';
import { closeFrameOf, emptyCloseFrame, shortened } from '../../../../server/exchange/realtime/session-relay.ts';

const as = (text: string) => text;

test.each([1000, 1001, 1002, 1003, 1007, 1008, 1011, 1012, 1013, 1014, 3000, 4999])(
  'the close code %d is passed on',
  (code) => {
    expect(closeFrameOf(code, Buffer.from('why'), as)).toEqual({ code, reason: 'why' });
  },
);

test.each([1004, 1005, 1006, 1015, 2000, 2999, 5000, 0])('the close code %d is never sent in a frame', (code) => {
  expect(closeFrameOf(code, Buffer.from('why'), as)).toEqual(emptyCloseFrame);
});

test('a close reason that is too long after redaction is cut between characters', () => {
  expect(shortened('é'.repeat(62))).toBe('é'.repeat(61));
  expect(shortened(`x${'😀'.repeat(31)}`)).toBe(`x${'😀'.repeat(30)}`);
  expect(shortened('a'.repeat(123))).toBe('a'.repeat(123));
});
