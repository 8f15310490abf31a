import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { escapeBeyondAscii } from '../../build/ascii-only.ts';
import { checkout } from '../support/program.ts';

test('code without characters beyond ASCII says the same as before', () => {
  const code = "const größe = { 'é': '漢字 😀', [`–…`]: /^[–😀]$/u.test('😀') }; größe";
  const escaped = escapeBeyondAscii(code);
  expect(escaped).toMatch(/^[\0-\x7f]*$/);
  expect({ ...runInNewContext(escaped) }).toEqual({ é: '漢字 😀', '–…': true });
});

test('the bundle takes in place of iconv-lite all that packages use of it, for the only encoding of its bodies', async () => {
  const lighter = await import(join(checkout, 'build/iconv-lite.js'));
  const files = ['body-parser/lib/read.js', 'raw-body/index.js'];
  const texts = files.map((file) => readFileSync(join(checkout, 'node_modules', file), 'utf8'));
  const used = texts.flatMap((text) => [...text.matchAll(/\biconv\.(\w+)/g)].map(([, name]) => name));
  expect(new Set(used)).toEqual(new Set(Object.keys(lighter)));
  const bytes = Buffer.from('\ufeffé€');
  const decoder = lighter.getDecoder();
  expect(decoder.write(bytes.subarray(0, 6)) + decoder.write(bytes.subarray(6)) + decoder.end()).toBe('é€');
  expect(lighter.decode(bytes)).toBe('é€');
  expect(['utf-8', 'UTF8', 'utf-16', 'latin1'].map(lighter.encodingExists)).toEqual([true, true, false, false]);
});
