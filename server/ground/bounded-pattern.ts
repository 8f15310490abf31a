/**
 * Regular expressions for untrusted text. They are matched only against the beginning of the text, so that backtracking
 * is bounded. `test/server/patterns.test.ts` finds all of them and tests their worst case.
 */

/** Sufficient for any message, header or key. */
export const maxMatchedLength = 4096;

export interface BoundedPattern {
  test(text: string): boolean;
  exec(text: string): RegExpExecArray | null;
}

/** `regexp` must not have the flags `g` and `y`, which carry state. */
export function boundedPattern(regexp: RegExp): BoundedPattern {
  return {
    test: (text) => regexp.test(beginningOf(text)),
    exec: (text) => regexp.exec(beginningOf(text)),
  };
}

function beginningOf(text: string): string {
  return text.length > maxMatchedLength ? text.slice(0, maxMatchedLength) : text;
}
