import { expect, test } from 'vitest';
import { fitting } from '../../../server/contract/find.ts';

const entries = [
  { id: 'k1', name: 'Alice laptop', owner: 'prs_1', suffix: 'abcd', group: 'a', enabled: true },
  { id: 'k2', name: 'Alice', owner: null, suffix: null, group: 'b', enabled: false },
  { id: 'alice', group: 'b', enabled: true },
];
const idsOf = (wanted: Parameters<typeof fitting>[1]) => fitting(entries, wanted).map(({ id }) => id);

test.each([
  ['nothing in particular', {}, ['k1', 'k2', 'alice']],
  ['words in any order', { search: ' LAPTOP  ali' }, ['k1']],
  ['an owner', { search: 'prs_1' }, ['k1']],
  ['the end of a secret', { search: 'BCD' }, ['k1']],
  ['first what is called just that', { search: 'alice' }, ['k2', 'alice', 'k1']],
  ['no word across two fields', { search: '1alice' }, []],
  ['all of several conditions', { group: 'b', enabled: true, ids: ['k2', 'alice'] }, ['alice']],
])('a search finds %s', (_what, wanted, ids) => {
  expect(idsOf(wanted)).toEqual(ids);
});
