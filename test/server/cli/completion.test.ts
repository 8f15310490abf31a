/** Shell completion, which is generated from the commands, and their help. */
import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { commandsBelow } from '../../../server/cli/help.ts';
import { createProgram, examplesOf } from '../../../server/cli/program.ts';
import { optionalParts } from '../../../server/optional-parts.ts';
import { onlyIf } from '../../support/only-if.ts';
import { builtProgram, plainEnvironment } from '../../support/program.ts';
import { endProgramsAfterEach, runVerb, serve, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

const quietTerminal = {
  argv: [],
  env: {},
  stdin: Readable.from([]),
  stdout: new PassThrough(),
  stderr: new PassThrough(),
  windowFolders: [],
  teamPresets: { policy: '/nowhere' },
};

async function offered(...words: string[]): Promise<string[]> {
  const { stdout } = await runVerb(['complete', '--', ...words]);
  return stdout.split('\n').flatMap((line) => line.split('\t')[0] || []);
}

test.each([
  { words: ['prov'], values: ['provider'] },
  { words: ['provider', 'dis'], values: ['disable'] },
  { words: ['env', '--sh'], values: ['--shell'] },
  { words: ['env', '--shell', 'f'], values: ['fish'] },
  { words: ['env', '--key', ''], values: [] },
  { words: ['run', '--', ''], values: [] },
  { words: ['completion', 'z'], values: ['zsh'] },
  { words: ['nonsense-word-of-nobody', 'x'], values: [] },
])('$words may become $values', async ({ words, values }) => {
  expect(await offered(...words)).toEqual(values);
});

test('ids are those of the running Sluice, and the names that the program knows', async () => {
  const folder = temporaryFolder();
  await runVerb(['key', 'create', 'my-editor', '--data-dir', folder]);
  await runVerb(['alias', 'put', 'fast', '--target', 'demo/demo-chat', '--data-dir', folder]);
  await runVerb(['group', 'put', 'writing', '--data-dir', folder]);
  const at = (line: string) => offered('--data-dir', folder, ...line.split(' '));
  expect(await offered('key', 'show', '--data-dir', folder, 'my')).toEqual([]);
  await serve(folder);
  const live: [line: string, values: string[]][] = [
    ['key show my', ['my-editor']],
    ['key move my-editor w', ['writing']],
    ['log --key my', ['my-editor']],
    ['keys rm my', ['my-editor']],
    ['usage my', []],
    ['key create my', []],
    ['group put w', ['writing']],
    ['alias rm f', ['fast']],
    ['provider test d', ['demo']],
    ['provider add openr', ['openrouter']],
    ['route explain --model demo-c', ['demo-chat']],
    ['connect claude-c', ['claude-code']],
    ['settings get admission.r', ['admission.running']],
    ['faults show flaky-s', ['flaky-streams']],
  ];
  for (const [line, values] of live) expect.soft({ line, values: await at(line) }).toEqual({ line, values });
});

test('commands that are not meant for people are not offered', async () => {
  expect(await offered('comple')).toEqual(['completion']);
});

const hasShell = (name: string) => {
  try {
    execFileSync(name, ['-c', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** A folder with a `sluice` for the PATH, and the completion script for a shell. */
async function shellSetUp(shell: string) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'sluice'), `#!/bin/sh\nexec '${process.execPath}' '${builtProgram}' "$@"\n`);
  chmodSync(join(folder, 'sluice'), 0o755);
  const { stdout } = await runVerb(['completion', shell]);
  const script = join(folder, 'completion');
  writeFileSync(script, stdout);
  return { script, env: { ...plainEnvironment, PATH: `${folder}${delimiter}${plainEnvironment.PATH}` } };
}

describe('the scripts', () => {
  test.runIf(onlyIf(hasShell('bash'), 'bash is not installed'))('bash completes a command', async () => {
    const { script, env } = await shellSetUp('bash');
    const line = `source '${script}'; COMP_WORDS=(sluice key re); COMP_CWORD=2; _sluice; echo "\${COMPREPLY[@]}"`;
    expect(execFileSync('bash', ['-c', line], { env, encoding: 'utf8' })).toBe('revoke reveal\n');
  });

  test.runIf(onlyIf(hasShell('zsh'), 'zsh is not installed'))('zsh accepts its script', async () => {
    const { script, env } = await shellSetUp('zsh');
    execFileSync('zsh', ['-n', script], { env });
  });

  test.runIf(onlyIf(hasShell('fish'), 'fish is not installed'))('fish completes a command', async () => {
    const { script, env } = await shellSetUp('fish');
    const line = `source '${script}'; complete -C 'sluice key rev'`;
    expect(execFileSync('fish', ['-c', line], { env, encoding: 'utf8' })).toContain('revoke\t');
  });
});

test('the help names the environment and the exit codes', async () => {
  const { stdout } = await runVerb(['--help']);
  expect(stdout).toContain('SLUICE_PASSPHRASE');
  expect(stdout.replaceAll('\n', ' ')).toContain('3 another Sluice is running');
});

const team = await optionalParts.team?.();
const examples = examplesOf(team);

test('every command has examples in its help, and every example is of a command', async () => {
  const program = createProgram(quietTerminal, team);
  const leaves = commandsBelow(program).filter(({ path, command }) => {
    const isLeaf = command.commands.length === 0 || path === 'log';
    return isLeaf && path !== 'complete';
  });
  expect(Object.keys(examples).sort()).toEqual(leaves.map(({ path }) => path).sort());
  for (const [path, lines] of Object.entries(examples)) {
    expect(lines.length, path).toBeGreaterThan(1);
    for (const line of lines) expect(line).toContain(`sluice ${path}`);
  }
});

test('every option in an example is one of its command', () => {
  const commands = new Map(
    commandsBelow(createProgram(quietTerminal, team)).map(({ path, command }) => [path, command]),
  );
  for (const [path, lines] of Object.entries(examples)) {
    const known = commands.get(path)?.options.flatMap(({ short, long }) => [short, long]);
    for (const line of lines) {
      const own = line.split(' -- ')[0]?.match(/(?<= )--[a-z-]+/g) ?? [];
      for (const option of own) expect.soft(known, line).toContain(option);
    }
  }
});
