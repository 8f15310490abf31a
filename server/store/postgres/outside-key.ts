/**
 * The key from outside that secrets in the database are sealed with. The table `secret_key` shows whether a key is the
 * right one, and how it is derived from a passphrase. While the key is being changed, it also holds the new one, sealed
 * with the former, so that whoever knows either can go on.
 */
import { z } from 'zod';
import { GatewayError } from '../../contract/errors.ts';
import { describeFileProblem, readRegularFile } from '../../ground/files/regular-file.ts';
import {
  createPassphraseSource,
  decrypt,
  deriveKey,
  type EncryptedSecrets,
  encrypt,
  encryptedSecretsSchema,
  type FileKey,
  keyBytes,
  keySourceSchema,
} from '../../secrets/cipher.ts';
import { text } from '../rules/columns.ts';
import type { Postgres, Queries } from './postgres.ts';

export interface OutsideKey {
  passphrase?: string | undefined;
  /** Path of a file that contains 32 bytes in base64. */
  keyFile?: string | undefined;
}

interface KeyRow {
  /** Opens with the key in force. */
  proof: EncryptedSecrets;
  /** The key in force, sealed with the one before it; null unless it is being changed. */
  former: EncryptedSecrets | null;
}

const provenText = 'sluice';
const keySchema = z.strictObject({ source: keySourceSchema, bytes: z.base64() });

/**
 * The key in force; null if none is given. Rejects with a GatewayError if the given one is neither that nor, during a
 * change, the former one.
 */
export async function openOutsideKey(postgres: Postgres, outside: OutsideKey): Promise<FileKey | null> {
  if (outside.passphrase === undefined && outside.keyFile === undefined) return null;
  const stored = await readKeyRow(postgres);
  if (stored) return keyInForce(stored, outside);
  const newKey = await newOutsideKey(outside);
  await postgres.ask(
    'INSERT INTO secret_key (proof) VALUES ($1) ON CONFLICT DO NOTHING',
    JSON.stringify(encrypt(provenText, newKey)),
  );
  // Another replica may have been first, with its own salt.
  const first = await readKeyRow(postgres);
  return first ? keyInForce(first, outside) : newKey;
}

async function keyInForce(row: KeyRow, outside: OutsideKey): Promise<FileKey> {
  const key = await directKey(row.proof, outside);
  if (key) return key;
  const former = row.former && (await keyOf(row.former.key, outside));
  const succeeding = former && openSucceeding(row, former);
  if (succeeding) return succeeding;
  const isGiven = row.proof.key.from === 'key-file' ? outside.keyFile : outside.passphrase;
  const variable = row.proof.key.from === 'key-file' ? 'SLUICE_KEY_FILE' : 'SLUICE_PASSPHRASE';
  if (isGiven !== undefined) throw wrongKey(outside);
  throw new GatewayError('invalid_value', `The secrets in the database are encrypted with ${variable}: set it.`);
}

/** `lock`: until the end of the transaction. */
export async function readKeyRow(queries: Queries, lock: '' | 'FOR SHARE' | 'FOR UPDATE' = ''): Promise<KeyRow | null> {
  const { rows } = await queries.ask(`SELECT proof, former FROM secret_key ${lock}`);
  const [row] = rows;
  const parse = (value: unknown) => encryptedSecretsSchema.parse(JSON.parse(text(value as string) ?? ''));
  return row ? { proof: parse(row.proof), former: row.former === null ? null : parse(row.former) } : null;
}

/** Puts a key in force; `former` opens it from then on too. */
export async function writeKeyRow(queries: Queries, key: FileKey, former: FileKey | null): Promise<void> {
  const plain = JSON.stringify({ source: key.source, bytes: key.bytes.toString('base64') });
  await queries.ask(
    'INSERT INTO secret_key (proof, former) VALUES ($1, $2) ON CONFLICT (only_one) DO UPDATE SET proof = excluded.proof, former = excluded.former',
    JSON.stringify(encrypt(provenText, key)),
    former && JSON.stringify(encrypt(plain, former)),
  );
}

/** The key in force, by the one that was before it. Throws a GatewayError if that does not open it. */
export function succeedingKey(row: KeyRow, former: FileKey): FileKey {
  const key = openSucceeding(row, former);
  if (key) return key;
  throw new GatewayError(
    'internal',
    'The key that the secrets in the database are encrypted with was changed. Restart this replica with the new one.',
  );
}

function openSucceeding({ proof, former: sealed }: KeyRow, former: FileKey): FileKey | null {
  try {
    const { source, bytes } = keySchema.parse(JSON.parse(sealed === null ? '' : decrypt(sealed, former)));
    const key = { source, bytes: Buffer.from(bytes, 'base64') };
    return proves(proof, key) ? key : null;
  } catch {
    return null;
  }
}

export function proves(proof: EncryptedSecrets, key: FileKey): boolean {
  try {
    return decrypt(proof, key) === provenText;
  } catch {
    return false;
  }
}

/** The key given from outside if it is the one in force, else null. Rejects with a GatewayError if its file cannot be used. */
export async function directKey(proof: EncryptedSecrets, outside: OutsideKey): Promise<FileKey | null> {
  const key = await keyOf(proof.key, outside);
  return key && proves(proof, key) ? key : null;
}

/** A new key with a salt of its own, or the one in the key file. */
export async function newOutsideKey(outside: OutsideKey): Promise<FileKey> {
  const source = outside.keyFile === undefined ? createPassphraseSource() : ({ from: 'key-file' } as const);
  const key = await keyOf(source, outside);
  if (key) return key;
  throw new GatewayError('invalid_value', 'There is neither a passphrase nor a key file.');
}

/** Null if none of this kind is given. */
async function keyOf(source: FileKey['source'], { passphrase, keyFile }: OutsideKey): Promise<FileKey | null> {
  if (source.from === 'passphrase') {
    return passphrase === undefined ? null : { source, bytes: await deriveKey(passphrase, source) };
  }
  return keyFile === undefined ? null : { source, bytes: await readKey(keyFile) };
}

async function readKey(path: string): Promise<Buffer> {
  const content = await readRegularFile(path).catch((error: unknown) => {
    throw new GatewayError('invalid_value', `SLUICE_KEY_FILE: ${path} cannot be read: ${describeFileProblem(error)}.`);
  });
  const bytes = Buffer.from(content.trim(), 'base64');
  if (bytes.length === keyBytes) return bytes;
  throw new GatewayError(
    'invalid_value',
    `SLUICE_KEY_FILE: ${path} does not hold a key. Make one with: openssl rand -base64 ${keyBytes}`,
  );
}

export function wrongKey({ keyFile }: OutsideKey): GatewayError {
  const variable = keyFile === undefined ? 'SLUICE_PASSPHRASE' : 'SLUICE_KEY_FILE';
  return new GatewayError(
    'invalid_value',
    `${variable} is not the one that the secrets in the database are encrypted with. Set the one that the other replicas have.`,
  );
}
