/**
 * What commands show a person: lines, and tables that fit the terminal. A file or a pipe gets whole columns without colour,
 * whose form does not depend on any width, since scripts read it.
 */
import { styleText } from 'node:util';
import { dayMs, hourMs, minuteMs } from '../contract/units.ts';
import type { Look } from './terminal.ts';
import { visible } from './visible-output.ts';

/** Those of states have a symbol too, in a terminal, so that nobody depends on colours. */
export type Style = 'good' | 'bad' | 'warning' | 'off' | 'dim' | 'title' | 'error';

interface Styled {
  style: Style;
  text: string;
}

/** A time, which a terminal shows by its distance from now. */
interface Moment {
  at: number;
}

export type Cell = string | Styled | Moment;

/** Pieces on one line. */
interface Line {
  line: readonly Cell[];
}

/** Several are below each other. */
export type Shown = Cell | Line | Table | readonly Shown[];

export interface Table {
  columns: readonly Column[];
  rows: readonly (readonly Cell[])[];
  /** Shown if there are no rows. */
  none: string;
  /** For rows that come one by one: the columns are as wide as this row needs. */
  usual?: readonly Cell[];
  hasHead?: boolean;
}

interface Column {
  title: string;
  isNumber?: boolean;
  /** Left out of a terminal that is too narrow. */
  isOptional?: boolean;
}

export const styled = (style: Style, text: string): Styled => ({ style, text });
export const moment = (time: number | string | null): Cell =>
  time === null ? 'never' : { at: Date.parse(dateText(time)) };
export const line = (...pieces: Cell[]): Line => ({ line: pieces });
export const number = (title: string): Column => ({ title, isNumber: true });
export const optional = (column: string | Column): Column => ({ ...toColumn(column), isOptional: true });

/** The beginning of a line that says what became of something. */
export const verdict = (ok: boolean): Styled => (ok ? styled('good', 'ok    ') : styled('bad', 'FAILED'));

export function table(columns: readonly (string | Column)[], rows: Table['rows'], none: string): Table {
  return { columns: columns.map(toColumn), rows, none };
}

/** Rows that come one by one; the first of them with the head. */
export function followed(
  columns: readonly (string | Column)[],
  rows: Table['rows'],
  { usual, hasHead }: { usual: readonly Cell[]; hasHead: boolean },
): Table {
  return { columns: columns.map(toColumn), rows, none: '', usual, hasHead };
}

/** A name and its value, on a line of their own. */
export function fact(name: string, value: Cell, width = 12): Line {
  return line(styled('dim', `${name}:`.padEnd(width)), value);
}

function toColumn(column: string | Column): Column {
  return typeof column === 'string' ? { title: column } : column;
}

function dateText(time: number | string): string {
  return typeof time === 'string' ? time : new Date(time).toISOString();
}

/** Local time without zone: `2026-11-20 13:39:05`. */
export function localTime(time: number | string | null): string {
  if (time === null) return 'never';
  const date = new Date(time);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * minuteMs);
  return local.toISOString().slice(0, 19).replace('T', ' ');
}

export function renderShown(shown: Shown, look: Look): string {
  if (typeof shown === 'string') return visible(shown);
  if ('rows' in shown) return renderTable(shown, look);
  if ('line' in shown) return shown.line.map((cell) => paint(cell, textOf(cell, look), look)).join('');
  if (isSeveral(shown)) return shown.map((each) => renderShown(each, look)).join('\n');
  return paint(shown, textOf(shown, look), look);
}

function isSeveral(shown: Cell | readonly Shown[]): shown is readonly Shown[] {
  return Array.isArray(shown);
}

const symbols: Partial<Record<Style, string>> = { good: '✓ ', bad: '✗ ', warning: '! ', off: '○ ' };

const formats = {
  good: 'green',
  bad: 'red',
  warning: 'yellow',
  off: 'dim',
  dim: 'dim',
  title: 'bold',
  error: 'red',
} as const satisfies Record<Style, Parameters<typeof styleText>[0]>;

function textOf(cell: Cell, { width }: Look): string {
  if (typeof cell === 'string') return visible(cell);
  if ('at' in cell) return width === null ? localTime(cell.at) : relativeTime(cell.at);
  return `${width === null ? '' : (symbols[cell.style] ?? '')}${visible(cell.text)}`;
}

function paint(cell: Cell, text: string, { hasColor }: Look): string {
  if (!hasColor || typeof cell === 'string' || !('style' in cell)) return text;
  return styleText(formats[cell.style], text, { validateStream: false });
}

const steps = [
  { unit: 'day', ms: dayMs },
  { unit: 'hour', ms: hourMs },
  { unit: 'minute', ms: minuteMs },
  { unit: 'second', ms: 1_000 },
] as const;

/** `5min ago`, `in 3d`; a date from a month on. */
function relativeTime(timeMs: number): string {
  const awayMs = timeMs - Date.now();
  if (Math.abs(awayMs) >= 30 * dayMs) return localTime(timeMs).slice(0, 10);
  const { unit, ms } = steps.find((step) => Math.abs(awayMs) >= step.ms) ?? steps[3];
  return new Intl.RelativeTimeFormat('en', { style: 'narrow' }).format(Math.trunc(awayMs / ms), unit);
}

/** In columns of a terminal. Until `loadWidths`, as if all characters took one. */
let stringWidth = (text: string): number => text.length;

/** For terminals alone, since the tables of Unicode take as long to load as all else at a start. */
export async function loadWidths(): Promise<void> {
  ({ default: stringWidth } = await import('string-width'));
}

/** A name from elsewhere must not look like a row of its own. */
function onOneLine(text: string): string {
  return text.replaceAll('\t', '\\t').replaceAll('\n', '\\n');
}

function renderTable({ columns, rows, none, usual, hasHead = true }: Table, look: Look): string {
  if (rows.length === 0 && usual === undefined) return none;
  const sample = usual ? [usual] : rows;
  const widths = columns.map(({ title }, index) =>
    Math.max(widthOf(title, look), ...sample.map((cells) => widthOf(plainText(cells[index], look), look))),
  );
  const fitting = look.width === null ? widths : fitWidths(columns, widths, look.width);
  if (fitting === null) return rows.map((cells) => block(cells, columns, look)).join('\n');
  const head = hasHead ? [columns.map(({ title }) => styled('title', title.toUpperCase()))] : [];
  const lines = [...head, ...rows].map((cells) => columnLine(cells, columns, { widths: fitting, look }));
  const leftOut = hasHead ? columns.filter((_, index) => fitting[index] === 0).map(({ title }) => title) : [];
  if (leftOut.length === 0) return lines.join('\n');
  const note = `Left out, for lack of room: ${leftOut.join(', ')}. --json shows everything.`;
  return [...lines, paint(styled('dim', note), note, look)].join('\n');
}

function plainText(cell: Cell | undefined, look: Look): string {
  return cell === undefined ? '' : onOneLine(textOf(cell, look));
}

/** In a file or a pipe, of characters, as it always was; in a terminal, of the columns that it takes there. */
function widthOf(text: string, { width }: Look): number {
  return width === null ? text.length : stringWidth(text);
}

const gap = '  ';
/** Nothing is shortened to less. */
const leastWidth = 16;
/** Below it, a row with more than fits is a block of lines. */
const leastTableWidth = 80;

/** The widths within `room`, 0 for those that are left out; null if they do not fit. */
function fitWidths(columns: readonly Column[], wanted: readonly number[], room: number): number[] | null {
  const widths = [...wanted];
  for (;;) {
    const excess = total(widths) - room;
    if (excess <= 0) return widths;
    const canShorten = columns.map(({ isNumber }, index) => {
      // Ids are copied, and a shortened number is a wrong one.
      return index === 0 || isNumber ? 0 : Math.max(0, (widths[index] ?? 0) - leastWidth);
    });
    if (sum(canShorten) >= excess) return shorten(widths, canShorten, excess);
    const dropped = toDrop(columns, widths, excess - sum(canShorten));
    if (dropped < 0 || room < leastTableWidth) return null;
    widths[dropped] = 0;
  }
}

/** The last optional column that is wide enough by itself, or else the widest; -1 if there is none. */
function toDrop(columns: readonly Column[], widths: readonly number[], missing: number): number {
  const left = columns.map(({ isOptional }, index) => (isOptional ? (widths[index] ?? 0) : 0));
  const enough = left.findLastIndex((width) => width > 0 && width + gap.length >= missing);
  const widest = Math.max(...left);
  return enough >= 0 ? enough : widest > 0 ? left.indexOf(widest) : -1;
}

/** Takes `excess` from the widest. */
function shorten(widths: readonly number[], canShorten: readonly number[], excess: number): number[] {
  const shorter = [...widths];
  const left = [...canShorten];
  for (let taken = 0; taken < excess; taken++) {
    const widest = shorter.reduce((best, width, index) => {
      return (left[index] ?? 0) > 0 && (best < 0 || width > (shorter[best] ?? 0)) ? index : best;
    }, -1);
    shorter[widest] = (shorter[widest] ?? 0) - 1;
    left[widest] = (left[widest] ?? 0) - 1;
  }
  return shorter;
}

function total(widths: readonly number[]): number {
  const kept = widths.filter((width) => width > 0);
  return sum(kept) + gap.length * (kept.length - 1);
}

const sum = (numbers: readonly number[]) => numbers.reduce((before, each) => before + each, 0);

function columnLine(
  cells: readonly Cell[],
  columns: readonly Column[],
  { widths, look }: { widths: readonly number[]; look: Look },
): string {
  const shown = cells.flatMap((cell, index) => {
    const width = widths[index] ?? 0;
    if (width === 0 && look.width !== null) return [];
    const text = look.width === null ? plainText(cell, look) : cut(plainText(cell, look), width);
    const padding = ' '.repeat(Math.max(0, width - widthOf(text, look)));
    const isRight = columns[index]?.isNumber && look.width !== null;
    return [isRight ? padding + paint(cell, text, look) : paint(cell, text, look) + padding];
  });
  return shown.join(gap).trimEnd();
}

/** The beginning of a text, in the given width of a terminal. */
function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** A row below its first cell, without its empty cells. */
function block([head = '', ...others]: readonly Cell[], columns: readonly Column[], look: Look): string {
  const nameWidth = Math.max(...columns.slice(1).map(({ title }) => title.length));
  const lines = others.flatMap((cell, index) => {
    const text = plainText(cell, look);
    const name = (columns[index + 1]?.title ?? '').padEnd(nameWidth);
    return text === '' ? [] : [`  ${paint(styled('dim', name), name, look)}${gap}${paint(cell, text, look)}`];
  });
  return [paint(styled('title', ''), plainText(head, look), look), ...lines].join('\n');
}
