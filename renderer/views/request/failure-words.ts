/** What the record of an attempt tells of its failure. Pure. */

interface FailureWords {
  /** `connection`: the words of what carries the call, which the provider never said. */
  by: 'provider' | 'connection' | 'sluice';
  /** The provider's status, where it answered. */
  status: string | null;
  /** Empty if a provider gave its status alone. */
  words: string;
}

/** The engine notes `status 401: …` for an answer, a sentence of its own for what was wrong with one, and else the transport's reason. */
export function failureWordsOf(error: string): FailureWords {
  const answer = /^status (\d{3})(?:: (.*))?$/s.exec(error);
  if (answer) return { by: 'provider', status: answer[1] ?? null, words: answer[2] ?? '' };
  const isSentence = /[.。!?]$/.test(error);
  return { by: isSentence ? 'sluice' : 'connection', status: null, words: error };
}
