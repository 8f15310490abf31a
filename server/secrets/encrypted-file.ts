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

import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { GatewayError } from '../contract/errors.ts';
import { writeFileDurably } from '../ground/files/durable-file.ts';
import { describeFileProblem, readRegularFile, systemErrorCode } from '../ground/files/regular-file.ts';
import { createSerialQueue } from '../ground/promises.ts';
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

// Encrypts secrets at rest, with a key that is derived from a passphrase or made for a file.

/** Key length of AES-256. */
export const keyBytes = 32;
const saltBytes = 16;

/** OWASP's recommendation for 32 MiB of memory. Takes 0.2 s on a thread of the pool, once at start. */
const scryptParameters = { cost: 2 ** 15, blockSize: 8, parallelization: 3 };
/** 256 MiB: the most memory that a tampered file can make scrypt use. */
const maxScryptBytes = 2 ** 28;

/** The source of a file's key, stored in the file. Upper bounds keep a tampered file from stalling the start. */
export const keySourceSchema = z.discriminatedUnion('from', [
  z.strictObject({ from: z.literal('key-file') }),
  z.strictObject({
    from: z.literal('passphrase'),
    salt: z.base64(),
    cost: z
      .number()
      .int()
      .max(2 ** 18),
    blockSize: z.number().int().max(32),
    parallelization: z.number().int().max(16),
  }),
]);
type KeySource = z.infer<typeof keySourceSchema>;
type PassphraseSource = Extract<KeySource, { from: 'passphrase' }>;

export interface FileKey {
  readonly source: KeySource;
  readonly bytes: Buffer;
}

interface Circumstances {
  /** The encrypted file, for messages. */
  path: string;
  keyFile: string;
  passphrase: string | undefined;
  /** The key derived before, to avoid running scrypt again for the same salt. */
  known: FileKey | undefined;
}

/** The key of an existing file. Rejects with advice if passphrase or key file is missing. */
async function keyForFile(
  source: KeySource,
  { path, keyFile, passphrase, known: currentKey }: Circumstances,
): Promise<FileKey> {
  if (currentKey && JSON.stringify(currentKey.source) === JSON.stringify(source)) return currentKey;
  if (source.from === 'key-file') return { source, bytes: await readKeyFile(path, keyFile) };
  if (passphrase !== undefined) return { source, bytes: await deriveKey(passphrase, source) };
  throw new GatewayError(
    'internal',
    `${path} is protected by a passphrase: set SLUICE_PASSPHRASE. If it is lost, move the file away and enter the credentials again.`,
  );
}

/** A key for a new or re-encrypted file. Without a passphrase, creates the key file if necessary. */
async function createFileKey(keyFile: string, passphrase: string | undefined): Promise<FileKey> {
  if (passphrase === undefined) return { source: { from: 'key-file' }, bytes: await readOrMakeKeyFile(keyFile) };
  const source = createPassphraseSource();
  return { source, bytes: await deriveKey(passphrase, source) };
}

/** Uses a new salt. */
export function createPassphraseSource(): PassphraseSource {
  return { from: 'passphrase', salt: randomBytes(saltBytes).toString('base64'), ...scryptParameters };
}

const scryptAsync = promisify<string, Buffer, number, object, Buffer>(scrypt);

/** Derives the key from a passphrase, which takes a fraction of a second. */
export function deriveKey(passphrase: string, source: PassphraseSource): Promise<Buffer> {
  const { salt, cost, blockSize, parallelization } = source;
  const options = { cost, blockSize, parallelization, maxmem: maxScryptBytes };
  // Systems differ in how they compose accented characters.
  return scryptAsync(passphrase.normalize('NFKC'), Buffer.from(salt, 'base64'), keyBytes, options);
}

async function readKeyFile(path: string, keyFile: string): Promise<Buffer> {
  const text = await readRegularFile(keyFile).catch((error: unknown) => {
    throw new GatewayError(
      'internal',
      `The key of ${path} cannot be read from ${keyFile}: ${describeFileProblem(error)}. Restore it from a backup, or move ${path} away and enter the credentials again.`,
    );
  });
  const bytes = Buffer.from(text.trim(), 'base64');
  if (bytes.length === keyBytes) return bytes;
  throw new GatewayError(
    'internal',
    `${keyFile} does not hold a key. Restore it from a backup, or move it and ${path} away and enter the credentials again.`,
  );
}

async function readOrMakeKeyFile(keyFile: string): Promise<Buffer> {
  try {
    const bytes = Buffer.from((await readRegularFile(keyFile)).trim(), 'base64');
    if (bytes.length === keyBytes) return bytes;
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') {
      throw new GatewayError('internal', `${keyFile} cannot be read: ${describeFileProblem(error)}.`);
    }
  }
  const bytes = randomBytes(keyBytes);
  try {
    await writeFileDurably(keyFile, `${bytes.toString('base64')}\n`);
  } catch (error) {
    throw new GatewayError('internal', `${keyFile} cannot be written: ${describeFileProblem(error)}.`);
  }
  return bytes;
}

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

const base64Of = (bytes: number) => z.base64().refine((text) => Buffer.from(text, 'base64').length === bytes);

/** The format of `secrets.enc`, documented in `encrypted-file.ts`. */
export const encryptedSecretsSchema = z.strictObject({
  format: z.literal('sluice-secrets'),
  version: z.literal(1),
  key: keySourceSchema,
  nonce: base64Of(nonceBytes),
  ciphertext: z.base64(),
  tag: base64Of(tagBytes),
});
export type EncryptedSecrets = z.infer<typeof encryptedSecretsSchema>;

type Head = Pick<EncryptedSecrets, 'format' | 'version' | 'key'>;

/** Encrypts with a fresh nonce. */
export function encrypt(plaintext: string, key: FileKey): EncryptedSecrets {
  const head: Head = { format: 'sluice-secrets', version: 1, key: key.source };
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key.bytes, nonce, { authTagLength: tagBytes }).setAAD(authenticated(head));
  const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return {
    ...head,
    nonce: nonce.toString('base64'),
    ciphertext: ciphertext.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
  };
}

/** Returns the plain text; throws if the key is wrong or the file was modified. */
export function decrypt(file: EncryptedSecrets, key: FileKey): string {
  const decipher = createDecipheriv(algorithm, key.bytes, Buffer.from(file.nonce, 'base64'), {
    authTagLength: tagBytes,
  })
    .setAAD(authenticated(file))
    .setAuthTag(Buffer.from(file.tag, 'base64'));
  return Buffer.concat([decipher.update(Buffer.from(file.ciphertext, 'base64')), decipher.final()]).toString('utf8');
}

function authenticated({ format, version, key }: Head): Buffer {
  return Buffer.from(JSON.stringify({ format, version, key }));
}
