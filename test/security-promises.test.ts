/** Checks that each promise in `docs/security.md` names the tests that cover it, and that they exist. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const rows = readFileSync(join(root, 'docs/security.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| (?!promise|---)/.test(line) && !line.startsWith('|---'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

const namesIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '');
const isTest = (name: string) =>
  [`test/server/${name}.test.ts`, `test/${name}.test.ts`].some((path) => existsSync(join(root, path)));

test('each promise of the security document names a test that exists', () => {
  expect(rows.length).toBeGreaterThan(30);
  const unheld = rows.flatMap(([, promise = '', , tests = '']) => {
    const names = namesIn(tests);
    const missing = names.filter((name) => !isTest(name));
    return names.length === 0 || missing.length > 0 ? [`${promise}: ${missing.join(', ') || 'no test'}`] : [];
  });
  expect(unheld).toEqual([]);
});
