import { expect, test } from 'vitest';
import { GatewayError } from '../../../../server/contract/errors.ts';
import { readValkeyAddress } from '../../../../server/team/valkey/valkey-address.ts';

test.each([
  ['valkey://h', { host: 'h', port: 6379, isEncrypted: false, database: 0, shown: 'valkey://h:6379' }],
  ['redis://h:1/2', { host: 'h', port: 1, isEncrypted: false, database: 2, shown: 'redis://h:1/2' }],
  ['rediss://u:a%40b@h', { user: 'u', password: 'a@b', isEncrypted: true, shown: 'rediss://h:6379' }],
  ['valkeys://:x@[::1]:7', { host: '::1', port: 7, user: undefined, password: 'x', shown: 'valkeys://[::1]:7' }],
])('%s is read', (url, read) => {
  expect(readValkeyAddress(url)).toMatchObject(read);
});

test.each([
  '',
  'valkey.example',
  'http://h',
  'valkey://',
  'valkey://h/x',
  'valkey://:top-secret@h?tls=1',
  'redis://:top-secret%@h',
])('%j ends the start with a line that does not repeat it', (url) => {
  const refused = () => readValkeyAddress(url);
  expect(refused).toThrow(GatewayError);
  expect(refused).not.toThrow(/top-secret/);
  expect(refused).toThrow(/valkey:\/\/USER:PASSWORD@HOST:PORT\/DATABASE/);
});
