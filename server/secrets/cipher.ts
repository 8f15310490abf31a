/** Encrypts secrets at rest, with a key that is derived from a passphrase or made for a file. */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { z } from 'zod';
import { GatewayError } from '../contract/errors.ts';
import { writeFileDurably } from '../ground/files/durable-file.ts';
import { describeFileProblem, readRegularFile, systemErrorCode } from '../ground/files/regular-file.ts';

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
export async function keyForFile(
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
export async function createFileKey(keyFile: string, passphrase: string | undefined): Promise<FileKey> {
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
