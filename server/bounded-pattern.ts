/**
 * Regular expressions for text that strangers send. Each sees the beginning of a text alone, so that none can take long on a
 * text of any length; `test/server/patterns.test.ts` finds all of them and holds that none is slow on that much.
 */

/** What tells anything of a message, a header or a key stands in so many characters. */
export const maxMatchedLength = 4096;

export interface BoundedPattern {
  test(text: string): boolean;
  exec(text: string): RegExpExecArray | null;
}

/** `regexp` must not have the flags `g` and `y`, which carry state. */
export function pattern(regexp: RegExp): BoundedPattern {
  return {
    test: (text) => regexp.test(beginningOf(text)),
    exec: (text) => regexp.exec(beginningOf(text)),
  };
}

function beginningOf(text: string): string {
  return text.length > maxMatchedLength ? text.slice(0, maxMatchedLength) : text;
}
