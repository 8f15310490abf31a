/** The output of commands: results on stdout, as text or JSON; everything else on stderr. */
import { GatewayError } from '../contract/errors.ts';
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

export interface Progress {
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
