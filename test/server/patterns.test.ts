/**
 * Finds all regular expressions in the engine's sources, and checks that none is slow on untrusted input.
 *
 * @suite measured
 */
import { expect, test } from 'vitest';
import { boundedPattern, maxMatchedLength } from '../../server/ground/bounded-pattern.ts';
import { cpuMsOf, leastWorkOf } from '../support/cpu-work.ts';
import { findPatterns } from '../support/engine-patterns.ts';
import { pumpsOf } from '../support/pattern-pumps.ts';

const { found, made } = findPatterns();

/** Folders whose code handles data from clients and upstreams; `provider/` and `vertex/` read the configuration. */
const meetsStrangers = /^(?:apis\/(?!\w+\/(?:provider|vertex)\/)|(?:exchange|http|models|routing)\/)/;

/** Files in these folders whose patterns only see short texts, or must see the whole text. */
const bounded: Record<string, string> = {
  'exchange/attempts/content-redirect.ts': 'a header of an upstream, bounded by undici; all of it has to be seen',
  'exchange/redact/find-secrets.ts': 'headers, addresses and names; all of each has to be seen',
  'exchange/outgoing/outgoing-headers.ts': 'names of headers, which Node bounds',
  'exchange/readers/event-shape.ts': 'an event of at most 4 kB',
  'exchange/redact/redact-credential.ts': 'a credential of the configuration',
  'exchange/redact/redact-headers.ts': 'headers; all of each has to be seen',
  'http/app.ts': 'a URL, which Node bounds with the headers',
  'http/body/form-guard.ts': 'the headers of a part, which are bounded; all of them have to be seen',
  'http/body/check-content-type.ts': 'headers of a client, or of a part, which are bounded',
  'http/body/multipart-splice.ts': 'the headers of a part, which are bounded',
  'http/body/multipart.ts': 'headers of a client, which Node bounds',
  'http/server.ts': 'what the system says of this process',
  'http/guards.ts': 'headers of a client, which Node bounds',
  'routing/compile.ts': 'the configuration',
  'apis/neutral/json-text.ts': 'a whole body, all of which has to be seen; names of at most 40 characters',
  'apis/core/errors/told-wait.ts': 'the first 1,024 characters of a header; no repetition',
  'apis/core/errors/context-overflow.ts': 'the first 1,024 characters of an error',
  'apis/core/requests/client-credentials.ts': 'names of at most 100 characters',
  'apis/core/requests/deciding-fields.ts': 'a name of at most 200 characters',
  'apis/core/requests/turn-step.ts': 'the ends of a message, of 64 kB; words without repetition',
  'apis/core/usage/price-terms.ts': 'the kept pieces of an answer, at most 1 MB; words without repetition',
  'apis/core/usage/estimate-tokens.ts': 'single characters',
  'apis/openai/usage/worst-usage.ts': 'at most 16 characters',
  'apis/openai/usage/usage.ts': 'a content type, or at most 64 bytes',
  'exchange/redact/event-frames.ts': 'the payload of a frame, all of which has to be seen',
  'exchange/redact/redactor.ts': 'single characters',
  'exchange/redact/string-places.ts': 'the first 80 bytes of a body, 12 of a line and 9 of a number',
  'models/model-families.ts': 'words of names of models, which are bounded',
  'routing/deny-rules.ts': 'names of models; all of each has to be seen',
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
    'cassettes/translate-pattern.ts',
    'cassettes/translate-pattern.ts',
    'cassettes/translate-pattern.ts',
    'contract/secret-shape.ts',
    'contract/team-preset.ts',
    'exchange/redact/find-secrets.ts',
    'http/body/check-content-type.ts',
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
