import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fixtureNames } from '../support/openai-calls.ts';

test('each body in test/fixtures stands in its table, with the source of its shape', () => {
  const table = readFileSync(join(import.meta.dirname, '../fixtures/README.md'), 'utf8');
  const rows = [...table.matchAll(/^\| `(.+?)` \| .+ \| (.+) \|$/gm)];
  expect(rows.map(([, name]) => name).sort()).toEqual(fixtureNames());
  for (const [, name, source] of rows) expect(source?.trim(), name).not.toBe('');
});
