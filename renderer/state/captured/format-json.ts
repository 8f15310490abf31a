/**
 * Indents JSON without parsing it. Numbers, escapes, duplicate members and truncated bodies stay as they are. Linear in
 * the length of the input. Pure.
 */
import { closeOfString } from '../../../server/contract/conversation/parse-truncated-json.ts';

interface ShownText {
  text: string;
  /** The number of strings, or lines, of which only the start is shown. */
  cutStrings: number;
}

interface FormatOptions {
  /**
   * Longer strings are cut to a tenth of this, because editors are slow with lines of a megabyte. Infinity disables it.
   */
  longestString: number;
  /** The text in place of the rest of a string, given its length in UTF-16 units. */
  describeRest(units: number): string;
}

// Limited, because a body of nothing but brackets would otherwise grow with the square of its length.
const deepestIndent = 40;
const indents = Array.from({ length: deepestIndent + 1 }, (_, depth) => `\n${'  '.repeat(depth)}`);
const isSpace = (character: string | undefined) =>
  character === ' ' || character === '\n' || character === '\r' || character === '\t';
const scalarEnd = /[\s,:"[\]{}]/g;

export function formatJson(json: string, { longestString, describeRest }: FormatOptions): ShownText {
  const pieces: string[] = [];
  let depth = 0;
  let cutStrings = 0;
  const breakLine = () => pieces.push(indents[Math.min(depth, deepestIndent)] ?? '');
  for (let at = 0; at < json.length; ) {
    const character = json[at];
    if (isSpace(character)) {
      at++;
    } else if (character === '"') {
      const end = closeOfString(json, at) ?? json.length;
      const isCut = end - at > longestString;
      if (isCut) cutStrings++;
      pieces.push(isCut ? cutString(json, at, end, longestString / 10, describeRest) : json.slice(at, end));
      at = end;
    } else if (character === '{' || character === '[') {
      const next = skipSpace(json, at + 1);
      const close = character === '{' ? '}' : ']';
      if (json[next] === close) {
        pieces.push(character + close);
        at = next + 1;
      } else {
        depth++;
        pieces.push(character);
        breakLine();
        at = next;
      }
    } else if (character === '}' || character === ']') {
      depth = Math.max(0, depth - 1);
      breakLine();
      pieces.push(character);
      at++;
    } else if (character === ',') {
      pieces.push(character);
      breakLine();
      at++;
    } else if (character === ':') {
      pieces.push(': ');
      at++;
    } else {
      const end = endOfScalar(json, at);
      pieces.push(json.slice(at, end));
      at = end;
    }
  }
  return { text: pieces.join(''), cutStrings };
}

/** Cuts the long lines of a text that is not formatted. */
export function cutLines(text: string, { longestString, describeRest }: FormatOptions): ShownText {
  let cutStrings = 0;
  const lines = text.split('\n').map((line) => {
    if (line.length <= longestString) return line;
    cutStrings++;
    const shownLength = longestString / 10;
    return `${line.slice(0, shownLength)}… ${describeRest(line.length - shownLength)}`;
  });
  return cutStrings === 0 ? { text, cutStrings } : { text: lines.join('\n'), cutStrings };
}

function cutString(
  json: string,
  start: number,
  end: number,
  shownLength: number,
  describeRest: FormatOptions['describeRest'],
): string {
  const head = json.slice(start, start + shownLength).replace(/\\+$/, '');
  return `${head}… ${describeRest(end - start - head.length - 1)}"`;
}

function skipSpace(json: string, start: number): number {
  let at = start;
  while (isSpace(json[at])) at++;
  return at;
}

function endOfScalar(json: string, start: number): number {
  scalarEnd.lastIndex = start + 1;
  return scalarEnd.exec(json)?.index ?? json.length;
}
