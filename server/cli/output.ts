/** The output of commands: results on stdout, as text or JSON; everything else on stderr. */

import { fstatSync, writeFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { GatewayError } from '../contract/errors.ts';
import { describeFileProblem, systemErrorCode } from '../ground/files/regular-file.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { line, renderShown, type Shown, styled } from './shown.ts';
import { lookOf, type Terminal, type TerminalOutput } from './terminal.ts';
import { visible, writeStyled } from './visible-output.ts';

export interface Output {
  readonly isJson: boolean;
  /** Prints a result: the value as JSON, or as a person reads it. */
  show(value: unknown, shown: Shown): void;
  /** Prints one of several results on its own line. */
  showOne(value: unknown, shown: Shown): void;
  /** Prints a message to stderr. */
  note(message: Shown): void;
  /** Tells how far something is that lasts over two seconds, in a terminal alone. */
  progress(): Progress;
  /** Prints the error that ended the command. */
  fail(error: unknown): void;
}

interface Progress {
  at(text: string): void;
  /** Removes the line. */
  end(): void;
}

const silentMs = 2_000;
const betweenMs = 200;

function progressOn(stream: TerminalOutput): Progress {
  let nextMs = Date.now() + silentMs;
  let isShown = false;
  const replaceLine = (text: string) => writeStyled(stream, `\r\u001b[K${visible(text)}`);
  return {
    at: (text) => {
      if (!stream.isTTY || Date.now() < nextMs) return;
      nextMs = Date.now() + betweenMs;
      isShown = true;
      replaceLine(text);
    },
    end: () => {
      if (isShown) replaceLine('');
      isShown = false;
    },
  };
}

export function createOutput(terminal: Pick<Terminal, 'stdout' | 'stderr' | 'env' | 'color'>, isJson: boolean): Output {
  const { stdout, stderr } = terminal;
  const print = (stream: TerminalOutput, shown: Shown) => {
    const look = lookOf(stream, terminal);
    const text = `${renderShown(shown, look)}\n`;
    if (look.hasColor) writeStyled(stream, text);
    else stream.write(text);
  };
  return {
    isJson,
    show: (value, shown) => (isJson ? void stdout.write(`${JSON.stringify(value, null, 2)}\n`) : print(stdout, shown)),
    showOne: (value, shown) => (isJson ? void stdout.write(`${JSON.stringify(value)}\n`) : print(stdout, shown)),
    note: (message) => print(stderr, message),
    progress: () => progressOn(stderr),
    fail: (error) => {
      const message = error instanceof Error ? error.message : String(error);
      const code = error instanceof GatewayError ? error.code : null;
      if (isJson) stderr.write(`${JSON.stringify({ error: { message, code } })}\n`);
      else print(stderr, line(styled('error', 'sluice:'), ` ${message}`));
    },
  };
}

export function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

/**
 * Output that goes to a file, as in `sluice export > backup.json`: the file is whole, or the command fails.
 *
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
