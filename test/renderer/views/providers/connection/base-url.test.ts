import { describe, expect, it } from 'vitest';
import {
  exampleBaseUrls,
  fillPlaceholders,
  isBaseUrl,
  placeholdersOf,
} from '../../../../../renderer/views/providers/connection/base-url.ts';
import { presets } from '../../../../../server/providers/presets.ts';

describe('a base URL', () => {
  it.each(Object.entries(exampleBaseUrls))('has the example of its dialect: %s', (dialect, example) => {
    expect(presets.find(({ id }) => id === dialect)).toMatchObject({ dialect, baseUrl: example });
  });

  it('asks for what stands in braces, each once', () => {
    expect(placeholdersOf('https://{resource}.example.com/{team}/{resource}/v1')).toEqual(['resource', 'team']);
    expect(placeholdersOf('https://example.com/v1')).toEqual([]);
  });

  it('keeps the braces of what was not filled in', () => {
    const values = { resource: ' mine ', team: ' ' };
    expect(fillPlaceholders('https://{resource}.example.com/{team}', values)).toBe('https://mine.example.com/{team}');
  });

  it.each([
    ['https://api.example.com/v1', true],
    [' http://127.0.0.1:1234/v1 ', true],
    ['ftp://example.com', false],
    ['api.example.com/v1', true],
    ['https://{resource}.example.com/v1', false],
    ['https://example.com/{team}', false],
    ['', false],
  ])('of "%s" can be used: %s', (text, isUsable) => {
    expect(isBaseUrl(text)).toBe(isUsable);
  });
});
