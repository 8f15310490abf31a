import { createScanner, findNodeAtLocation, type Node, type ParseError, parse, parseTree } from 'jsonc-parser';
import { isObject } from '../contract/is-object.ts';
import { type ConfigFormat, ConfigSyntaxError, editsBetween, lineAt, type SettingsEdit } from './merge-settings.ts';

const options = { allowTrailingComma: true };

/** JSON as VS Code and Zed read it: with comments and trailing commas. */
export const jsonFormat: ConfigFormat = {
  parse(text) {
    if (text.trim() === '') return {};
    const settings = parsed(text);
    if (!isObject(settings)) throw new ConfigSyntaxError(1);
    return settings;
  },
  rewrite: (text, settings) => rewritten(text, settings, editsBetween(jsonFormat.parse(text), settings)),
};

/** What is not JSON proper: a comment, a comma after the last element, a byte order mark. */
export type JsonExtra = 'comment' | 'comma' | 'mark';

/** The first of them, and its line; null if there is none. */
export function jsonExtraIn(text: string, extras: readonly JsonExtra[]): { extra: JsonExtra; line: number } | null {
  if (text.startsWith('\uFEFF')) return extras.includes('mark') ? { extra: 'mark', line: 1 } : null;
  const errors: ParseError[] = [];
  parse(text, errors, { disallowComments: extras.includes('comment'), allowTrailingComma: !extras.includes('comma') });
  const [error] = text.trim() === '' ? [] : errors;
  if (!error) return null;
  // Its codes are a const enum, which cannot be imported: 10 is InvalidCommentToken.
  return { extra: error.error === 10 ? 'comment' : 'comma', line: lineAt(text, error.offset) };
}

/** The same for a file that is a list. Its only setting is `entries`, which is absent if the list is empty. */
export const jsonListFormat: ConfigFormat = {
  parse(text) {
    if (text.trim() === '') return {};
    const entries = parsed(text);
    if (!Array.isArray(entries)) throw new ConfigSyntaxError(1);
    return entries.length === 0 ? {} : { entries };
  },
  rewrite(text, { entries = [] }) {
    const edits = editsBetween({ entries: [], ...jsonListFormat.parse(text) }, { entries });
    const inList = edits.map(({ path, value }) => ({ path: path.slice(1), value }));
    return rewritten(text, entries, inList);
  },
};

function parsed(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, options);
  const [error] = errors;
  if (error) throw new ConfigSyntaxError(lineAt(text, error.offset));
  return value;
}

function rewritten(text: string, value: unknown, edits: readonly SettingsEdit[]): string {
  if (text.trim() === '') return `${JSON.stringify(value, null, 2)}\n`;
  const layout = layoutOf(text);
  return edits.reduce((current, edit) => withEdit(current, edit, layout), text);
}

interface Layout {
  indent: string;
  eol: string;
}

function layoutOf(text: string): Layout {
  return { indent: /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ', eol: text.includes('\r\n') ? '\r\n' : '\n' };
}

/**
 * By hand, because `modify` of jsonc-parser 3.3 reformats the neighbours of an addition, moves their comments, and takes
 * too little out of a list on one line.
 */
function withEdit(text: string, { path, value }: SettingsEdit, layout: Layout): string {
  const root = parseTree(text, [], options);
  const existing = root && findNodeAtLocation(root, [...path]);
  const parent = root && findNodeAtLocation(root, path.slice(0, -1));
  if (!parent) return text;
  if (value === undefined) return existing ? withoutChild(text, parent, existing) : text;
  if (existing) return splice(text, existing, print(value, indentAt(text, existing.offset), layout));
  const name = path.at(-1);
  const label = typeof name === 'string' ? `${JSON.stringify(name)}: ` : '';
  return withChild(text, parent, { label, value }, layout);
}

function withChild(text: string, parent: Node, { label, value }: { label: string; value: unknown }, layout: Layout) {
  const outer = indentAt(text, parent.offset);
  const inner = outer + layout.indent;
  const last = parent.children?.at(-1);
  const child = `${layout.eol}${inner}${label}${print(value, inner, layout)}`;
  const end = parent.offset + parent.length - 1;
  if (!last) return `${text.slice(0, end).trimEnd()}${child}${layout.eol}${outer}${text.slice(end)}`;
  const lastEnd = last.offset + last.length;
  const comma = trailingComma(text.slice(lastEnd, end));
  const after = lastEnd + (comma ?? 0);
  // A comment on the rest of the line belongs to the preceding entry.
  const rest = commentInLine(text.slice(after, end));
  const isOnOneLine = !text.slice(parent.offset, end).includes('\n');
  const added = `${child}${comma === null ? '' : ','}${isOnOneLine ? layout.eol + outer : ''}`;
  const before = `${text.slice(0, after)}${comma === null ? ',' : ''}${rest}`;
  return before + added + text.slice(after + rest.length).replace(isOnOneLine ? /^[ \t]+/ : /^/, '');
}

/** Takes out a setting or an element with its comma, and the line if nothing else is in it. */
function withoutChild(text: string, parent: Node, value: Node): string {
  const child = value.parent?.type === 'property' ? value.parent : value;
  const siblings = parent.children ?? [];
  const previous = siblings[siblings.indexOf(child) - 1];
  const parentEnd = parent.offset + parent.length - 1;
  const comma = trailingComma(text.slice(child.offset + child.length, parentEnd));
  const end = child.offset + child.length + (comma ?? 0);
  const rest = commentInLine(text.slice(end));
  const lineStart = text.lastIndexOf('\n', child.offset - 1) + 1;
  const isAlone = text.slice(lineStart, child.offset).trim() === '' && /^\r?\n/.test(text.slice(end + rest.length));
  const after = isAlone ? text.indexOf('\n', end) + 1 : end + (/^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0);
  const start = isAlone ? lineStart : child.offset;
  if (comma !== null || !previous) return text.slice(0, start) + text.slice(after);
  const previousEnd = previous.offset + previous.length;
  const previousComma = previousEnd + (trailingComma(text.slice(previousEnd, child.offset)) ?? 0) - 1;
  const between = isAlone ? text.slice(previousComma + 1, start) : '';
  return text.slice(0, previousComma) + between + text.slice(after);
}

/** The length up to and including a comma, after white space and comments; null if there is no comma. */
function trailingComma(text: string): number | null {
  const scanner = createScanner(text, true);
  scanner.scan();
  return text[scanner.getTokenOffset()] === ',' ? scanner.getPosition() : null;
}

/** The rest of the line if it contains only white space and a comment; otherwise empty. */
function commentInLine(text: string): string {
  const end = text.indexOf('\n');
  if (end === -1) return '';
  const line = text.slice(0, text[end - 1] === '\r' ? end - 1 : end);
  const trimmed = line.trim();
  return trimmed === '' || trimmed.startsWith('//') || (trimmed.startsWith('/*') && trimmed.endsWith('*/')) ? line : '';
}

function splice(text: string, { offset, length }: Node, replacement: string): string {
  return text.slice(0, offset) + replacement + text.slice(offset + length);
}

function print(value: unknown, indent: string, layout: Layout): string {
  return JSON.stringify(value, null, layout.indent).replaceAll('\n', `${layout.eol}${indent}`);
}

/** The white space at the beginning of the line that contains the offset. */
function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start))?.[0] ?? '';
}
