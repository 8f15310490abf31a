import { expect, test } from 'vitest';
import {
  sessionFilterOf,
  sessionQueryOf,
  sessionSearchOf,
} from '../../../../renderer/views/sessions/session-filter.ts';

const of = (search: string) => sessionFilterOf(new URLSearchParams(search));

test('a filter of sessions stands in the address', () => {
  const search = '?key=k1&group=default&client=claude-cli%2F2.1&range=24h&state=refused';
  expect(sessionSearchOf(of(search))).toBe(search);
  expect(sessionSearchOf(of('?key=&range=9h&state=gone&other=1'))).toBe('');
});

test('a filter of sessions asks the engine', () => {
  expect(sessionQueryOf(of('?key=k1&group=g&client=c&range=1h&state=refused'), 4_000_000)).toEqual({
    keyId: 'k1',
    groupId: 'g',
    client: 'c',
    sinceMs: 400_000,
    stopped: true,
  });
  expect(sessionQueryOf(of('?state=running'), 0)).toEqual({ running: true });
  expect(sessionQueryOf({}, 0)).toEqual({});
});
