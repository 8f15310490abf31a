/** Runs the commands of docs/testing-with-sluice.md and compares what they print. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { plainEnvironment } from '../../support/plain-environment.ts';
import { builtProgram, checkout } from '../../support/program.ts';
import { endProgramsAfterEach, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

// Whole programs are started here; on a busy machine that takes its time.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

interface Block {
  /** `js ask.mjs`: a file; `sh`: commands; `text`: what the commands before it print. */
  kind: string;
  text: string;
}

const page = readFileSync(join(checkout, 'docs/testing-with-sluice.md'), 'utf8');
/** Up to the reference, which has no commands. */
const tutorial = page.slice(0, page.indexOf('### Cassettes'));
const blocks: Block[] = [...tutorial.matchAll(/^```([^\n]+)\n(.*?)^```$/gms)].map(([, kind = '', text = '']) => ({
  kind,
  text,
}));

/** With `sluice` on the path. */
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
  expect(blocks.filter(({ kind }) => kind === 'sh').length).toBeGreaterThan(3);
  let said = '';
  for (const { kind, text } of blocks) {
    const [language, file] = kind.split(' ');
    if (file) writeFileSync(join(folder, file), text);
    else if (language === 'sh') said = await run(text, folder, env);
    else expect(said.replace(/-[0-9a-f]{6}\.json/g, '-HASH.json')).toBe(text);
  }
});
