import { describe, expect, test } from 'vitest';
import { checkQuery, outgoingQuery } from '../../../server/exchange/outgoing/outgoing-request.ts';
import { findRoute } from '../../support/routes.ts';

const key = 'sk-key of 1+1';

describe('a query', () => {
  test.each([
    '',
    '?',
    '?limit=2&after=video_1&order=desc',
    '?include[]=a&include[]=b&&x',
    '?api-version=2025-04-01-preview&variant=%5B%zz',
    '?page_token=a&idempotency-key=b',
    '?a=b?c#d',
  ])('%j goes out as it is', (query) => expect(outgoingQuery(query, [key])).toBe(query));

  test.each([
    ['?key=other', ''],
    ['?limit=2&key=other&after=b', '?limit=2&after=b'],
    ['?api_key=x&api-key=x&apikey=x&API-KEY=x&a=1', '?a=1'],
    ['?access_token=x&token=x&auth=x&sig=x&a=1', '?a=1'],
    ['?subscription-key=x&x-goog-api-key&a=1', '?a=1'],
    ['?%6bey=x&a=1', '?a=1'],
    [`?a=1&note=${encodeURIComponent(key)}`, '?a=1'],
    ['?a=1&note=sk-key+of+1%2B1', '?a=1'],
    [`?a=1&note=${encodeURIComponent(encodeURIComponent(key))}`, '?a=1'],
    [`?a=1&${encodeURIComponent(key)}`, '?a=1'],
    [`?a=1&note=${Buffer.from(`me:${key}`).toString('base64url')}`, '?a=1'],
  ])('%s goes out as %j', (query, wanted) => expect(outgoingQuery(query, [key])).toBe(wanted));

  test('may not contain a parameter that the body decides', () => {
    const route = findRoute('POST', '/chat/completions').route;
    for (const [query, param] of [
      ['?model=denied', 'model'],
      ['?x=1&MODEL=denied', 'model'],
      ['?%6dodel=denied', 'model'],
      ['?model[]=denied', 'model'],
      ['?n=100', 'n'],
      ['?stream', 'stream'],
    ] as const) {
      expect(() => checkQuery(query, route)).toThrow(expect.objectContaining({ code: 'invalid_value', param }));
    }
    expect(() => checkQuery('?api-version=1&models=a', route)).not.toThrow();
  });

  test('of a request without a body may contain any parameter', () => {
    expect(() => checkQuery('?stream=true&model=a', findRoute('GET', '/responses/resp_1').route)).not.toThrow();
  });
});
