import { expect, test } from 'vitest';
import { redactBytes, redactText } from '../../../server/exchange/redact-credential.ts';

const bearer = { id: 'c1', headers: { authorization: 'Bearer sk-planted-1' } };
const azure = { id: 'c1', headers: { 'api-key': 'planted.$&-2' } };

test.each([
  ['Incorrect key: Bearer sk-planted-1, sk-planted-1.', bearer, 'Incorrect key: Bearer [credential], [credential].'],
  ['planted.$&-2', azure, '[credential]'],
  ['req_1', bearer, 'req_1'],
  ['sk-planted-1', null, 'sk-planted-1'],
])('%j is told without its credential', (text, credential, told) => {
  expect(redactText(text, credential)).toBe(told);
});

test('a short credential, which stands in many a text by chance, is left', () => {
  expect(redactText('not one of ollama', { id: 'c1', headers: { authorization: 'Bearer ollama' } })).toBe(
    'not one of ollama',
  );
});

test('bytes keep what is around the credential, whatever it is, and are not copied without one', () => {
  const around = Buffer.from([0, 0xff, 0xc3, 0x28]);
  const redacted = redactBytes(Buffer.concat([around, Buffer.from('sk-planted-1'), around]), bearer);
  expect(redacted).toEqual(Buffer.concat([around, Buffer.from('[credential]'), around]));
  expect(redactBytes(around, bearer)).toBe(around);
});
