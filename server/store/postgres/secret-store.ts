/** Secrets in the database, sealed with a key from outside. */

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
} from '../../secrets/encrypted-file.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import { text } from '../rules/columns.ts';
import { messageOf } from '../rules/failures.ts';
import { channel, type Notices } from './notices.ts';
import { explained, type Postgres, type Queries, withTimeout } from './postgres.ts';

const readSql = 'SELECT sealed FROM secrets WHERE name = $1';
const writeSql = `INSERT INTO secrets (name, sealed) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed`;

/**
 * Opens the secrets with the key from outside. Without a key, secrets can only be referred to. Rejects with a
 * GatewayError if the secrets are sealed with another key, and with PostgreSQL's error. The store itself rejects with a
 * GatewayError `storage_unavailable` while the database cannot be used.
 */
export async function openSealedSecrets(
  postgres: Postgres,
  outside: OutsideKey,
  notices?: Pick<Notices, 'on'>,
): Promise<SecretStore> {
  let key = await openOutsideKey(postgres, outside);
  const keyOrAdvice = () => {
    if (key !== null) return key;
    throw new GatewayError(
      'invalid_value',
      'Secrets are stored in the database only if they can be encrypted: set SLUICE_PASSPHRASE or SLUICE_KEY_FILE for all replicas, or refer to the secret by env:NAME or file:PATH.',
    );
  };
  /** The key may have been changed since it was opened. */
  const follow = async (queries: Queries, lock: '' | 'FOR SHARE' = '') => {
    const row = await readKeyRow(queries, lock);
    if (row && key && !proves(row.proof, key)) key = succeedingKey(row, key);
    return keyOrAdvice();
  };
  notices?.on('secrets', () => {
    // Otherwise, a replica that has used no secret since a change would know only the former key after its end.
    if (key) follow(postgres).catch(() => {});
  });
  /** Outside a transaction, a stalled server could execute the statement later. */
  const change = (work: (queries: Queries) => Promise<unknown>) =>
    explained(() => postgres.transactionSoon(work), unavailable);
  return {
    kind: 'database',
    description: describe(outside),
    async get(name) {
      const { rows } = await explained(() => withTimeout(postgres.ask(readSql, name)), unavailable);
      if (!rows[0]) return undefined;
      const sealed = text(rows[0].sealed);
      const held = keyOrAdvice();
      return (
        openWith(sealed, name, held) ??
        openWith(sealed, name, await explained(() => withTimeout(follow(postgres)), unavailable)) ??
        refuseDamaged(name)
      );
    },
    async set(name, value) {
      keyOrAdvice();
      // The key is not changed before this is committed.
      await change(async (queries) =>
        queries.ask(writeSql, name, seal([name, value], await follow(queries, 'FOR SHARE'))),
      );
    },
    async delete(name) {
      await change((queries) => queries.ask('DELETE FROM secrets WHERE name = $1', name));
    },
    async list() {
      const { rows } = await explained(
        () => postgres.ask('SELECT name FROM secrets ORDER BY name COLLATE "C"'),
        unavailable,
      );
      return rows.map((row) => String(row.name));
    },
  };
}

/** A change of the key that the secrets are sealed with. */
interface ChangedKey {
  secrets: number;
  /** False if they were sealed with this key already. */
  isChanged: boolean;
}

/**
 * Seals all secrets with another key from outside, in one transaction. From then on until `finishKeyChange`, both keys
 * open them, and running replicas take the new one over. Rejects with a GatewayError if the former key is wrong or an
 * earlier change is not finished, and with PostgreSQL's error.
 */
export async function changeSealingKey(postgres: Postgres, former: OutsideKey, next: OutsideKey): Promise<ChangedKey> {
  return postgres.transaction(async (queries) => {
    const row = await readKeyRow(queries, 'FOR UPDATE');
    const { rows } = await queries.ask('SELECT name, sealed FROM secrets ORDER BY name FOR UPDATE');
    if (row && (await directKey(row.proof, next))) return { secrets: rows.length, isChanged: false };
    if (row?.former) throw unfinished();
    const formerKey = row && (await directKey(row.proof, former));
    if (row && !formerKey) throw wrongKey(former);
    const nextKey = await newOutsideKey(next);
    if (formerKey)
      await sealAnew(
        queries,
        rows.map(({ name, sealed }) => [String(name), text(sealed)] as const),
        formerKey,
        nextKey,
      );
    await writeKeyRow(queries, nextKey, formerKey);
    await queries.ask('SELECT pg_notify($1, $2)', channel, 'secrets');
    return { secrets: rows.length, isChanged: true };
  });
}

/** From now on, the former key opens nothing any more. Resolves with false if there was no change to finish. */
export async function finishKeyChange(postgres: Postgres, outside: OutsideKey): Promise<boolean> {
  return postgres.transaction(async (queries) => {
    const row = await readKeyRow(queries, 'FOR UPDATE');
    if (!row?.former) return false;
    if (!(await directKey(row.proof, outside))) throw wrongKey(outside);
    await queries.ask('UPDATE secret_key SET former = NULL');
    return true;
  });
}

function unfinished(): GatewayError {
  return new GatewayError(
    'conflict',
    'An earlier change of the passphrase is not finished. Once all replicas have its new one: sluice passphrase finish',
  );
}

const batchSize = 500;

async function sealAnew(
  queries: Queries,
  secrets: readonly (readonly [name: string, sealed: string | null])[],
  former: FileKey,
  next: FileKey,
): Promise<void> {
  for (let start = 0; start < secrets.length; start += batchSize) {
    const batch = secrets.slice(start, start + batchSize);
    const values = batch.map(([name, sealed]) =>
      seal([name, openWith(sealed, name, former) ?? refuseDamaged(name)], next),
    );
    await queries.ask(
      `UPDATE secrets SET sealed = renewed.sealed::json
       FROM unnest($1::text[], $2::text[]) AS renewed (name, sealed) WHERE secrets.name = renewed.name`,
      batch.map(([name]) => name),
      values,
    );
  }
}

function unavailable(cause: unknown): GatewayError {
  const message = `Secrets cannot be read or changed now: the database cannot be used (${messageOf(cause)}). Try again in a moment.`;
  return new GatewayError('storage_unavailable', message, { cause });
}

function describe({ passphrase, keyFile }: OutsideKey): string {
  if (keyFile !== undefined) return `Credentials are kept in the database, encrypted with the key in ${keyFile}.`;
  return passphrase === undefined
    ? 'Credentials are not kept: without SLUICE_PASSPHRASE or SLUICE_KEY_FILE, they can only be referred to by env:NAME and file:PATH.'
    : 'Credentials are kept in the database, encrypted with the passphrase in SLUICE_PASSPHRASE.';
}

const seal = (plain: readonly string[], key: FileKey) => JSON.stringify(encrypt(JSON.stringify(plain), key));

/** Undefined if the key does not open it, or it belongs to another name. */
function openWith(sealed: string | null, name: string, key: FileKey): string | undefined {
  try {
    const plain: unknown = JSON.parse(decrypt(encryptedSecretsSchema.parse(JSON.parse(sealed ?? '')), key));
    return Array.isArray(plain) && plain[0] === name && typeof plain[1] === 'string' ? plain[1] : undefined;
  } catch {
    return undefined;
  }
}

function refuseDamaged(name: string): never {
  throw new GatewayError('internal', `The secret "${name}" in the database is damaged. Enter it again.`);
}

// The key from outside that secrets in the database are sealed with. The table `secret_key` shows whether a key is
// the right one, and how it is derived from a passphrase. While the key is being changed, it also holds the new one,
// sealed with the former, so that whoever knows either can go on.

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
async function openOutsideKey(postgres: Postgres, outside: OutsideKey): Promise<FileKey | null> {
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
async function readKeyRow(queries: Queries, lock: '' | 'FOR SHARE' | 'FOR UPDATE' = ''): Promise<KeyRow | null> {
  const { rows } = await queries.ask(`SELECT proof, former FROM secret_key ${lock}`);
  const [row] = rows;
  const parse = (value: unknown) => encryptedSecretsSchema.parse(JSON.parse(text(value as string) ?? ''));
  return row ? { proof: parse(row.proof), former: row.former === null ? null : parse(row.former) } : null;
}

/** Puts a key in force; `former` opens it from then on too. */
async function writeKeyRow(queries: Queries, key: FileKey, former: FileKey | null): Promise<void> {
  const plain = JSON.stringify({ source: key.source, bytes: key.bytes.toString('base64') });
  await queries.ask(
    'INSERT INTO secret_key (proof, former) VALUES ($1, $2) ON CONFLICT (only_one) DO UPDATE SET proof = excluded.proof, former = excluded.former',
    JSON.stringify(encrypt(provenText, key)),
    former && JSON.stringify(encrypt(plain, former)),
  );
}

/** The key in force, by the one that was before it. Throws a GatewayError if that does not open it. */
function succeedingKey(row: KeyRow, former: FileKey): FileKey {
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

function proves(proof: EncryptedSecrets, key: FileKey): boolean {
  try {
    return decrypt(proof, key) === provenText;
  } catch {
    return false;
  }
}

/** The key given from outside if it is the one in force, else null. Rejects with a GatewayError if its file cannot be used. */
async function directKey(proof: EncryptedSecrets, outside: OutsideKey): Promise<FileKey | null> {
  const key = await keyOf(proof.key, outside);
  return key && proves(proof, key) ? key : null;
}

/** A new key with a salt of its own, or the one in the key file. */
async function newOutsideKey(outside: OutsideKey): Promise<FileKey> {
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

function wrongKey({ keyFile }: OutsideKey): GatewayError {
  const variable = keyFile === undefined ? 'SLUICE_PASSPHRASE' : 'SLUICE_KEY_FILE';
  return new GatewayError(
    'invalid_value',
    `${variable} is not the one that the secrets in the database are encrypted with. Set the one that the other replicas have.`,
  );
}
