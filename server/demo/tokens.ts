/**
 * Splits a text into tokens of up to four characters, each including the white space before it. Joined, they give the
 * text.
 */
export function tokenize(text: string): string[] {
  return text.match(/\s*\S{1,4}|\s+$/gu) ?? [];
}

export function countTokens(text: string): number {
  return tokenize(text).length;
}

/** The first `maxTokens` tokens of a text; `isCut` if the text was longer. */
export function limitTokens(text: string, maxTokens: number): { text: string; isCut: boolean } {
  const tokens = tokenize(text);
  return { text: tokens.slice(0, maxTokens).join(''), isCut: tokens.length > maxTokens };
}
