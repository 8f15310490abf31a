/** Output that goes to a file, as in `sluice export > backup.json`: the file is whole, or the command fails. */
import { fstatSync, writeFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { describeFileProblem, systemErrorCode } from '../ground/files/file-problem.ts';
import type { Output } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import type { Terminal } from './terminal.ts';

/**
 * Node 24 writes each chunk to a file on stdout by one call of the system and ignores how much of it was written, so a disk
 * that becomes full within a chunk leaves a torn file and no error.
 */
export function wholeOutput(stdout: Writable): Writable {
  const fd = 'fd' in stdout ? stdout.fd : null;
  if (typeof fd !== 'number' || !isFile(fd)) return stdout;
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      try {
        writeFileSync(fd, chunk);
      } catch (error) {
        return done(error instanceof Error ? error : new Error(String(error)));
      }
      done();
    },
  });
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

/** EOF: in Windows. */
const closedPipe = new Set(['EPIPE', 'EOF']);

/**
 * A closed pipe ends a command (`sluice log --follow | head`), and output that cannot be written ends it as a failure. Neither
 * ends `serve`, which has other work.
 */
export function endWithOutput({ argv, stdout, stderr }: Terminal, output: Output): void {
  stderr.on('error', () => {});
  stdout.on('error', (error) => {
    if (argv[0] === 'serve') return;
    if (closedPipe.has(systemErrorCode(error) ?? '')) process.exit(exitCodes.ok);
    output.fail(new CliError(`The output cannot be written: ${describeFileProblem(error)}.`, exitCodes.failure));
    process.exit(exitCodes.failure);
  });
}
