/** Recognises secrets by their form, in team presets and log lines. `secret-header.ts` recognises headers by name. */

import { secretPatterns } from './secret-rules.ts';

const secretShapes: readonly RegExp[] = [
  // Key prefixes of known services.
  /\b(sk|pk|rk)[-_][A-Za-z0-9_-]{16,}/,
  /\b(gsk|hf|r8|ghp|gho|github_pat|glpat|nvapi|xai|pplx|csk|tvly)[-_][A-Za-z0-9_-]{16,}/,
  /\bAIza[A-Za-z0-9_-]{30,}/,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/,
  /(?<![\w-])(?=[\w-]*eyJ[\w-]{10})[\w-]+\.[\w-]{10,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
];
/** For header values only: in a URL such a sequence may be an account name, and "basic" is a common word. */
const secretHeaderValue = /[A-Fa-f0-9]{32,}|[A-Za-z0-9+/_-]{40,}|^(bearer|basic)\s/i;

/** A broad guess: false positives are acceptable, because a preset's author can reword the text. */
export function looksLikeSecret(text: string): boolean {
  return secretShapes.some((shape) => shape.test(text)) || secretRanges(text).length > 0;
}

const searched = secretPatterns.map(({ source, keeps }) => ({ regexp: new RegExp(source, 'g'), keeps }));
/** The longest text without anything that a pattern could find. */
const shortestShape = 15;

interface TextRange {
  start: number;
  end: number;
}

/** What has the form of a key, in no order. Narrower than `secretShapes`, because names of models must stay readable. */
export function secretRanges(text: string): TextRange[] {
  if (text.length < shortestShape) return [];
  return searched.flatMap(({ regexp, keeps }) =>
    [...text.matchAll(regexp)].map(({ index, 0: match }) => ({ start: index + keeps, end: index + match.length })),
  );
}

/** How much of a long text is searched in one step, and how much of what follows is seen with it. */
const stepLength = 64 * 1024;
const longestShape = 16 * 1024;

/** The same in steps, for long texts. Of what is longer than `longestShape` only the beginning need be found. */
export function* secretRangeSteps(text: string): Generator<void, TextRange[], undefined> {
  if (text.length <= stepLength) return secretRanges(text);
  const ranges: TextRange[] = [];
  for (const { regexp, keeps } of searched) {
    let at = 0;
    for (let end = stepLength; end - stepLength < text.length; end += stepLength) {
      at = Math.max(at, end - stepLength);
      at = findInStep(text, { at, end }, regexp, (index, matchEnd) =>
        ranges.push({ start: index + keeps, end: matchEnd }),
      );
      yield;
    }
  }
  return ranges;
}

/** Finds what begins between `at` and `end`. Returns the end of the last match. */
function findInStep(
  text: string,
  { at, end }: { at: number; end: number },
  regexp: RegExp,
  found: (index: number, end: number) => void,
): number {
  const seen = text.slice(0, end + longestShape);
  let next = at;
  regexp.lastIndex = next;
  for (let match = regexp.exec(seen); match && match.index < end; match = regexp.exec(seen)) {
    if (regexp.lastIndex === seen.length && seen.length < text.length) {
      regexp.lastIndex = match.index;
      regexp.exec(text);
    }
    next = regexp.lastIndex;
    found(match.index, next);
  }
  return next;
}

/** Replaces secrets in a short text. */
export function redactSecretShapes(text: string): string {
  if (text.length < shortestShape) return text;
  return searched.reduce(
    (redacted, { regexp, keeps }) => redacted.replace(regexp, (match) => `${match.slice(0, keeps)}[redacted]`),
    text,
  );
}

export function looksLikeSecretInHeader(value: string): boolean {
  return looksLikeSecret(value) || secretHeaderValue.test(value);
}

/** Whether a URL contains a user name or a password. */
export function hasUserInfo(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && (url.username !== '' || url.password !== '');
}
