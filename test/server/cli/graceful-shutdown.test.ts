import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endProgramsAfterEach, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

const server = join(import.meta.dirname, '../../../server');

test('an uncaught error is logged without secrets, reported plainly, and ends with 1', () => {
  const folder = join(temporaryFolder(), 'logs');
  mkdirSync(folder);
  const script = `
    import { shutDownGracefully } from '${server}/cli/graceful-shutdown.ts';
    import { openLogFile } from '${server}/ground/files/log.ts';
    shutDownGracefully({ logFile: openLogFile('${folder}'), close: async () => {} }, { shutdownDelayMs: 0, gracePeriodMs: 0 }, (line) => console.log(line));
    setTimeout(() => { throw new Error('broken by Bearer planted-secret') });
    setInterval(() => {}, 1000);
  `;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stdout).toContain('Internal error: broken by');
  expect(stdout.trim().split('\n')).toHaveLength(1);
  const log = readFileSync(join(folder, 'sluice.log'), 'utf8');
  expect(JSON.parse(log)).toMatchObject({ level: 60, msg: 'a fault in Sluice', error: { name: 'Error' } });
  expect(stdout + log).not.toContain('planted-secret');
});

test('SIGTERM first drains, and closes after the delay, with the grace period for running requests', () => {
  const script = `
    import { shutDownGracefully } from '${server}/cli/graceful-shutdown.ts';
    const said = (...words) => console.log(...words);
    const gateway = { drain: () => said('drains') };
    shutDownGracefully({ gateway, logFile: { isStuck: false }, close: async (drainMs) => said('closes', drainMs) }, { shutdownDelayMs: 20, gracePeriodMs: 3000 }, said);
    setInterval(() => {}, 1000);
    process.kill(process.pid, 'SIGTERM');
  `;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(stdout.trim().split('\n')).toEqual([expect.stringContaining('in 3.02 s'), 'drains', 'closes 3000']);
  expect(status).toBe(0);
});
