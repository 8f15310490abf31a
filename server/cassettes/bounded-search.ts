import { mergeRanges } from '../exchange/redact/find-secrets.ts';
import { maxMatchedLength } from '../ground/bounded-pattern.ts';

/** The overlap of two windows. A longer match at their border may be found only in part. */
const overlap = 1_024;

export interface TextRange {
  start: number;
  end: number;
}

/**
 * All matches in a text of any length, in order and without overlaps. Each search sees a window of `maxMatchedLength`
 * characters, so that backtracking is bounded. `regexp` needs the flag `g`.
 */
export function findAll(text: string, regexp: RegExp): TextRange[] {
  const ranges: TextRange[] = [];
  for (let from = 0; from < text.length; from += maxMatchedLength - overlap) {
    const window = text.slice(from, from + maxMatchedLength);
    for (const match of window.matchAll(regexp)) {
      if (match[0] !== '') ranges.push({ start: from + match.index, end: from + match.index + match[0].length });
    }
    if (from + maxMatchedLength >= text.length) break;
  }
  return mergeRanges(ranges);
}

/** The text with each of the ranges replaced. */
export function replaceRanges(text: string, ranges: readonly TextRange[], by: string): string {
  if (ranges.length === 0) return text;
  let at = 0;
  let result = '';
  for (const { start, end } of ranges) {
    result += text.slice(at, start) + by;
    at = end;
  }
  return result + text.slice(at);
}
