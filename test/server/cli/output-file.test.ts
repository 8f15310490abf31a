/** What a command prints into a file (`sluice export > backup.json`) is whole, or the command fails and says why. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endProgramsAfterEach, runCli, runVerb, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

const commands = [
  'export',
  'export --json',
  'log',
  'log --export csv',
  'settings get --json',
  'status --json',
  'completion bash',
  'log --help',
  '--version',
];

/** Runs a command by a shell that sends its output elsewhere; `$0` is the file. */
const through = (script: string, file: string) => ['sh', '-c', `${script} exec "$@" > "$0"`, file];

test.skipIf(process.platform !== 'linux').each(commands)(
  'a full disk behind `sluice %s > FILE` is a failure',
  async (command) => {
    const folder = temporaryFolder();
    await runVerb(['key', 'create', 'App', '--data-dir', folder]);
    const parameters = [...command.split(' '), ...(/^(?:completion|--)/.test(command) ? [] : ['--data-dir', folder])];
    const ended = await runCli(parameters, { within: through('', '/dev/full') });
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('the disk is full (ENOSPC)')]);
  },
);

test.skipIf(process.platform === 'win32')('a file that can take only a part of the output is a failure', async () => {
  const file = join(temporaryFolder(), 'help.txt');
  // A bound of 512 or 1,024 bytes for each file, and no signal at it.
  const ended = await runCli(['log', '--help'], { within: through("trap '' XFSZ; ulimit -f 1;", file) });
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('(EFBIG)')]);
  expect([512, 1_024]).toContain(readFileSync(file).length);
});

test.skipIf(process.platform === 'win32')(
  'a file that takes it all has it all, and a closed pipe is no failure',
  async () => {
    const file = join(temporaryFolder(), 'help.txt');
    expect(await runCli(['log', '--help'], { within: through('', file) })).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(file, 'utf8')).toBe((await runVerb(['log', '--help'])).stdout);
    const closed = ['bash', '-c', 'set -o pipefail; "$@" | true', 'bash'];
    expect(await runCli(['log', '--help'], { within: closed })).toMatchObject({ code: 0, stderr: '' });
  },
);
