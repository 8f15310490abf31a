import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { plainEnvironment } from '../../support/program.ts';

test('packages for metrics and telemetry are loaded only once they are switched on', async () => {
  const script = join(import.meta.dirname, '../../support/print-observers.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env: plainEnvironment });
  const { before, after } = JSON.parse(stdout);
  expect(before).toEqual([]);
  expect(after).toContain('prom-client');
});
