/** The output of commands: results on stdout, as text or JSON; everything else on stderr. */
import { GatewayError } from '../contract/errors.ts';
import type { Terminal } from './terminal.ts';

export interface Output {
  readonly isJson: boolean;
  /** Prints a result: the value as JSON, or the text. */
  show(value: unknown, text: string): void;
  /** Prints one of several results on its own line. */
  showOne(value: unknown, text: string): void;
  /** Prints a message to stderr. */
  note(line: string): void;
  /** Prints the error that ended the command. */
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

/** Aligns columns; returns `none` if there are no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], none: string): string {
  if (rows.length === 0) return none;
  const lines = [head.map((title) => title.toUpperCase()), ...rows];
  const widths = columnWidths(lines);
  return lines.map((line) => tableLine(line, widths)).join('\n');
}

/** A name from elsewhere must not look like a row of its own. */
function onOneLine(cell: string): string {
  return cell.replaceAll('\t', '\\t').replaceAll('\n', '\\n');
}

/** The width in characters of the widest cell in each column of the first line. */
export function columnWidths(lines: readonly (readonly string[])[]): number[] {
  return (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
}

export function tableLine(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => onOneLine(cell).padEnd(widths[column] ?? 0))
    .join('  ')
    .trimEnd();
}

export function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

/** Local time without zone: `2026-11-20 13:39:05`. */
export function localTime(time: number | string | null): string {
  if (time === null) return 'never';
  const date = new Date(time);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19).replace('T', ' ');
}
