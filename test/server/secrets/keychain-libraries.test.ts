/** A real keychain (gnome-keyring) through keytar and through @napi-rs/keyring, one in place of the other. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { deleteItem, readItem } from '../../../server/secrets/dbus/secret-service.ts';
import { type Keychain, keychainMarkerName, openKeychain } from '../../../server/secrets/keychain.ts';
import { type KeychainLibraryName, keychainForms } from '../../../server/secrets/keychain-libraries.ts';
import { openSecretStore } from '../../../server/secrets/open-secret-store.ts';
import { stretched } from '../../support/cpu-work.ts';
import { onlyIf } from '../../support/only-if.ts';
import { plainEnvironment } from '../../support/program.ts';

const password = 'pw';

interface KeychainSession {
  /** Environment in which programs reach the keychain. */
  env: Record<string, string>;
  lock(): void;
  unlock(): void;
  stop(): Promise<void>;
}

/** What this machine lacks for a real keychain. */
function missingForKeychain(libraries: readonly KeychainLibraryName[] = ['keytar']): string[] {
  if (process.platform !== 'linux') return ['Linux'];
  const programs = ['dbus-run-session', 'gnome-keyring-daemon', 'dbus-send'];
  const missing = programs.filter((program) => spawnSync('which', [program]).status !== 0);
  for (const library of libraries) {
    try {
      createRequire(import.meta.url)(library);
    } catch {
      missing.push(library);
    }
  }
  return missing;
}

/** A gnome-keyring, unlocked, in a D-Bus session of its own. */
async function startKeychainSession(): Promise<KeychainSession> {
  const home = mkdtempSync(join(tmpdir(), 'sluice-keychain-'));
  const folders = { HOME: home, XDG_DATA_HOME: home, XDG_CACHE_HOME: home, XDG_RUNTIME_DIR: home };
  const unlock = `printf ${password} | gnome-keyring-daemon --replace --unlock --components=secrets >/dev/null 2>&1`;
  const script = `${unlock} && echo "$DBUS_SESSION_BUS_ADDRESS" && cat`;
  const env = { ...folders, PATH: process.env.PATH ?? '' };
  // The session ends when its stdin is closed, together with the bus and the keychain.
  const session = spawn('dbus-run-session', ['--', 'sh', '-c', script], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(session, 'close');
  const [address] = await once(session.stdout, 'data');
  const withBus = { ...plainEnvironment, ...env, DBUS_SESSION_BUS_ADDRESS: String(address).trim() };
  const keyring = '/org/freedesktop/secrets/collection/login';
  const lock = ['/org/freedesktop/secrets', 'org.freedesktop.Secret.Service.Lock', `array:objpath:${keyring}`];
  return {
    env: withBus,
    lock: () =>
      void execFileSync('dbus-send', ['--session', '--print-reply', '--dest=org.freedesktop.secrets', ...lock], {
        env: withBus,
      }),
    unlock: () => void execFileSync('sh', ['-c', unlock], { env: withBus }),
    async stop() {
      session.stdin.end();
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

const require = createRequire(import.meta.url);
const keytar: KeychainLibraryName = 'keytar';
const keyring: KeychainLibraryName = '@napi-rs/keyring';
const both = [
  { before: keytar, after: keyring },
  { before: keyring, after: keytar },
];
const name = 'provider/main/c1';
const unicodeName = 'provider/größe-密钥/c1';
const values = { [name]: 'sk-planted', [unicodeName]: `ü密🔑${'k'.repeat(4_000)}`, 'key/k1': 'long'.repeat(5_000) };

const lacking = missingForKeychain([keytar, keyring]);
const hasKeychain = onlyIf(
  lacking.length === 0 || process.env.CI === 'true',
  `both libraries are tried only with ${lacking.join(', ')}`,
);

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'sluice-libraries-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** As where the other library's binary does not load. */
function only(library: KeychainLibraryName) {
  const broken = join(dataDir, 'broken.cjs');
  writeFileSync(broken, "throw new Error('no binary for this system\\nRequire stack: …')");
  const locateLibrary = (each: KeychainLibraryName) => (each === library ? require.resolve(each) : broken);
  return { locateLibrary, sessionBus: sessionBus() };
}

const sessionBus = () => process.env.DBUS_SESSION_BUS_ADDRESS;

function open(library: KeychainLibraryName): Promise<Keychain> {
  return openKeychain(dataDir, only(library));
}

/** The names and libraries that the marker lists. */
function recorded(): { written: object; superseded: object } {
  const { written, superseded } = JSON.parse(readFileSync(join(dataDir, keychainMarkerName), 'utf8'));
  return { written, superseded };
}

/** What lies in the keyring under a name, in the form of a library. */
function itemOf(library: KeychainLibraryName, keychain: Keychain, secret = name) {
  const service = /under the name "(.+?)"/.exec(keychain.store.description)?.[1] ?? '';
  return keychainForms('linux')[library].item(service, secret);
}

describe.runIf(hasKeychain)('with gnome-keyring', () => {
  let session: KeychainSession;
  beforeAll(async () => {
    expect(lacking).toEqual([]);
    session = await startKeychainSession();
  });
  afterAll(() => session.stop());
  beforeEach(() => void vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', session.env.DBUS_SESSION_BUS_ADDRESS ?? ''));
  afterEach(() => void vi.unstubAllEnvs());

  test('neither library finds what the other one wrote, so the table is needed', async () => {
    for (const { before, after } of both) {
      const { store } = await open(before);
      await store.set(name, 'sk-planted');
      rmSync(join(dataDir, keychainMarkerName));
      const keychain = await open(after);
      expect(await readItem(sessionBus(), itemOf(before, keychain))).toBe('sk-planted');
      expect(await readItem(sessionBus(), itemOf(after, keychain))).toBeUndefined();
      await store.delete(name);
      await deleteItem(sessionBus(), itemOf(before, keychain));
    }
  });

  test.each(both)('what $before wrote is found by $after, moved, and removed at the next start', async (libraries) => {
    const { before, after } = libraries;
    const first = await open(before);
    for (const [each, value] of Object.entries(values)) await first.store.set(each, value);

    const second = await open(after);
    for (const [each, value] of Object.entries(values)) expect(await second.store.get(each)).toBe(value);
    expect(await second.store.list()).toEqual(Object.keys(values).sort());
    for (const each of Object.keys(values)) {
      expect(await readItem(sessionBus(), itemOf(before, second, each))).toBe(values[each as keyof typeof values]);
      expect(recorded().written).toMatchObject({ [each]: after });
      expect(recorded().superseded).toMatchObject({ [each]: before });
    }

    const third = await open(after);
    await third.removeSuperseded();
    expect(recorded().superseded).toEqual({});
    for (const [each, value] of Object.entries(values)) {
      expect(await readItem(sessionBus(), itemOf(before, third, each))).toBeUndefined();
      expect(await third.store.get(each)).toBe(value);
    }
    for (const each of Object.keys(values)) await third.store.delete(each);
  });

  test.each(both)('a secret changed through $after is not followed by the old one of $before', async (libraries) => {
    const { before, after } = libraries;
    await (await open(before)).store.set(name, 'old');
    await (await open(after)).store.set(name, 'new');
    expect(await (await open(before)).store.get(name)).toBe('new');
    const { store } = await open(after);
    expect(await store.get(name)).toBe('new');
    await store.delete(name);
    for (const library of [before, after]) {
      expect(await (await open(library)).store.get(name), library).toBeUndefined();
      expect(await (await open(library)).store.list(), library).toEqual([]);
    }
  });

  test('a damaged item is neither given out nor moved nor deleted', async () => {
    const { store } = await open(keyring);
    await store.set(name, 'sk-planted');
    const before = recorded();
    const keychain = await open(keytar);
    const { service } = itemOf(keyring, keychain);
    const { AsyncEntry } = require(keyring);
    const entry = new AsyncEntry(service, name, { linux: { store: 'secret-service' } });
    await entry.setSecret(Buffer.from([0xff, 0xfe, 0]));
    for (const each of [keychain.store, store]) await expect(each.get(name)).rejects.toThrow('not valid');
    expect(recorded()).toEqual(before);
    expect([...(await entry.getSecret())]).toEqual([0xff, 0xfe, 0]);
    await store.delete(name);
  });

  test('an item in a locked keyring is out of reach, told at once, and found again once it is unlocked', async () => {
    await (await open(keytar)).store.set(name, 'sk-planted');
    session.lock();
    const opened = await openSecretStore({ dataDir, ...only(keyring) }).finally(() => session.unlock());
    session.lock();
    expect(opened.store.kind).toBe('keychain');
    expect(opened.notices).toEqual([expect.stringContaining(`Out of reach until then: ${name}`)]);
    const startedAtMs = performance.now();
    await expect(opened.store.get(name)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(performance.now() - startedAtMs).toBeLessThan(stretched(1_000));
    expect(opened.store.description).toContain(`Out of reach until then: ${name}.`);
    session.unlock();
    const later = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    try {
      expect(await opened.store.get(name)).toBe('sk-planted');
      expect(opened.store.description).not.toContain('Out of reach');
    } finally {
      later.mockRestore();
    }
    await opened.store.delete(name);
  });

  test('with no library that loads, nothing replaces the keychain, and it works again with one that does', async () => {
    const { store } = await open(keytar);
    await store.set(name, 'sk-planted');
    let isBack = false;
    const broken = join(dataDir, 'broken.cjs');
    const locateLibrary = (each: KeychainLibraryName) => (isBack ? require.resolve(each) : broken);
    const away = await openSecretStore({ dataDir, locateLibrary, sessionBus: sessionBus() });
    expect(away.store.kind).toBe('keychain');
    expect(away.notices.join()).toMatch(
      /keytar does not load: no binary for this system; @napi-rs\/keyring does not load/,
    );
    await expect(away.store.get(name)).rejects.toThrow('no binary for this system');
    await expect(away.store.set(name, 'another')).rejects.toThrow('no binary for this system');
    expect(existsSync(join(dataDir, 'secrets.enc'))).toBe(false);
    isBack = true;
    await away.store.set('key/k1', 'value');
    expect(await away.store.get(name)).toBe('sk-planted');
    await away.store.delete('key/k1');
    await away.store.delete(name);
  });

  /** A library that ends the whole program after the given call, as a crash does. */
  function libraryThatEndsAfter(call: 'setSecret' | 'getSecret'): string {
    const path = join(dataDir, `ends-after-${call}.cjs`);
    const source = `
      const { AsyncEntry } = require(${JSON.stringify(require.resolve(keyring))});
      let isWritten = false;
      exports.AsyncEntry = class {
        constructor(...identity) {
          this.entry = new AsyncEntry(...identity);
          this.isProbe = identity[1].startsWith('probe/');
        }
        async after(call, result) {
          if (this.isProbe || call !== '${call}' || !isWritten) return result;
          process.kill(process.ppid, 'SIGKILL');
          return new Promise(() => {});
        }
        getSecret() { return this.entry.getSecret().then((found) => this.after('getSecret', found)); }
        async setSecret(secret) {
          await this.entry.setSecret(secret);
          isWritten ||= !this.isProbe;
          return this.after('setSecret');
        }
        deleteCredential() { return this.entry.deleteCredential(); }
      };`;
    writeFileSync(path, source);
    return path;
  }

  test.each(['setSecret', 'getSecret'] as const)(
    'a move that is killed after %s is done by the next start',
    async (call) => {
      await (await open(keytar)).store.set(name, 'sk-planted');
      const keychainFile = join(import.meta.dirname, '../../../server/secrets/keychain.ts');
      const source = `
      import { openKeychain } from ${JSON.stringify(keychainFile)};
      const paths = ${JSON.stringify({ [keyring]: libraryThatEndsAfter(call) })};
      const { store } = await openKeychain(${JSON.stringify(dataDir)}, {
        locateLibrary: (name) => paths[name],
        sessionBus: process.env.DBUS_SESSION_BUS_ADDRESS,
      });
      await store.get(${JSON.stringify(name)});`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', source], { env: session.env });
      const [, signal] = await once(child, 'close');
      expect(signal).toBe('SIGKILL');
      expect(recorded()).toEqual({ written: { [name]: keytar }, superseded: {} });

      const next = await open(keyring);
      await next.removeSuperseded();
      expect(await readItem(sessionBus(), itemOf(keytar, next))).toBe('sk-planted');
      expect(await next.store.get(name)).toBe('sk-planted');
      expect(recorded()).toEqual({ written: { [name]: keyring }, superseded: { [name]: keytar } });
      await next.store.delete(name);
    },
  );
});
