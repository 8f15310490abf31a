import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

test('the soak loads all routes with faults, measures what is held and says how it went', {
  timeout: 90_000,
}, async () => {
  const run = [join(root, 'test/soak/run.ts'), '--minutes', '0.1', '--rate', '40'];
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, run, { cwd: root }, (_error, said, complained) =>
      resolve({ stdout: said, stderr: complained }),
    );
  });
  expect(stderr).toBe('');
  expect(stdout).toMatch(
    /^0\.1 min \| \d+ requests \| heap MB [\d.]+ \| young MB [\d.]+ \| other RSS MB [\d.]+ \| sockets \d+/m,
  );
  const [, whole, hung] = /requests: (\d+) whole, .* (\d+) hung\./.exec(stdout) ?? [];
  expect(Number(whole)).toBeGreaterThan(20);
  expect(hung).toBe('0');
});
