import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { containsSecret, findSecrets } from '../../../../server/exchange/redact/find-secrets.ts';

const secret = 'sk-planted+/"1 A~z';
const found = (text: string | Buffer, secrets = [secret]) => {
  const bytes = Buffer.from(text);
  return findSecrets(bytes, secrets).map(({ start, end }) => bytes.toString('latin1', start, end));
};
const hex = (byte: number, digits: number) => byte.toString(16).padStart(digits, '0');
const escaped = (write: (byte: number) => string) => [...Buffer.from(secret)].map(write).join('');

describe('a secret is found', () => {
  test.each<[string, string]>([
    ['as it is', secret],
    ['in JSON', JSON.stringify(secret).slice(1, -1)],
    ['in JSON within JSON', JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    ['with one letter escaped as in JSON', secret.replace('A', '\\u0041')],
    ['with a slash escaped as in JSON', secret.replace('/', '\\/').replace('"', '\\"')],
    ['with all of it escaped as in JSON', escaped((byte) => `\\u${hex(byte, 4)}`)],
    ['with all of it escaped as in programs', escaped((byte) => `\\x${hex(byte, 2).toUpperCase()}`)],
    ['in an address', encodeURIComponent(secret)],
    ['with all of it percent-encoded', escaped((byte) => `%${hex(byte, 2)}`)],
    ['percent-encoded twice', encodeURIComponent(encodeURIComponent(secret))],
    ['in HTML', escaped((byte) => `&#${byte};`)],
    ['in HTML by hexadecimal numbers', escaped((byte) => `&#x${hex(byte, 2)};`)],
    ['escaped in a mix', encodeURIComponent(secret.replace('A', '\\u0041'))],
  ])('%s', (_how, written) => {
    expect(found(`{"a":"${written}"} and ${written}.`)).toEqual([written, written]);
    expect(found(written)).toEqual([written]);
    expect(containsSecret(`a ${written}`, [secret])).toBe(true);
  });

  test.each(['', 'u', 'us', 'user:', 'a longer name:'])('in base64 behind %j', (before) => {
    for (const encoding of ['base64', 'base64url'] as const) {
      const written = Buffer.from(`${before}${secret}@`).toString(encoding);
      expect(containsSecret(`Basic ${written}`, [secret])).toBe(true);
      const [text = ''] = found(written);
      // What it shares with its neighbours may remain: less than two letters on each side.
      expect(text.length).toBeGreaterThanOrEqual(Math.floor((secret.length * 4) / 3) - 3);
    }
  });

  test('in either reading of bytes beyond ASCII', () => {
    const presented = Buffer.from('schlüssel-ключ').toString('latin1');
    expect(found('x schlüssel-ключ x', [presented])).toHaveLength(1);
    expect(found(presented, [presented])).toHaveLength(1);
    expect(containsSecret(encodeURIComponent('schlüssel-ключ'), [presented])).toBe(true);
  });
});

test('secrets that touch and overlap are one piece each, in order', () => {
  expect(found('xx-planted-1-planted-2-yy', ['planted-2', '-planted-1', 'planted-1-pl'])).toEqual([
    '-planted-1-planted-2',
  ]);
  expect(found('planted-1planted-1', ['planted-1'])).toEqual(['planted-1', 'planted-1']);
});

test.each(['', 'sk-planted', 'sk-planted+/"1 A~', '\\u00zz%zz&#;&#x;&#9999999;\\', secret.toUpperCase()])(
  'nothing is found in %j',
  (text) => expect(found(text)).toEqual([]),
);

test('a short secret, which occurs in many texts by chance, does not count', () => {
  expect(found('not one of ollama', ['ollama', ''])).toEqual([]);
  expect(containsSecret('ollama', ['ollama'])).toBe(false);
});

describe('any key of Sluice is found, presented or not', () => {
  const key = `sk-sluice-${'a1B2c3'.repeat(8)}`;

  test.each<[string, string]>([
    ['as it is', `file-${key}-1`],
    ['with a letter escaped', key.replace('s', '%73')],
    [
      'with all of it percent-encoded twice',
      encodeURIComponent([...key].map((one) => `%${hex(one.charCodeAt(0), 2)}`).join('')),
    ],
    ...['', 'u', 'me'].map((before): [string, string] => [
      `in base64 behind ${JSON.stringify(before)}`,
      Buffer.from(`${before}${key}`).toString('base64url'),
    ]),
  ])('%s', (_how, written) => expect(containsSecret(written, [])).toBe(true));

  test.each([
    'sk-sluice-',
    'sk-sluice-of-the-team',
    'task-sluice-runner/1.0 (linux; x64)',
    'https://sluice.example/sk',
  ])('%s is none', (text) => expect(containsSecret(text, [])).toBe(false));
});

test('within any text exactly the secret is found', () => {
  const around = fc.array(fc.constantFrom('\\', '%', '&#', '%2', '\\u00', 'é', '\0', 'sk-', '"', '\n', 'x'), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(around, around, fc.boolean(), (before, after, isEscaped) => {
      const written = isEscaped ? escaped((byte) => `\\u${hex(byte, 4)}`) : secret;
      // The letter `x` prevents the preceding text from being the beginning of an escape that includes the first
      // character.
      const text = Buffer.from(`${before.join('')}x${written}x${after.join('')}`);
      const [range, ...others] = findSecrets(text, [secret]);
      expect(others).toEqual([]);
      expect(text.toString('latin1', range?.start, range?.end)).toBe(Buffer.from(written).toString('latin1'));
    }),
  );
});
