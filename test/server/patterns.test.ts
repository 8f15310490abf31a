/**
 * Finds all regular expressions in the engine's sources, and checks that none is slow on untrusted input.
 *
 * @suite measured
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { parseSync } from 'vite';
import { expect, test } from 'vitest';
import { boundedPattern, maxMatchedLength } from '../../server/ground/bounded-pattern.ts';
import { cpuMsOf, leastWorkOf } from '../support/cpu-work.ts';

interface EnginePattern {
  /** Relative to `server/`, with `/`. */
  file: string;
  regexp: RegExp;
  /** Whether it is an argument of `boundedPattern`, and therefore only applied to the beginning of a text. */
  isBounded: boolean;
}

const folder = join(import.meta.dirname, '../../server');

/**
 * All regular expressions in the engine's sources, except those for what its user types on the command line. Those
 * built at run time are listed in `made`.
 */
function findPatterns(): { found: EnginePattern[]; made: string[] } {
  const found: EnginePattern[] = [];
  const made: string[] = [];
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.ts') || path.startsWith('cli')) continue;
    const file = path.split(sep).join('/');
    visit(parseSync(path, readFileSync(join(folder, path), 'utf8')).program, false, (node, isBounded) => {
      if (isRecord(node.regex)) {
        const { pattern, flags } = node.regex;
        found.push({ file, regexp: new RegExp(String(pattern), String(flags)), isBounded });
      } else if (node.type === 'NewExpression' && nameOf(node.callee) === 'RegExp') made.push(file);
    });
  }
  return { found, made };
}

type Node = Record<string, unknown>;

const isRecord = (value: unknown): value is Node => typeof value === 'object' && value !== null;
const nameOf = (node: unknown) => (isRecord(node) ? node.name : undefined);

function visit(node: unknown, isBounded: boolean, see: (node: Node, isBounded: boolean) => void): void {
  if (Array.isArray(node)) for (const item of node) visit(item, isBounded, see);
  else if (isRecord(node)) {
    see(node, isBounded);
    const isCall = node.type === 'CallExpression' && nameOf(node.callee) === 'boundedPattern';
    for (const value of Object.values(node)) visit(value, isCall, see);
  }
}

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
function pumpsOf({ source }: RegExp, length: number): string[] {
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

const { found, made } = findPatterns();

/** Folders whose code handles data from clients and upstreams; `provider/` and `vertex/` read the configuration. */
const meetsStrangers = /^(?:apis\/(?!\w+\/(?:provider|vertex)\/)|(?:exchange|http|models|routing)\/)/;

/** Files in these folders whose patterns only see short texts, or must see the whole text. */
const bounded: Record<string, string> = {
  'exchange/attempts/content-redirect.ts': 'a header of an upstream, bounded by undici; all of it has to be seen',
  'exchange/redact/find-secrets.ts': 'headers, addresses and names; all of each has to be seen',
  'exchange/outgoing/outgoing-request.ts': 'names of headers, which Node bounds',
  'exchange/readers/event-shape.ts': 'an event of at most 4 kB',
  'exchange/redact/redact-credential.ts':
    'headers, all of each of which has to be seen; a credential of the configuration',
  'http/app.ts': 'a URL, which Node bounds with the headers',
  'http/body/form-guard.ts': 'the headers of a part, which are bounded; all of them have to be seen',
  'http/body/content-headers.ts': 'headers of a client, or of a part, which are bounded',
  'http/body/incoming-body.ts': 'the headers of a part, which are bounded',
  'http/body/multipart.ts': 'headers of a client, which Node bounds',
  'http/server.ts': 'what the system says of this process',
  'http/guards.ts': 'headers of a client, which Node bounds',
  'routing/compile.ts': 'the configuration',
  'apis/neutral/json-text.ts': 'a whole body, all of which has to be seen; names of at most 40 characters',
  'apis/core/errors/told-wait.ts': 'the first 1,024 characters of a header; no repetition',
  'apis/core/errors/context-overflow.ts': 'the first 1,024 characters of an error',
  'apis/core/requests/client-credentials.ts': 'names of at most 100 characters',
  'apis/core/requests/deciding-fields.ts': 'a name of at most 200 characters',
  'apis/core/requests/segments.ts': 'names of models and objects, all of each of which has to be seen; no repetition',
  'apis/core/requests/turn-step.ts': 'the ends of a message, of 64 kB; words without repetition',
  'apis/core/usage/price-terms.ts': 'the kept pieces of an answer, at most 1 MB; words without repetition',
  'apis/core/usage/prompt-estimate.ts': 'single characters',
  'apis/openai/usage/usage.ts': 'a content type, or at most 64 bytes',
  'exchange/redact/redactor.ts': 'the payload of a frame, all of which has to be seen; single characters',
  'exchange/redact/string-places.ts': 'the first 80 bytes of a body, 12 of a line and 9 of a number',
  'models/model-facts.ts': 'words of names of models, which are bounded',
  'routing/compile-keys.ts': 'names of models; all of each has to be seen',
};

/** Linear patterns take four times as long for four times the length, and quadratic ones sixteen times. */
const mostGrowth = 9;
const longest = 4 * maxMatchedLength;
/** The end of a pump that is kept when it is shortened. */
const endLength = 8;
/** In multiples of the reference work. No acceptable pattern takes this long. */
const hopelessWork = 30;
/** Shorter durations cannot be distinguished from noise. */
const noiseWork = 0.5;
/** Shorter durations are not compared with the reference. */
const quickMs = 0.5;

test('all are found', () => {
  expect(found.length).toBeGreaterThan(100);
  expect(found.some(({ file, isBounded }) => file === 'apis/core/errors/verdict.ts' && isBounded)).toBe(true);
  expect(made.sort()).toEqual([
    'cassettes/linear-pattern.ts',
    'cassettes/linear-pattern.ts',
    'cassettes/linear-pattern.ts',
    'contract/secret-shape.ts',
    'contract/team-preset.ts',
    'exchange/redact/find-secrets.ts',
    'http/body/content-headers.ts',
    'providers/find-api.ts',
  ]);
});

test('none where strangers are met sees more than the beginning of a text', () => {
  const free = found.filter(({ file, isBounded }) => meetsStrangers.test(file) && !isBounded && !(file in bounded));
  expect(free.map(({ file, regexp }) => `${file}: ${regexp.source}`)).toEqual([]);
});

test('the wrapper passes over what is beyond', () => {
  const end = boundedPattern(/end/);
  expect(end.test(`${'x'.repeat(maxMatchedLength - 3)}end`)).toBe(true);
  expect(end.test(`${'x'.repeat(maxMatchedLength)}end`)).toBe(false);
  expect(end.exec(`${'x'.repeat(maxMatchedLength)}end`)).toBeNull();
});

test.each(found)('the time of $regexp in $file grows no faster than its text', async ({ regexp }) => {
  expect(await slowestOf(regexp)).toBeNull();
});

test.each([/"error"[\s\S]*?"code"/, /exceed\w*[^.]{0,60}context/, /^\s*(.*)\s*$x/, /\/+$/, /\beyJ[\w-]+\.[\w-]+x/])(
  'a pattern that goes back again and again is found: %s',
  async (regexp) => expect(await slowestOf(regexp)).not.toBeNull(),
);

/** A text for which the pattern takes disproportionately long; null if there is none. */
async function slowestOf(regexp: RegExp): Promise<string | null> {
  for (const pump of pumpsOf(regexp, longest)) {
    const texts = [longest / 16, longest / 4, longest].map(
      (length) => pump.slice(0, length - endLength) + pump.slice(-endLength),
    );
    if ((await isQuick(regexp, texts)) || !(await growsFaster(regexp, texts))) continue;
    return `more than its length explains for ${pump.slice(0, 40)}…`;
  }
  return null;
}

async function isQuick(regexp: RegExp, texts: readonly string[]): Promise<boolean> {
  for (const text of texts) if ((await cpuMsOf(() => text.search(regexp))) >= quickMs) return false;
  return true;
}

/**
 * Every one of several rounds must show the growth, because the first may include compilation or garbage collection.
 */
async function growsFaster(regexp: RegExp, texts: readonly string[], rounds = 3): Promise<boolean> {
  for (let round = 0; round < rounds; round++) if (!(await growsFasterOnce(regexp, texts))) return false;
  return true;
}

async function growsFasterOnce(regexp: RegExp, texts: readonly string[]): Promise<boolean> {
  let [before, last] = [0, 0];
  for (const text of texts) {
    before = last;
    last = await leastWorkOf(() => text.search(regexp), 0, 1);
    if (last > hopelessWork) return true;
  }
  return last > noiseWork && last / before > mostGrowth;
}
