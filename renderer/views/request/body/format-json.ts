/**
 * Lays JSON out over lines without parsing it: numbers, escapes, duplicate members and a body that was cut stay as they are.
 * Linear in the length of its input. Pure.
 */
export interface ShownText {
  text: string;
  /** Strings, or lines, of which only the beginning is shown. */
  cutStrings: number;
}

interface FormatOptions {
  /** Longer strings are cut to a tenth of it, since editors draw lines of a megabyte slowly. Infinity: none is cut. */
  longestString: number;
  /** What stands in place of the rest of a string, by its length in UTF-16 units. */
  describeRest(units: number): string;
}

// A line is never indented further, or a body of nothing but brackets would grow with the square of its length.
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

/** A text that is not laid out, with its long lines cut. */
export function cutLines(text: string, { longestString, describeRest }: FormatOptions): ShownText {
  let cutStrings = 0;
  const lines = text.split('\n').map((line) => {
    if (line.length <= longestString) return line;
    cutStrings++;
    const shown = longestString / 10;
    return `${line.slice(0, shown)}… ${describeRest(line.length - shown)}`;
  });
  return cutStrings === 0 ? { text, cutStrings } : { text: lines.join('\n'), cutStrings };
}

/** Whether a text begins as a JSON object or list does; it may be cut. */
export function looksLikeJson(text: string): boolean {
  const start = text[skipSpace(text, 0)];
  return start === '{' || start === '[';
}

/** After its closing quote; null if the text ends within the string. */
export function closeOfString(json: string, start: number): number | null {
  for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let before = at - 1;
    while (json[before] === '\\') before--;
    if ((at - before) % 2 === 1) return at + 1;
  }
  return null;
}

function cutString(
  json: string,
  start: number,
  end: number,
  shown: number,
  describeRest: FormatOptions['describeRest'],
): string {
  const head = json.slice(start, start + shown).replace(/\\+$/, '');
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
