import { describe, expect, test } from 'vitest';
import { notedText, redactBytes, redactText, secretsOf } from '../../../../server/exchange/redact/redact-credential.ts';

const bearer = secretsOf([], { id: 'c1', headers: { authorization: 'Bearer sk-planted-1' } });
const azure = secretsOf(['key-of-the-client'], { id: 'c1', headers: { 'api-key': 'planted.$&-2' } });

test.each([
  ['Incorrect key: Bearer sk-planted-1, sk-planted-1.', bearer, 'Incorrect key: Bearer [redacted], [redacted].'],
  ['planted.$&-2', azure, '[redacted]'],
  ['user key-of-the-client', azure, 'user [redacted]'],
  ['sk-pl\\u0061nted-1 and sk%2Dplanted%2D1', bearer, '[redacted] and [redacted]'],
  ['req_1', bearer, 'req_1'],
  ['sk-planted-1', [], 'sk-planted-1'],
  ['naïve 漢 sk-planted-1', bearer, 'naïve 漢 [redacted]'],
])('%j is recorded without the secret part', (text, secrets, told) => {
  expect(redactText(text, secrets)).toBe(told);
});

test('a short credential, which occurs in many texts by chance, is not removed', () => {
  const secrets = secretsOf([], { id: 'c1', headers: { authorization: 'Bearer ollama' } });
  expect(redactText('not one of ollama', secrets)).toBe('not one of ollama');
});

describe('bytes', () => {
  const around = Buffer.from([0, 0xff, 0xc3, 0x28]);

  test('keep what is around the secret, whatever it is, and are not copied without one', () => {
    const redacted = redactBytes(Buffer.concat([around, Buffer.from('sk-planted-1'), around]), bearer);
    expect(redacted).toEqual(Buffer.concat([around, Buffer.from('[redacted]'), around]));
    expect(redactBytes(around, bearer)).toBe(around);
  });

  test('that are cut leave no half of a secret', () => {
    const text = Buffer.from('before sk-planted-1 after');
    expect(redactBytes(text, bearer, 3).toString()).toBe('bef');
    for (let kept = 8; kept < 19; kept++) expect(redactBytes(text, bearer, kept).toString()).toBe('before [redacted]');
    expect(redactBytes(text, bearer, 21).toString()).toBe('before [redacted] a');
  });
});

describe('a recorded name or message', () => {
  test.each([
    ['gpt-5.1', 'gpt-5.1'],
    ['xai-grok-4-fast-reasoning', 'xai-grok-4-fast-reasoning'],
    ['hf-mistral-7b-instruct-v0.2', 'hf-mistral-7b-instruct-v0.2'],
    ['task-sk-8', 'task-sk-8'],
    ['OpenAI/Python 2.1', 'OpenAI/Python 2.1'],
    [`sk-sluice-${'a1'.repeat(24)}`, '[redacted]'],
    [`openai/sk-proj-${'a1_-'.repeat(20)}`, 'openai/[redacted]'],
    [`gsk_${'Ab1'.repeat(17)}`, '[redacted]'],
    [`curl (AIza${'x'.repeat(35)})`, 'curl ([redacted])'],
    ['tool Bearer whatever-it-is', 'tool Bearer [redacted]'],
    ['the key-of-the-client', 'the [redacted]'],
  ])('%s stands as %s', (text, told) => expect(notedText(text, ['key-of-the-client'], 200)).toBe(told));

  test('is cut after the secrets are out, and leaves no half of one', () => {
    const text = `${'x'.repeat(1_020)}key-of-the-client`;
    expect(notedText(text, ['key-of-the-client'], 2_000)).not.toContain('key-');
    expect(notedText('x'.repeat(5_000), ['key-of-the-client'], 200)).toBe('x'.repeat(200));
    expect(notedText('a key-of-the-client', ['key-of-the-client'], 6)).toBe('a [red');
  });
});
