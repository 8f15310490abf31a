/**
 * Runs the commands in docs/testing-with-sluice.md and compares their output.
 *
 * @suite long
 */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtProgram, checkout, plainEnvironment } from '../../support/program.ts';
import { endProgramsAfterEach, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

interface Block {
  /** `js ask.mjs` is a file, `sh` are commands (run if a `text` follows), and `text` is their output. */
  kind: string;
  text: string;
}

const page = readFileSync(join(checkout, 'docs/testing-with-sluice.md'), 'utf8');
const blocks: Block[] = [...page.matchAll(/^```([^\n]+)\n(.*?)^```$/gms)].map(([, kind = '', text = '']) => ({
  kind,
  text,
}));

/** With `sluice` on the PATH. */
function environment(folder: string): Record<string, string> {
  const programs = join(folder, 'bin');
  mkdirSync(programs);
  const script = join(programs, 'sluice');
  writeFileSync(script, `#!/bin/sh\nexec "${process.execPath}" "${builtProgram}" "$@"\n`);
  chmodSync(script, 0o755);
  const data = join(folder, 'data');
  return {
    ...plainEnvironment,
    PATH: `${programs}:${plainEnvironment.PATH}`,
    SLUICE_DATA_DIR: data,
    SLUICE_SECRETS: 'file',
  };
}

function run(commands: string, cwd: string, env: Record<string, string>): Promise<string> {
  return new Promise((resolve) => {
    execFile('sh', ['-c', `(${commands}) 2>&1`], { cwd, env }, (_error, stdout) => resolve(stdout));
  });
}

test('the commands of the tutorial print what it says', async () => {
  const folder = temporaryFolder();
  const env = environment(folder);
  expect(blocks.filter(({ kind }) => kind === 'text').length).toBeGreaterThan(5);
  for (const [index, { kind, text }] of blocks.entries()) {
    const [language, file] = kind.split(' ');
    const printed = blocks[index + 1];
    if (file) writeFileSync(join(folder, file), text);
    else if (language === 'sh' && printed?.kind === 'text')
      expect(settled(await run(text, folder, env))).toBe(settled(printed.text));
  }
});

/** Replaces what differs between runs: the hash in a file's name, and seconds. */
const settled = (printed: string) =>
  printed.replace(/-[0-9a-f]{6}\.json/g, '-HASH.json').replace(/\d+\.\d$/gm, 'SECONDS');
