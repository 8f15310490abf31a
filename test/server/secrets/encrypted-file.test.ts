import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  changeFilePassphrase,
  changeFolderPassphrase,
  encryptedFileName,
  keyFileName,
  openEncryptedFile,
} from '../../../server/secrets/encrypted-file.ts';

const planted = 'planted-secret-4711';
let dataDir: string;
let path: string;
let keyPath: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sluice-secrets-'));
  path = join(dataDir, encryptedFileName);
  keyPath = join(dataDir, keyFileName);
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  const { message, stack } = error as Error;
  expect(`${message}${stack}`).not.toContain(planted);
  return message;
}

/** Changes one field of the file, and returns the error of opening it. Opening must not change the file. */
async function messageWhenChanged(
  change: (file: Record<string, unknown>) => void,
  passphrase?: string,
): Promise<string> {
  const file = JSON.parse(await readFile(path, 'utf8'));
  change(file);
  const text = JSON.stringify(file);
  await writeFile(path, text);
  const message = await messageOf(openEncryptedFile(dataDir, passphrase));
  expect(await readFile(path, 'utf8')).toBe(text);
  return message;
}

const flip = (base64: unknown) => {
  const bytes = Buffer.from(String(base64), 'base64');
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  return bytes.toString('base64');
};

describe('a store with a key file', () => {
  test('nothing is written before the first secret', async () => {
    const store = await openEncryptedFile(dataDir);
    expect(await store.get('key/k1')).toBeUndefined();
    expect(await store.list()).toEqual([]);
    expect(await readdir(dataDir)).toEqual([]);
  });

  test('what is set can be read, listed, replaced and deleted, by a later store too', async () => {
    const store = await openEncryptedFile(dataDir);
    await store.set('provider/main/c1', planted);
    await store.set('key/k1', 'old');
    await store.set('key/k1', 'with spaces, ü and\nlines');
    const later = await openEncryptedFile(dataDir);
    expect(await later.get('provider/main/c1')).toBe(planted);
    expect(await later.list()).toEqual(['key/k1', 'provider/main/c1']);
    expect(await later.get('key/k1')).toBe('with spaces, ü and\nlines');
    await later.delete('key/k1');
    await later.delete('key/k1');
    expect(await store.list()).toEqual(['provider/main/c1']);
  });

  test('names of built-in object members are names like any other', async () => {
    const store = await openEncryptedFile(dataDir);
    expect(await store.get('constructor')).toBeUndefined();
    await store.set('__proto__', 'value');
    expect(await (await openEncryptedFile(dataDir)).get('__proto__')).toBe('value');
  });

  test('many changes at once lose none', async () => {
    const store = await openEncryptedFile(dataDir);
    const names = Array.from({ length: 30 }, (_, index) => `key/k${index + 10}`);
    await Promise.all(names.map((name) => store.set(name, name)));
    expect(await (await openEncryptedFile(dataDir)).list()).toEqual(names);
  });

  test('neither values nor names are readable in any file, and the files are private', async () => {
    const store = await openEncryptedFile(dataDir);
    await store.set('provider/main/c1', planted);
    expect((await readdir(dataDir)).sort()).toEqual([encryptedFileName, keyFileName].sort());
    for (const file of [path, keyPath]) {
      const text = await readFile(file, 'latin1');
      expect(text).not.toContain(planted);
      expect(text).not.toContain('provider/main');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
    expect(store.description).not.toContain(planted);
  });

  test('each write takes a fresh nonce', async () => {
    const store = await openEncryptedFile(dataDir);
    const nonces = new Set<string>();
    for (let round = 0; round < 5; round++) {
      await store.set('key/k1', planted);
      nonces.add(JSON.parse(await readFile(path, 'utf8')).nonce);
    }
    expect(nonces.size).toBe(5);
  });

  test.each(['nonce', 'ciphertext', 'tag'])(
    'a changed %s is an error that names the file and leaves it',
    async (field) => {
      await (await openEncryptedFile(dataDir)).set('key/k1', planted);
      const message = await messageWhenChanged((file) => {
        file[field] = flip(file[field]);
      });
      expect(message).toContain(`${path} is damaged`);
      expect(message).toContain('Nothing was changed');
    },
  );

  test.each(['', '{', 'null', '{"format":"sluice-secrets","version":2}'])(
    'a file that holds %j is refused and left',
    async (text) => {
      await writeFile(path, text);
      expect(await messageOf(openEncryptedFile(dataDir))).toContain(path);
      expect(await readFile(path, 'utf8')).toBe(text);
    },
  );

  test('damage while the program runs stops a change instead of being overwritten', async () => {
    const store = await openEncryptedFile(dataDir);
    await store.set('key/k1', planted);
    await writeFile(path, 'damaged');
    expect(await messageOf(store.set('key/k2', planted))).toContain(path);
    expect(await readFile(path, 'utf8')).toBe('damaged');
  });

  test('a lost or exchanged key file is an error that says what to do', async () => {
    await (await openEncryptedFile(dataDir)).set('key/k1', planted);
    await rm(keyPath);
    expect(await messageOf(openEncryptedFile(dataDir))).toMatch(
      /cannot be read from .*secrets\.key: there is no such file.*Restore it/,
    );
    await writeFile(keyPath, Buffer.alloc(32).toString('base64'));
    expect(await messageOf(openEncryptedFile(dataDir))).toContain('does not belong to the key file');
    await writeFile(keyPath, 'short');
    expect(await messageOf(openEncryptedFile(dataDir))).toContain(`${keyPath} does not hold a key`);
  });

  test('a failed write names the file and loses nothing', async () => {
    const store = await openEncryptedFile(join(dataDir, 'missing'));
    expect(await messageOf(store.set('key/k1', planted))).toContain('cannot be written: there is no such file');
  });
});

describe('a store with a passphrase', () => {
  test('opens with the same passphrase, however its accents are composed, and makes no key file', async () => {
    await (await openEncryptedFile(dataDir, 'p\u00e4ss')).set('key/k1', planted);
    expect(await readdir(dataDir)).toEqual([encryptedFileName]);
    const later = await openEncryptedFile(dataDir, 'pa\u0308ss');
    expect(await later.get('key/k1')).toBe(planted);
  });

  test('a wrong or missing passphrase is told, and the file stays', async () => {
    await (await openEncryptedFile(dataDir, 'right')).set('key/k1', planted);
    const before = await readFile(path, 'utf8');
    const wrong = await messageOf(openEncryptedFile(dataDir, 'wrong-phrase'));
    expect(wrong).toMatch(/secrets\.enc does not open with this SLUICE_PASSPHRASE/);
    expect(wrong).not.toContain('wrong-phrase');
    expect(await messageOf(openEncryptedFile(dataDir))).toContain('set SLUICE_PASSPHRASE');
    expect(await readFile(path, 'utf8')).toBe(before);
  });

  test('its parameters cannot be changed, nor raised beyond what a start can bear', async () => {
    await (await openEncryptedFile(dataDir, 'right')).set('key/k1', planted);
    const stored = await readFile(path, 'utf8');
    const weakened = await messageWhenChanged((file) => {
      file.key = { ...(file.key as object), parallelization: 1 };
    }, 'right');
    expect(weakened).toContain('does not open');
    await writeFile(path, stored);
    const raised = await messageWhenChanged((file) => {
      file.key = { ...(file.key as object), cost: 2 ** 30 };
    }, 'right');
    expect(raised).toContain('is damaged');
  });

  test.each([
    ['from a passphrase', 'a phrase'],
    ['from a key file', undefined],
  ])('changes to another passphrase as a whole, %s', async (_from, former) => {
    const store = await openEncryptedFile(dataDir, former);
    await store.set('provider/main/c1', planted);
    if (former !== undefined) {
      const wrong = await messageOf(changeFilePassphrase(dataDir, 'another', 'a new phrase'));
      expect(wrong).toContain('does not open with this SLUICE_PASSPHRASE');
    }
    expect(await changeFilePassphrase(dataDir, former, 'a new phrase')).toEqual({ secrets: 1, isChanged: true });
    expect(await changeFilePassphrase(dataDir, former, 'a new phrase')).toEqual({ secrets: 1, isChanged: false });
    expect(await readdir(dataDir)).toEqual([encryptedFileName]);
    expect(await (await openEncryptedFile(dataDir, 'a new phrase')).get('provider/main/c1')).toBe(planted);
    if (former !== undefined) await messageOf(openEncryptedFile(dataDir, former));
  });

  test.each([
    ['the folder and its sign-ins', ['.', 'logins']],
    ['only the sign-ins, as of a replica', ['logins']],
  ])('changes in %s, and goes on where it was interrupted', async (_what, folders) => {
    const paths = folders.map((name) => join(dataDir, name));
    for (const path of paths) {
      await mkdir(path, { recursive: true });
      await (await openEncryptedFile(path, 'former')).set('a/b', planted);
    }
    const change = () => changeFolderPassphrase(dataDir, 'former', 'a new phrase');
    await changeFilePassphrase(paths[0] ?? '', 'former', 'a new phrase');
    expect(await change()).toEqual({ secrets: folders.length, isChanged: folders.length > 1 });
    expect(await change()).toEqual({ secrets: folders.length, isChanged: false });
    for (const path of paths) expect(await (await openEncryptedFile(path, 'a new phrase')).get('a/b')).toBe(planted);
  });

  test('takes the place of a key file', async () => {
    await (await openEncryptedFile(dataDir)).set('key/k1', planted);
    const store = await openEncryptedFile(dataDir, 'right');
    expect(await store.get('key/k1')).toBe(planted);
    expect(await readdir(dataDir)).toEqual([encryptedFileName]);
    expect(await messageOf(openEncryptedFile(dataDir))).toContain('set SLUICE_PASSPHRASE');
  });
});
