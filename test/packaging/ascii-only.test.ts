import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { escapeBeyondAscii } from '../../build/ascii-only.ts';

test('code without characters beyond ASCII says the same as before', () => {
  const code = "const größe = { 'é': '漢字 😀', [`–…`]: /^[–😀]$/u.test('😀') }; größe";
  const escaped = escapeBeyondAscii(code);
  expect(escaped).toMatch(/^[\0-\x7f]*$/);
  expect({ ...runInNewContext(escaped) }).toEqual({ é: '漢字 😀', '–…': true });
});
