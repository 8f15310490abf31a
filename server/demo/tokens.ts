/**
 * The demo's tokens. A token is a word or a piece of one: up to four characters that are no white space, with the white space
 * before them. So a text is exactly its tokens joined, and the same text always counts the same, streamed or not.
 */
export function tokenize(text: string): string[] {
  return text.match(/\s*\S{1,4}|\s+$/gu) ?? [];
}

export function countTokens(text: string): number {
  return tokenize(text).length;
}

/** The beginning of a text up to so many tokens; `isCut` if something was left off. */
export function limitTokens(text: string, maxTokens: number): { text: string; isCut: boolean } {
  const tokens = tokenize(text);
  return { text: tokens.slice(0, maxTokens).join(''), isCut: tokens.length > maxTokens };
}
