import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkout, collectOutput } from '../support/program.ts';

const module = pathToFileURL(join(checkout, 'build/build-lock.ts')).href;
/** Takes the lock, holds it until its input ends, and prints each step. */
const program = `
  const { takeBuildLock } = await import('${module}');
  const release = takeBuildLock(process.argv[1], () => process.stdout.write('waits '));
  process.stdout.write('builds ');
  process.stdin.resume().on('end', () => { release(); process.stdout.write('built '); });
`;

/** Node 22 warns that its SQLite is experimental. */
const quiet = '--disable-warning=ExperimentalWarning';

let folder: string;
let builders: ChildProcess[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-build-'));
  builders = [];
});
afterEach(async () => {
  for (const builder of builders) builder.kill('SIGKILL');
  await Promise.all(builders.map((builder) => builder.exitCode ?? builder.signalCode ?? once(builder, 'exit')));
  rmSync(folder, { recursive: true, force: true });
});

function startBuilder() {
  const child = spawn(process.execPath, [quiet, '--input-type=module', '-e', program, join(folder, 'dist')]);
  builders.push(child);
  const output = collectOutput(child);
  const hasSaid = (words: string) => expect.poll(() => output.stdout + output.stderr).toBe(words);
  return { child, hasSaid };
}

test('a second process builds when the first has built', async () => {
  const first = startBuilder();
  await first.hasSaid('builds ');
  const second = startBuilder();
  await second.hasSaid('waits ');
  first.child.stdin.end();
  await first.hasSaid('builds built ');
  await second.hasSaid('waits builds ');
});

test('a second process builds when the first was killed', async () => {
  const first = startBuilder();
  await first.hasSaid('builds ');
  const second = startBuilder();
  await second.hasSaid('waits ');
  first.child.kill('SIGKILL');
  await second.hasSaid('waits builds ');
});
