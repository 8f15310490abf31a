/** Interprets the error recorded for an attempt. Pure. */

interface FailureWords {
  /** `connection`: an error of the transport, not of the provider. */
  by: 'provider' | 'connection' | 'sluice';
  /** The provider's status, if it answered. */
  status: string | null;
  /** Empty if the provider sent only a status. */
  words: string;
}

/**
 * The engine records `status 401: …` for an error response, a sentence of its own for a faulty answer, and otherwise
 * the transport's error.
 */
export function failureWordsOf(error: string): FailureWords {
  const answer = /^status (\d{3})(?:: (.*))?$/s.exec(error);
  if (answer) return { by: 'provider', status: answer[1] ?? null, words: answer[2] ?? '' };
  const isSentence = /[.。!?]$/.test(error);
  return { by: isSentence ? 'sluice' : 'connection', status: null, words: error };
}
