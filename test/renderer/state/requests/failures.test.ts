import { expect, test } from 'vitest';
import { failureWordsOf } from '../../../../renderer/state/requests/failures.ts';

test.each([
  ['status 401: Incorrect API key', { by: 'provider', status: '401', words: 'Incorrect API key' }],
  ['status 500: First line\nsecond line', { by: 'provider', status: '500', words: 'First line\nsecond line' }],
  ['status 503', { by: 'provider', status: '503', words: '' }],
  ['other side closed', { by: 'connection', status: null, words: 'other side closed' }],
  ['connect ECONNREFUSED 127.0.0.1:9', { by: 'connection', status: null, words: 'connect ECONNREFUSED 127.0.0.1:9' }],
  ['Provider "main" answered with HTML.', { by: 'sluice', status: null, words: 'Provider "main" answered with HTML.' }],
] as const)('tells who said "%s"', (error, expected) => {
  expect(failureWordsOf(error)).toEqual(expected);
});
