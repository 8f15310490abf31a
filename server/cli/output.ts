/** What verbs print: results on stdout, as text for a person or as JSON for a script; all other talk on stderr. */
import { GatewayError } from '../contract/errors.ts';
import type { Terminal } from './terminal.ts';

export interface Output {
  readonly isJson: boolean;
  /** A result: the value as JSON, or the text. */
  show(value: unknown, text: string): void;
  /** One of many results that come over time: a line each. */
  showOne(value: unknown, text: string): void;
  /** For a person beside the result. */
  note(line: string): void;
  /** What went wrong, at the end. */
  fail(error: unknown): void;
}

export function createOutput({ stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>, isJson: boolean): Output {
  return {
    isJson,
    show: (value, text) => void stdout.write(isJson ? `${JSON.stringify(value, null, 2)}\n` : `${text}\n`),
    showOne: (value, text) => void stdout.write(`${isJson ? JSON.stringify(value) : text}\n`),
    note: (line) => void stderr.write(`${line}\n`),
    fail: (error) => {
      const message = error instanceof Error ? error.message : String(error);
      const code = error instanceof GatewayError ? error.code : null;
      stderr.write(isJson ? `${JSON.stringify({ error: { message, code } })}\n` : `sluice: ${message}\n`);
    },
  };
}

/** Columns as wide as their widest cell; `none` if there are no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], none: string): string {
  if (rows.length === 0) return none;
  const lines = [head.map((title) => title.toUpperCase()), ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** `yes` or `no`. */
export function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

/** A moment in local time, without what a table has no room for: `2026-11-20 13:39:05`. */
export function localTime(moment: number | string | null, never = 'never'): string {
  if (moment === null) return never;
  const date = new Date(moment);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19).replace('T', ' ');
}
