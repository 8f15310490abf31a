/** What a provider said of its failure, without the status that stands beside it. */
export function wordsOf(error: string): string {
  return error.replace(/^status \d{3}: /, '');
}
