import {
  applyEdits,
  createScanner,
  findNodeAtLocation,
  modify,
  type Node,
  type ParseError,
  parse,
  parseTree,
} from 'jsonc-parser';
import { isObject } from '../contract/is-object.ts';
import { type ConfigFormat, ConfigSyntaxError, lineAt } from './config-format.ts';
import { editsBetween, type SettingsEdit } from './settings-edits.ts';

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

/** Adds and replaces by hand, because `modify` reformats the neighbours of an addition and moves their comments. */
function withEdit(text: string, { path, value }: SettingsEdit, layout: Layout): string {
  const root = parseTree(text, [], options);
  const existing = root && findNodeAtLocation(root, [...path]);
  const parent = root && findNodeAtLocation(root, path.slice(0, -1));
  if (value === undefined || !root || !parent) return applyEdits(text, modify(text, [...path], value, {}));
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
