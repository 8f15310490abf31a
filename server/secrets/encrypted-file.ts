/**
 * `secrets.enc`: all secrets of a data folder in one encrypted file, for machines without a keychain.
 *
 * Format, version 1: a JSON object
 *   format      "sluice-secrets"
 *   version     1
 *   key         the source of the 256-bit key:
 *               { "from": "key-file" }  32 random bytes in base64, in `secrets.key` beside it, mode 0600; or
 *               { "from": "passphrase", "salt": base64, "cost": N, "blockSize": r, "parallelization": p }  by scrypt
 *   nonce       12 random bytes in base64, fresh with each write
 *   ciphertext  AES-256-GCM, in base64, over the UTF-8 JSON array [[name, value], …]
 *   tag         16 bytes in base64
 * Names are encrypted too. `format`, `version` and `key` are additional authenticated data, as JSON text in this
 * order.
 *
 * The key file protects against a copy of `secrets.enc` alone (a backup, a synced folder), not against access to the
 * whole data folder; a passphrase protects against both. A file that cannot be decrypted is never overwritten.
 */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { GatewayError } from '../contract/errors.ts';
import { writeFileDurably } from '../ground/files/durable-file.ts';
import { describeFileProblem, readRegularFile, systemErrorCode } from '../ground/files/regular-file.ts';
import { createSerialQueue } from '../ground/promises.ts';
import {
  createFileKey,
  decrypt,
  type EncryptedSecrets,
  encrypt,
  encryptedSecretsSchema,
  type FileKey,
  keyForFile,
} from './cipher.ts';
import type { SecretStore } from './secret-store.ts';

export const encryptedFileName = 'secrets.enc';
export const keyFileName = 'secrets.key';

type Secrets = Map<string, string>;
interface Loaded {
  secrets: Secrets;
  key: FileKey;
  /** Identifies the file's version. */
  fingerprint: string;
}

/**
 * Opens the file; the first `set` creates it. Rejects with a GatewayError if it cannot be decrypted. With a passphrase,
 * a file encrypted with a key file is re-encrypted at once.
 */
export async function openEncryptedFile(dataDir: string, passphrase?: string): Promise<SecretStore> {
  const path = join(dataDir, encryptedFileName);
  const keyFile = join(dataDir, keyFileName);
  const inTurn = createSerialQueue();
  let loaded: Loaded | undefined;

  /** Reads the file again only if another process has replaced it. */
  const load = async (): Promise<Loaded | undefined> => {
    const fingerprint = await fingerprintOf(path);
    if (fingerprint === undefined) return undefined;
    if (loaded?.fingerprint === fingerprint) return loaded;
    const file = await readEncrypted(path);
    const key = await keyForFile(file.key, { path, keyFile, passphrase, known: loaded?.key });
    loaded = { secrets: decryptFile(path, file, key), key, fingerprint };
    return loaded;
  };
  const save = async (secrets: Secrets, key: FileKey) => {
    await writeFile(path, JSON.stringify(encrypt(JSON.stringify([...secrets]), key)));
    loaded = { secrets, key, fingerprint: (await fingerprintOf(path)) ?? '' };
  };
  const change = (edit: (secrets: Secrets) => void) =>
    inTurn(async () => {
      const before = await load();
      const secrets = new Map(before?.secrets);
      edit(secrets);
      await save(secrets, before?.key ?? (await createFileKey(keyFile, passphrase)));
    });

  const stored = await load();
  if (stored?.key.source.from === 'key-file' && passphrase !== undefined) {
    await save(stored.secrets, await createFileKey(keyFile, passphrase));
    await rm(keyFile, { force: true });
  }

  return {
    kind: 'file',
    description: describe(path, keyFile, passphrase),
    isOpenInCopies: passphrase === undefined,
    get: (name) => inTurn(async () => (await load())?.secrets.get(name)),
    set: (name, value) => change((secrets) => secrets.set(name, value)),
    delete: (name) => change((secrets) => secrets.delete(name)),
    list: () => inTurn(async () => [...((await load())?.secrets.keys() ?? [])].sort()),
  };
}

/** Where a data folder keeps its sign-ins to teams' gateways, apart from what a running Sluice may be writing. */
export const loginsFolder = (dataDir: string) => join(dataDir, 'logins');

/**
 * Encrypts the secrets of a data folder, and its sign-ins, with another passphrase; nothing may use them meanwhile. Done
 * again, it goes on where it was interrupted. Rejects with a GatewayError if the former one does not open a file, or there
 * is none.
 */
export async function changeFolderPassphrase(
  dataDir: string,
  former: string | undefined,
  next: string,
): Promise<{ secrets: number; isChanged: boolean }> {
  const hasLogins = (await fingerprintOf(join(loginsFolder(dataDir), encryptedFileName))) !== undefined;
  const isOnlyLogins = hasLogins && (await fingerprintOf(join(dataDir, encryptedFileName))) === undefined;
  const folders = [...(isOnlyLogins ? [] : [dataDir]), ...(hasLogins ? [loginsFolder(dataDir)] : [])];
  const all = { secrets: 0, isChanged: false };
  for (const folder of folders) {
    const { secrets, isChanged } = await changeFilePassphrase(folder, former, next);
    all.secrets += secrets;
    all.isChanged ||= isChanged;
  }
  return all;
}

/** In one write. */
export async function changeFilePassphrase(
  dataDir: string,
  former: string | undefined,
  next: string,
): Promise<{ secrets: number; isChanged: boolean }> {
  const [path, keyFile] = [join(dataDir, encryptedFileName), join(dataDir, keyFileName)];
  if ((await fingerprintOf(path)) === undefined) {
    throw new GatewayError('not_found', `There is no ${path}, so no secrets are encrypted with a passphrase here.`);
  }
  const file = await readEncrypted(path);
  const keyBy = (passphrase: string | undefined) =>
    keyForFile(file.key, { path, keyFile, passphrase, known: undefined });
  if (file.key.from === 'passphrase') {
    const opened = tryDecrypt(file, await keyBy(next));
    if (opened) return { secrets: opened.size, isChanged: false };
  }
  const secrets = decryptFile(path, file, await keyBy(former));
  await writeFile(path, JSON.stringify(encrypt(JSON.stringify([...secrets]), await createFileKey(keyFile, next))));
  await rm(keyFile, { force: true });
  return { secrets: secrets.size, isChanged: true };
}

function describe(path: string, keyFile: string, passphrase: string | undefined): string {
  return passphrase === undefined
    ? `Credentials are kept in the encrypted file ${path}. Its key is in ${keyFile}, so anyone who can read both files can read them; set SLUICE_PASSPHRASE to use a passphrase instead.`
    : `Credentials are kept in the encrypted file ${path}, protected by the passphrase in SLUICE_PASSPHRASE.`;
}

/** Undefined if there is no file. */
async function fingerprintOf(path: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeMs } = await stat(path);
    return `${ino} ${size} ${mtimeMs}`;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw new GatewayError('internal', `${path} cannot be read: ${describeFileProblem(error)}.`);
  }
}

async function readEncrypted(path: string): Promise<EncryptedSecrets> {
  const text = await readRegularFile(path).catch((error: unknown) => {
    throw new GatewayError('internal', `${path} cannot be read: ${describeFileProblem(error)}.`);
  });
  try {
    return encryptedSecretsSchema.parse(JSON.parse(text));
  } catch {
    throw damaged(path);
  }
}

function decryptFile(path: string, file: EncryptedSecrets, key: FileKey): Secrets {
  const secrets = tryDecrypt(file, key);
  if (secrets) return secrets;
  if (key.source.from === 'key-file') throw damaged(path);
  throw new GatewayError(
    'internal',
    `${path} does not open with this SLUICE_PASSPHRASE: the passphrase is wrong or the file is damaged. Nothing was changed. Give the right passphrase, or move the file away and enter the credentials again.`,
  );
}

/** Null if the key does not open it. */
function tryDecrypt(file: EncryptedSecrets, key: FileKey): Secrets | null {
  try {
    const entries: unknown = JSON.parse(decrypt(file, key));
    return new Map(z.array(z.tuple([z.string(), z.string()])).parse(entries));
  } catch {
    return null;
  }
}

function damaged(path: string): GatewayError {
  return new GatewayError(
    'internal',
    `${path} is damaged, of a newer version, or does not belong to the key file beside it. Nothing was changed. Restore both from a backup, or move them away and enter the credentials again.`,
  );
}

async function writeFile(path: string, text: string): Promise<void> {
  try {
    await writeFileDurably(path, text);
  } catch (error) {
    throw new GatewayError(
      'internal',
      `${path} cannot be written: ${describeFileProblem(error)}. Nothing was changed.`,
    );
  }
}
