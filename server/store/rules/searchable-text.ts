/**
 * Converts a captured body or an error to the words that the full-text index stores, and a search to the index's query
 * language. Runs in linear time.
 */

/** Chinese, Japanese and Korean are written without spaces, so each character counts as a word. */
const wordCharacter = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]/g;
/** Longer runs without a space are Base64 or hashes, which are not worth indexing. */
const maxWordLength = 100;
const separators = /[\s"'{}[\]():,;<>=&|`]+/;
const escapes = /\\(?:u([0-9a-fA-F]{4})|(.))/g;
/** Fields that hold a piece of the answer in an event of OpenAI's, Anthropic's or Gemini's streams, or an error's message. */
const pieces =
  /"(?:content|text|delta|arguments|partial_json|thinking|reasoning|reasoning_content|refusal|message|name)" ?: ?"((?:[^"\\]|\\.)*)"/g;
const eventStream = /^\s*(?:data|event|id|retry)?:/;

/** The words of JSON, of an event stream (whose pieces of text are joined), or of plain text. */
export function searchableText(body: string): string {
  const text = eventStream.test(body.slice(0, 100)) ? joinedPieces(body) : body;
  return wordsOf(text.replace(escapes, unescaped)).join(' ');
}

/**
 * A query of FTS5 that finds texts with all words of the search; the last one may be the beginning of a word. Null if the
 * search contains no word.
 */
export function matchOf(search: string): string | null {
  const phrases = search
    .split(/\s+/)
    .map((part) => wordsOf(part).join(' '))
    .filter((phrase) => /[\p{L}\p{N}]/u.test(phrase))
    .map((phrase) => `"${phrase}"`);
  return phrases.length === 0 ? null : `${phrases.join(' ')}*`;
}

/** Whether the word is one character of a language without spaces. */
export function isWordCharacter(word: string): boolean {
  return word.length === 1 && word.search(wordCharacter) === 0;
}

/** In their order. */
export function wordsOf(text: string): string[] {
  return text
    .replace(wordCharacter, ' $& ')
    .split(separators)
    .filter((word) => word !== '' && word.length <= maxWordLength);
}

function joinedPieces(stream: string): string {
  let joined = '';
  for (const [, piece] of stream.matchAll(pieces)) joined += piece;
  return joined;
}

function unescaped(_whole: string, code: string | undefined, letter: string | undefined): string {
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  return letter === undefined || 'nrtbf'.includes(letter) ? ' ' : letter;
}
