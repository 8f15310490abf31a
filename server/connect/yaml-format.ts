import { isDeepStrictEqual } from 'node:util';
import {
  type Document,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  stringify,
  type YAMLMap,
} from 'yaml';
import { isObject } from '../contract/is-object.ts';
import {
  type ClientSettings,
  type ConfigFormat,
  ConfigSyntaxError,
  editsBetween,
  type SettingsEdit,
} from './merge-settings.ts';

export const yamlFormat: ConfigFormat = {
  parse(text) {
    const settings = contentOf(text) ?? {};
    if (!isObject(settings)) throw new ConfigSyntaxError(1);
    return settings;
  },
  rewrite: (text, settings) => rewritten(text, settings, editsBetween(yamlFormat.parse(text), settings)),
};

/** A file that is a list. Its only setting is `entries`, which is absent if the list is empty. */
export const yamlListFormat: ConfigFormat = {
  parse(text) {
    const entries = contentOf(text) ?? [];
    if (!Array.isArray(entries)) throw new ConfigSyntaxError(1);
    return entries.length === 0 ? {} : { entries };
  },
  rewrite(text, { entries = [] }) {
    const edits = editsBetween({ entries: [], ...yamlListFormat.parse(text) }, { entries });
    const inList = edits.map(({ path, value }) => ({ path: path.slice(1), value }));
    return rewritten(text, entries, inList);
  },
};

function rewritten(text: string, value: unknown, edits: readonly SettingsEdit[]): string {
  const edited = edits.reduce<string | null>((current, edit) => current && withEdit(current, edit), text || '\n');
  return edited !== null && holds(edited, value) ? edited.trimStart() : reprinted(text, edits);
}

function read(text: string): Document {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [error] = document.errors;
  if (error) throw new ConfigSyntaxError(lines.linePos(error.pos[0]).line);
  return document;
}

/** Null if the text is empty or contains only comments. */
function contentOf(text: string): unknown {
  try {
    return read(text).toJS();
  } catch (error) {
    // Of an alias without an anchor, and of many that multiply one another.
    if (error instanceof ReferenceError) throw new ConfigSyntaxError(1);
    throw error;
  }
}

/** Changes only the lines that the edit concerns. Null for kinds of edits that clients' settings do not need. */
function withEdit(text: string, { path, value }: SettingsEdit): string | null {
  const document = read(text);
  if (value === undefined) return withoutLines(text, document, path);
  const existing: unknown = document.getIn(path, true);
  if (isScalar(existing) && existing.range && !isObject(value) && !Array.isArray(value)) {
    return text.slice(0, existing.range[0]) + stringify(value).trimEnd() + text.slice(existing.range[1]);
  }
  if (existing !== undefined) return null;
  const [name] = path.slice(-1);
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (isSeq(parent)) return parent.flow ? null : withItem(text, parent.items.at(-1), value);
  if (isFlow(parent)) return null;
  if (path.length > 1) return isMap(parent) ? withPair(text, parent, { [String(name)]: value }) : null;
  return withLines(text, text.length, stringify(typeof name === 'number' ? [value] : { [String(name)]: value }));
}

/** Without the lines of a setting or an item of a list, if they hold nothing else. */
function withoutLines(text: string, document: Document, path: SettingsEdit['path']): string | null {
  const name = path.at(-1);
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isCollection(parent) || parent.flow || parent.items.length < 2) return null;
  const item: unknown = isSeq(parent)
    ? parent.items[Number(name)]
    : parent.items.find((each) => isPair(each) && isScalar(each.key) && each.key.value === name);
  const first: unknown = isPair(item) ? item.key : item;
  const last: unknown = isPair(item) ? (item.value ?? item.key) : item;
  if (!isNode(first) || !isNode(last) || !first.range || !last.range) return null;
  const start = text.lastIndexOf('\n', first.range[0] - 1) + 1;
  if (!/^\s*(?:- +)?$/.test(text.slice(start, first.range[0]))) return null;
  if (isPair(item) && text.slice(start, first.range[0]).includes('-')) return null;
  const lineEnd = text.indexOf('\n', Math.max(start, text.slice(0, last.range[1]).trimEnd().length));
  return text.slice(0, start) + (lineEnd === -1 ? '' : text.slice(lineEnd + 1));
}

function isFlow(node: unknown): boolean {
  return isCollection(node) && node.flow === true;
}

/** Adds an item after the last item of a list, with the same indentation. */
function withItem(text: string, last: unknown, value: unknown): string | null {
  const range = isMap(last) || isScalar(last) ? last.range : null;
  if (!range) return null;
  const lineStart = text.lastIndexOf('\n', range[0] - 1) + 1;
  const indent = /^( *)- /.exec(text.slice(lineStart))?.[1];
  if (indent === undefined) return null;
  const item = stringify([value], { lineWidth: 0 }).trimEnd().split('\n');
  const end = text.slice(0, range[1]).trimEnd().length;
  const lineEnd = text.indexOf('\n', end);
  return withLines(text, lineEnd === -1 ? text.length : lineEnd + 1, item.map((line) => `${indent}${line}\n`).join(''));
}

/** Adds a setting after the last one of a section, with the same indentation. */
function withPair(text: string, { items }: YAMLMap, pair: ClientSettings): string | null {
  const [firstKey, lastPair] = [items[0]?.key, items.at(-1)];
  const last = lastPair?.value ?? lastPair?.key;
  if (!isNode(firstKey) || !isNode(last) || !firstKey.range || !last.range) return null;
  const lineStart = text.lastIndexOf('\n', firstKey.range[0] - 1) + 1;
  const lead = text.slice(lineStart, firstKey.range[0]);
  if (!/^(?: *- )*(?: )*$/.test(lead)) return null;
  const lines = stringify(pair, { lineWidth: 0 }).trimEnd().split('\n');
  const lineEnd = text.indexOf('\n', text.slice(0, last.range[1]).trimEnd().length);
  const indented = lines.map((line) => `${' '.repeat(lead.length)}${line}\n`).join('');
  return withLines(text, lineEnd === -1 ? text.length : lineEnd + 1, indented);
}

function withLines(text: string, at: number, lines: string): string {
  const before = text.slice(0, at);
  return `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${lines}${text.slice(at)}`;
}

function reprinted(text: string, edits: readonly SettingsEdit[]): string {
  const document = read(text);
  for (const { path, value } of edits) {
    if (value === undefined) document.deleteIn(path);
    else document.setIn(path, document.createNode(value));
  }
  return document.toString({ lineWidth: 0 });
}

function holds(text: string, value: unknown): boolean {
  try {
    return isDeepStrictEqual(contentOf(text), value);
  } catch {
    return false;
  }
}
