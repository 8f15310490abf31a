/**
 * The words of a captured body or an error, by which both stores find it, and the words of a search. The stores' indexes
 * split and convert nothing themselves, so that they find the same. Runs in linear time.
 */

/** Chinese, Japanese and Korean are written without spaces, so each character counts as a word. */
const wordCharacter = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]/g;
/** Longer runs without a space are Base64 or hashes, which are not worth indexing. */
const maxRunLength = 100;
const separators = /[\s"'{}[\]():,;<>=&|`]+/;
/** The characters of words: those of `unicode61`, SQLite's tokenizer. Signs such as `.`, `/`, `@` and `_` separate them. */
const lettersAndDigits = /[\p{L}\p{N}\p{Co}]+/gu;
const accents = /[\u0300-\u036f]/g;
const escapes = /\\(?:u([0-9a-fA-F]{4})|(.))/g;
/** Fields that hold a piece of the answer in an event of OpenAI's, Anthropic's or Gemini's streams, or an error's message. */
const pieces =
  /"(?:content|text|delta|arguments|partial_json|thinking|reasoning|reasoning_content|refusal|message|name)" ?: ?"((?:[^"\\]|\\.)*)"/g;
const eventStream = /^\s*(?:data|event|id|retry)?:/;

/** The words of JSON, of an event stream (whose pieces of text are joined), or of plain text, separated by spaces. */
export function searchableText(body: string): string {
  const text = eventStream.test(body.slice(0, 100)) ? joinedPieces(body) : body;
  return wordsOf(plainForm(text.replace(escapes, unescaped))).join(' ');
}

/**
 * The words of a search, in plain form. What is written without a space, such as a path or an address, is a phrase: its
 * words are found side by side only. The last word may be the beginning of one.
 */
export function phrasesOf(search: string): string[][] {
  return phrasesIn(plainForm(search));
}

/** Whether words, separated by single spaces, contain all phrases of a search, as the stores' indexes find them. */
export function containsPhrases(words: string, phrases: readonly (readonly string[])[]): boolean {
  const ending = (index: number) => (index === phrases.length - 1 ? '' : ' ');
  return phrases.every((phrase, index) => ` ${words} `.includes(` ${phrase.join(' ')}${ending(index)}`));
}

/** A query of FTS5 that finds texts with all phrases of the search. Null if the search contains no word. */
export function matchOf(search: string): string | null {
  const match = ftsOf(phrasesOf(search));
  if (match === null) return null;
  // Texts that earlier builds indexed have the form that SQLite's tokenizer made of them, which it makes of this too.
  const earlier = ftsOf(phrasesIn(search.toLowerCase()));
  return earlier === match || earlier === null ? match : `(${match}) OR (${earlier})`;
}

function ftsOf(phrases: readonly (readonly string[])[]): string | null {
  return phrases.length === 0 ? null : `${phrases.map((words) => `"${words.join(' ')}"`).join(' ')}*`;
}

function phrasesIn(search: string): string[][] {
  return search
    .split(/\s+/)
    .map(wordsOf)
    .filter((words) => words.length > 0);
}

/**
 * Without case and accents, however they are encoded. Only the marks of Latin, Greek and Cyrillic letters are removed:
 * those of other scripts distinguish words.
 */
function plainForm(text: string): string {
  const letters = text.normalize('NFD').replace(accents, '').normalize('NFC');
  // To capitals and back, because letters such as ß, ſ and ς have the same capitals as others.
  return letters.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** In their order. */
function wordsOf(text: string): string[] {
  return runsOf(text).flatMap((run) => run.match(lettersAndDigits) ?? []);
}

/** What is written without a space or a sign of JSON or code, in its order. */
export function runsOf(text: string): string[] {
  return text
    .replace(wordCharacter, ' $& ')
    .split(separators)
    .filter((run) => run !== '' && run.length <= maxRunLength);
}

/** Whether the word is one character of a language without spaces. */
export function isWordCharacter(word: string): boolean {
  return word.length === 1 && word.search(wordCharacter) === 0;
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
