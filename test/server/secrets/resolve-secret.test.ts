import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { credentialSecretName, keySecretName, resolveSecret } from '../../../server/secrets/secret-store.ts';
import { createMemorySecretStore } from '../../support/stand-ins.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-secrets-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

const name = credentialSecretName('main', 'c1');
const sources = { name, store: createMemorySecretStore({ [name]: 'from the store' }), env: { A: ' a b ', EMPTY: '' } };

test('names are those of the store', () => {
  expect(name).toBe('provider/main/c1');
  expect(keySecretName('k1')).toBe('key/k1');
});

test('env, keychain and file give their values', async () => {
  await writeFile(join(folder, 'secret'), 'first line \nsecond\n\n');
  expect(await resolveSecret('env:A', sources)).toBe(' a b ');
  expect(await resolveSecret('keychain', sources)).toBe('from the store');
  expect(await resolveSecret(`file:${folder}/secret`, sources)).toBe('first line \nsecond\n');
});

test.each([
  ['value', 'value'],
  ['value\n', 'value'],
  ['value\r\n', 'value'],
  ['value \n\n', 'value \n'],
  ['\n', undefined],
  ['', undefined],
])('a file that holds %j gives %j', async (text, expected) => {
  await writeFile(join(folder, 'secret'), text);
  expect(await resolveSecret(`file:${folder}/secret`, sources)).toBe(expected);
});

test('a tilde stands for the home folder, and for nobody else', async () => {
  vi.stubEnv('HOME', folder);
  await mkdir(join(folder, 'keys'));
  await writeFile(join(folder, 'keys/main'), 'at home');
  expect(await resolveSecret('file:~/keys/main', sources)).toBe('at home');
  expect(await resolveSecret('file:~other/keys/main', sources)).toBeUndefined();
});

test.each(['env:UNSET', 'env:EMPTY'])('%s has no value', async (reference) => {
  expect(await resolveSecret(reference, sources)).toBeUndefined();
});

test('a file or item that is not there has no value', async () => {
  expect(await resolveSecret(`file:${folder}/none`, sources)).toBeUndefined();
  expect(await resolveSecret('keychain', { ...sources, name: keySecretName('none') })).toBeUndefined();
});

test('a file that cannot be read is named', async () => {
  await expect(resolveSecret(`file:${folder}`, sources)).rejects.toThrow(
    `file:${folder} cannot be read: it is a folder (EISDIR).`,
  );
});

test('a secret typed in place of a reference is refused without being repeated', async () => {
  const error = await resolveSecret('sk-planted', sources).catch((reason: unknown) => reason);
  expect(String(error)).toContain(name);
  expect(String(error)).not.toContain('sk-planted');
});
