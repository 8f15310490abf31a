import { expect, test } from 'vitest';
import { isPathSegment } from '../../../server/apis/core/requests/segments.ts';

test.each([
  'gpt-4.1',
  'a/b',
  'video_1',
  '...',
  '.hidden',
  'v1..2',
  'models.',
  'ü',
  '100%',
  '%zz',
  'a%2Fb',
  'team\\blue',
])('%j is one', (name) => expect(isPathSegment(name)).toBe(true));

test.each([
  '',
  '.',
  '..',
  '../x',
  'a/../b',
  'a\\..\\b',
  'a/.',
  '..;x',
  '..?x',
  '%2e',
  '%2E%2e',
  '.%2e',
  '..%2fx',
  '..%5cx',
  'a%2F%2E%2E%2Fb',
  '%252e%252e',
  '%25252e%25252e',
  `${'%25'.repeat(1)}${'25'.repeat(9)}2e`,
  '\ud800',
])('%j is none', (name) => expect(isPathSegment(name)).toBe(false));
