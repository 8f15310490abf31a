/** Parses JSON that may be truncated. Pure. */
interface ParsedJson {
  value: unknown;
  /** The text ends within the value; open brackets and strings were closed. */
  isCut: boolean;
}

/** Null if it is not JSON. */
export function parseTruncatedJson(text: string): ParsedJson | null {
  const whole = tryParse(text);
  if (whole) return { ...whole, isCut: false };
  const { open, isInString, lastBreak } = scan(text);
  if (open.length === 0) return null;
  // A truncated string is kept, because prompts and images are what makes bodies long.
  const completed = isInString ? tryParse(`${withoutHalfEscape(text)}"${closing(open)}`) : null;
  const before = text.slice(0, lastBreak);
  const cut = completed ?? tryParse(before + closing(scan(before).open));
  return cut && { ...cut, isCut: true };
}

function tryParse(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

interface Scanned {
  /** The closing brackets for everything open, outermost first. */
  open: string[];
  isInString: boolean;
  /** The last position where a value ended, or an array or object began. */
  lastBreak: number;
}

function scan(text: string): Scanned {
  const open: string[] = [];
  let lastBreak = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = closeOfString(text, at);
      if (end === null) return { open, isInString: true, lastBreak };
      at = end - 1;
    } else if (character === '{' || character === '[') {
      open.push(character === '{' ? '}' : ']');
      lastBreak = at + 1;
    } else if (character === '}' || character === ']') {
      open.pop();
      lastBreak = at + 1;
    } else if (character === ',') {
      lastBreak = at;
    }
  }
  return { open, isInString: false, lastBreak };
}

const closing = (open: readonly string[]) => open.toReversed().join('');

/** Removes an incomplete escape at the end: `\`, `\u`, `\u00e`. */
function withoutHalfEscape(text: string): string {
  const halfEscape = /(?:^|[^\\])(?:\\\\)*(\\(?:u[\da-fA-F]{0,3})?)$/.exec(text.slice(-40))?.[1];
  return halfEscape ? text.slice(0, -halfEscape.length) : text;
}

/** The position after the closing quote; null if the text ends within the string. */
export function closeOfString(json: string, start: number): number | null {
  for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let before = at - 1;
    while (json[before] === '\\') before--;
    if ((at - before) % 2 === 1) return at + 1;
  }
  return null;
}
