import { describe, expect, test } from 'vitest';
import { readImport } from '../../../../renderer/components/import/read-import.ts';

describe('a text that is imported', () => {
  test.each([
    ['a team preset', '{"teamPreset":1}', 'team-preset'],
    ['a configuration', '{"version":1}', 'configuration'],
    ['a configuration with a byte order mark', '\uFEFF{"version":1}', 'configuration'],
    ['another object', '{}', 'unknown'],
    ['a list', '[]', 'unknown'],
    ['nothing', 'null', 'unknown'],
    ['no JSON', 'hello', 'not-json'],
    ['empty', '', 'not-json'],
  ])('is told to be %s', (_what, text, kind) => {
    expect(readImport(text).kind).toBe(kind);
  });
});
