import { globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import { apart, checkedSuites, needingServers, ownProcess, runOf } from './suites.ts';

const root = join(import.meta.dirname, '..');

test('.ci/run calls npm test and each suite that checks something of its own', () => {
  const script = readFileSync(join(root, '.ci/run'), 'utf8').replaceAll(/^#.*$/gm, '');
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(script).toContain('npm ci && npm test');
  for (const name of checkedSuites) {
    expect(script, name).toMatch(new RegExp(`npm run (\\w+ -- )?(\\w+ )*${name}\\b`));
    expect(scripts, name).toHaveProperty(name);
  }
});

test('each file that npm test leaves out belongs to a suite', () => {
  const files = globSync('test/**/*.test.ts', { cwd: root }).map((file) => file.replaceAll('\\', '/'));
  const globs = apart(root);
  const leftOut = files.filter((file) => globs.some((glob) => matchesGlob(file, glob)));
  expect(leftOut).not.toEqual([]);
  const { parameters } = runOf(['gallery', 'replicas', 'long', 'fuzz', 'soak'], root);
  expect(leftOut.filter((file) => !parameters.some((part) => file.startsWith(part)))).toEqual([]);
});

test('what runs without servers is in other files than what needs them, so that npm test runs it', () => {
  const files = needingServers(root);
  expect(files).toContain('test/server/store/postgres/postgres-store.test.ts');
  const withoutCondition = /^(?:describe|test)(?!\.runIf\(has(?:Postgres|Valkey|Nginx)\(\))/m;
  expect(files.filter((file) => withoutCondition.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});

test('no support file registers hooks when it is imported: files of tests share what they import', () => {
  const support = globSync('test/**/*.ts', { cwd: root, exclude: ['test/**/*.test.ts', 'test/electron/double/**'] });
  const hook = /^(?:before|after)(?:All|Each)\(/m;
  expect(support.filter((file) => hook.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});

test('a file that replaces a module, sets the clock or measures its process shares no worker; others do', () => {
  const own = ownProcess(root);
  expect(own).toEqual(
    expect.arrayContaining([
      'test/server/gateway/patience.test.ts',
      'test/server/ground/awake-clock.test.ts',
      'test/server/gateway/hang-up.test.ts',
    ]),
  );
  expect(own).not.toContain('test/server/gateway/errors.test.ts');
});
