/**
 * Texts on which a regular expression may be slow: repeated pieces that match, followed by something that does not. The
 * method is crude, but every slow pattern found so far is slow on one of them.
 */

/** One sample per token: a letter for a class, the literal itself, and nothing for tokens without width. */
function samplesOf(source: string, preferred: string): string[] {
  const tokens = source.matchAll(
    /\\u\{[\da-f]+\}|\\[pP]\{[^}]*\}|\\x[\da-f]{2}|\\u[\da-f]{4}|\\.|\[\^?(?:\\.|[^\]\\])*\]|\(\?(?:<?[=!]|:|<\w+>)|\{\d*,?\d*\}|[()|*+?^$]|./gis,
  );
  return [...tokens].map(([token]) => sampleOf(token, preferred));
}

const classes: Record<string, string> = { s: ' ', d: '1', w: 'a', S: 'a', D: 'a', W: '-', n: '\n', r: '\r', t: '\t' };

function sampleOf(token: string, preferred: string): string {
  if (token.startsWith('[')) return [...preferred].find((sign) => matches(token, sign)) ?? firstOf(token);
  if (/^\\[pP]/.test(token)) return 'a';
  if (/^\\[xu]/.test(token)) return String.fromCharCode(Number.parseInt(token.replace(/\W|[xu]/g, ''), 16));
  if (token.startsWith('\\')) return classes[token[1] ?? ''] ?? (/\w/.test(token[1] ?? '') ? '' : (token[1] ?? ''));
  return /^(?:[()|*+?^$]|\(\?.*|\{.*\})$/s.test(token) ? '' : token === '.' ? 'a' : token;
}

function matches(characterClass: string, sign: string): boolean {
  return new RegExp(characterClass, 'i').test(sign);
}

function firstOf(characterClass: string): string {
  return (
    [...Array(128).keys()].map((code) => String.fromCharCode(code)).find((sign) => matches(characterClass, sign)) ?? ''
  );
}

const longestWord = 24;
const plain = ['a', ' ', '1', '-', '.', '"', '\\', '\n', '/'];
/** Endings that most patterns do not match. */
const ends = ['', '\0', '!x'];

/** Each has `length` characters. */
export function pumpsOf({ source }: RegExp, length: number): string[] {
  const words = new Set(plain);
  for (const preferred of ['ae1 -"\n', '-. "1a'])
    for (const word of wordsOf(samplesOf(source, preferred))) words.add(word);
  const repeated = [...words].map((word) => word.repeat(Math.ceil(length / word.length)));
  const led = [...prefixesOf(samplesOf(source, 'a1- '))].flatMap((prefix) =>
    plain.map((sign) => prefix + sign.repeat(length)),
  );
  const texts = new Set([...repeated, ...led].map((text) => text.slice(0, length)));
  return [...texts].flatMap((text) => ends.map((end) => text.slice(0, length - end.length) + end));
}

/** Sequences of samples that begin or end where the pattern can branch, or at its beginning or end. */
function wordsOf(samples: readonly string[]): string[] {
  const words: string[] = [];
  for (let start = 0; start < samples.length; start++) {
    for (let end = start + 1; end <= Math.min(samples.length, start + longestWord); end++) {
      const isBorder = end === samples.length || start === 0 || samples[end] === '' || samples[start - 1] === '';
      if (isBorder) words.push(samples.slice(start, end).join(''));
    }
  }
  return words.filter((word) => word !== '');
}

function prefixesOf(samples: readonly string[]): Set<string> {
  const borders = [...samples.keys()].filter((at) => samples[at] === '');
  return new Set(['', ...borders.map((at) => samples.slice(0, at).join(''))]);
}
