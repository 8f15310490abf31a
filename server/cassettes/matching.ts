/** The compiled rules of `cassette.json`, and the parts of a request that are compared. */

import { mergeRanges } from '../exchange/redact/find-secrets.ts';
import { maxMatchedLength } from '../ground/bounded-pattern.ts';
import { type CanonicalRules, canonicalJson, comparedBody, hashOf, strictRules } from './canonical.ts';
import { type CassetteSettings, ignoredByDefault } from './cassette-settings.ts';
import type { RecordedRequest } from './format.ts';
import { LinearPattern, type TextRange } from './linear-pattern.ts';

/** The overlap of two windows. A longer match at their border may be found only in part. */
const overlap = 1_024;

/** Texts that clients put into prompts and ids: today's date, the time, a session. */
const changingTexts: readonly RegExp[] = [
  // Does not use `\b`, because Codex puts `msg_` before them.
  /(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])/gi,
  /\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?/g,
];

/**
 * Two requests with the same `strict` hash are equal; two with the same `loose` hash are equal except for ignored
 * parts. Recordings with the same `strict` hash are preferred, so that tests that depend on dates or users find their
 * own.
 */
export interface MatchKeys {
  strict: string;
  loose: string;
}

export class Matching {
  readonly loose: CanonicalRules;
  /** Patterns of texts to redact, in addition to the known forms of keys. */
  readonly redactions: readonly LinearPattern[];

  constructor({ ignore, compare, ignoreText, redact }: CassetteSettings) {
    const paths = [...ignoredByDefault.filter((path) => !compare.includes(path)), ...ignore];
    const patterns = ignoreText.map((source) => new LinearPattern(source));
    this.loose = {
      ignored: paths.map((path) => path.split('.')),
      text: (text) => {
        const constant = changingTexts.reduce(
          (masked, each) => replaceRanges(masked, findAll(masked, each), '*'),
          text,
        );
        return patterns.reduce((masked, each) => replaceRanges(masked, each.findAll(masked), '*'), constant);
      },
    };
    this.redactions = redact.map((source) => new LinearPattern(source));
  }

  keysOf(request: RecordedRequest): MatchKeys {
    return { strict: hashOf(request, strictRules), loose: hashOf(request, this.loose) };
  }

  /** Hashes of the parts of a request. The more of them two requests share, the more similar they are. */
  partsOf(request: RecordedRequest): Uint32Array {
    const body = comparedBody(request);
    const parts = [`${request.method} ${request.path.split('?')[0]}`, `? ${request.path}`];
    if (typeof body === 'object' && body !== null) {
      for (const [name, value] of Object.entries(body)) {
        const items = Array.isArray(value) ? value.slice(0, maxItems) : [value];
        for (const item of items) parts.push(`${name} ${canonicalJson(item, this.loose)}`);
      }
    }
    return Uint32Array.from(parts.slice(0, maxParts), hashOfText);
  }
}

/** Bounds the memory for each recording. */
const maxParts = 64;
const maxItems = 32;

/** FNV-1a of the text's beginning and its length. */
function hashOfText(text: string): number {
  let hash = 0x811c9dc5 ^ text.length;
  const length = Math.min(text.length, 4_096);
  for (let at = 0; at < length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/**
 * All matches in a text of any length, in order and without overlaps. Each search sees a window of `maxMatchedLength`
 * characters, so that backtracking is bounded. `regexp` needs the flag `g`.
 */
function findAll(text: string, regexp: RegExp): TextRange[] {
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
function replaceRanges(text: string, ranges: readonly TextRange[], by: string): string {
  if (ranges.length === 0) return text;
  let at = 0;
  let result = '';
  for (const { start, end } of ranges) {
    result += text.slice(at, start) + by;
    at = end;
  }
  return result + text.slice(at);
}
