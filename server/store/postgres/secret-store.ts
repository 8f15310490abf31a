import { GatewayError } from '../../contract/errors.ts';
import { decrypt, encrypt, encryptedSecretsSchema, type FileKey } from '../../secrets/cipher.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import { text } from '../rules/columns.ts';
import { messageOf } from '../rules/failures.ts';
import { explained } from './failures.ts';
import { channel, type Notices } from './notices.ts';
import {
  directKey,
  newOutsideKey,
  type OutsideKey,
  openOutsideKey,
  proves,
  readKeyRow,
  succeedingKey,
  writeKeyRow,
  wrongKey,
} from './outside-key.ts';
import { type Postgres, type Queries, withTimeout } from './postgres.ts';

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
