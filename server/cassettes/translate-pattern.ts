/**
 * Regular expressions of JavaScript with the flag `u` in the syntax of RE2 (https://github.com/google/re2/wiki/Syntax).
 * RE2JS has a translation of its own, but it makes a `k` of `\k`, and leaves `.`, `\s` and pairs of `\u` with another
 * meaning than in JavaScript.
 */

/** A pattern that JavaScript accepts and RE2 does not. */
export class UnsupportedPattern extends Error {}

/** With counted repetitions written out, as RE2 does: it accepts a thousand times as many, which take a second to read. */
const maxLength = 500;

const escapes = /\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|\\(?:u\{\w*\}|u\w{4}|x\w\w|c.|[pP]\{[^}]*\}|.)/su;
const tokensOfClass = new RegExp(`${escapes.source}|.`, 'gsu');
const tokens = new RegExp(
  `\\[(?:\\\\.|[^\\]\\\\])*\\]|\\(\\?(?:<?[=!]|<[^>]*>|[ims-]*:)|\\{[\\d,]*\\}|${tokensOfClass.source}`,
  'gsu',
);

const lineEnds = '\\n\\r\\x{2028}\\x{2029}';
const spaces = '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
/** All but `spaces`. */
const others =
  '\\x00-\\x08\\x0e-\\x1f!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';

/** @throws SyntaxError, or UnsupportedPattern */
export function toRe2(source: string): string {
  new RegExp(source, 'u');
  const parts = source.match(tokens) ?? [];
  if (lengthWrittenOut(parts) > maxLength) throw new UnsupportedPattern('it is too long');
  return parts.map(translated).join('');
}

function lengthWrittenOut(parts: readonly string[]): number {
  const ofGroups = [0];
  let last = 0;
  for (const part of parts) {
    if (part.startsWith('(')) {
      ofGroups.push(1);
      continue;
    }
    const counts = /^\{(\d+)(?:,(\d*))?\}$/.exec(part);
    const added = counts ? last * (Math.max(Number(counts[1]), Number(counts[2] ?? 0)) - 1) : 1;
    if (!counts) last = part === ')' ? (ofGroups.pop() ?? 0) : 1;
    ofGroups.push((ofGroups.pop() ?? 0) + (part === ')' ? last : added));
  }
  return ofGroups[0] ?? 0;
}

function translated(part: string): string {
  if (/^\(\?<?[=!]/.test(part)) throw new UnsupportedPattern('it looks around');
  if (/^\\[1-9k]/.test(part)) throw new UnsupportedPattern('it refers back to a group');
  if (/^\(\?[ims-]+:/.test(part)) throw new UnsupportedPattern('it changes flags inside');
  if (part.startsWith('(')) return '(?:';
  if (part === '.') return `[^${lineEnds}]`;
  if (part === '\\s') return `[${spaces}]`;
  if (part === '\\S') return `[^${spaces}]`;
  return part.startsWith('[') ? translatedClass(part) : translatedEscape(part);
}

function translatedClass(part: string): string {
  if (part === '[]') return '[^\\x00-\\x{10ffff}]';
  if (part === '[^]') return '[\\x00-\\x{10ffff}]';
  const inside = part.slice(1, -1).replaceAll(tokensOfClass, (each) => {
    if (each === '[') return '\\[';
    if (each === '\\b') return '\\x08';
    if (each === '\\s') return spaces;
    return each === '\\S' ? others : translatedEscape(each);
  });
  return `[${inside}]`;
}

function translatedEscape(part: string): string {
  const [, control] = /^\\c(.)$/.exec(part) ?? [];
  if (control) return inHex(control.charCodeAt(0) % 32);
  if (/^\\[ux]/.test(part)) return inHex(codePointOf(part));
  return part.replace(/^(\\[pP]\{)(?:Script|sc|General_Category|gc)=/, '$1');
}

/** Of `\x41`, `\u0041`, `\u{41}` or `\ud83d\ude00`. */
function codePointOf(part: string): number {
  const units = (part.match(/[\da-fA-F]+/g) ?? []).map((digits) => Number.parseInt(digits, 16));
  return units.length === 1 ? (units[0] ?? 0) : (String.fromCharCode(...units).codePointAt(0) ?? 0);
}

function inHex(code: number): string {
  return `\\x{${code.toString(16)}}`;
}
