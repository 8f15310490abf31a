import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createKeychainHelperStarter } from '../../electron/start-keychain-helper.ts';
import { createKeychainProcess, type KeychainProcess } from '../../server/secrets/keychain-process.ts';
import { checkout, ensureBuilt } from '../support/program.ts';

/** A keychain in the memory of one process, instead of the package that accesses the system's keychain. */
const inMemory = `
const secrets = new Map();
module.exports = {
  getPassword: async (service, account) => secrets.get(service + account) ?? null,
  setPassword: async (service, account, value) => void secrets.set(service + account, value),
  deletePassword: async () => { throw new Error('the keychain is locked') },
  findCredentials: () => new Promise(() => {}),
}`;

let folder: string;

beforeAll(ensureBuilt);
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function start(source: string): KeychainProcess {
  folder = mkdtempSync(join(tmpdir(), 'sluice-keytar-'));
  const path = join(folder, 'keytar.cjs');
  writeFileSync(path, source);
  return createKeychainProcess(path, createKeychainHelperStarter(join(checkout, 'dist/program/keychain-helper.js')));
}

describe('the keychain in a utility process', () => {
  it('answers call after call', async () => {
    const keytar = start(inMemory);
    await keytar('setPassword', ['sluice', 'a', 'secret'], 5_000);
    expect(await keytar('getPassword', ['sluice', 'a'], 60_000)).toBe('secret');
    expect(await keytar('getPassword', ['sluice', 'b'], 5_000)).toBeNull();
  });

  it('says why a call failed', async () => {
    await expect(start(inMemory)('deletePassword', ['sluice', 'a'], 5_000)).rejects.toThrow('the keychain is locked');
  });

  it('says that keytar does not load', async () => {
    const keytar = start("throw new Error('no libsecret')");
    await expect(keytar('getPassword', ['sluice', 'a'], 60_000)).rejects.toThrow('no libsecret');
  });

  it('abandons a process that hangs, and starts another for the next call', async () => {
    const keytar = start(inMemory);
    await expect(keytar('findCredentials', ['sluice'], 500)).rejects.toThrow('it did not answer within 0.5 s');
    expect(await keytar('getPassword', ['sluice', 'a'], 60_000)).toBeNull();
  });
});
