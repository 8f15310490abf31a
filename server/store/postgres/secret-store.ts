import { GatewayError } from '../../contract/errors.ts';
import { describeFileProblem } from '../../ground/files/file-problem.ts';
import { readRegularFile } from '../../ground/files/regular-file.ts';
import { decrypt, encrypt, encryptedSecretsSchema } from '../../secrets/cipher.ts';
import { createPassphraseSource, deriveKey, type FileKey, keyBytes } from '../../secrets/file-key.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import { text } from '../rules/columns.ts';
import { messageOf } from '../rules/failures.ts';
import { explained } from './failures.ts';
import type { Parameter, Postgres } from './postgres.ts';
import { withTimeout } from './within.ts';

export interface OutsideKey {
  passphrase?: string | undefined;
  /** Path of a file that contains 32 bytes in base64. */
  keyFile?: string | undefined;
}

const provenText = 'sluice';
const readSql = 'SELECT sealed FROM secrets WHERE name = $1';
const writeSql = `INSERT INTO secrets (name, sealed) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed`;

/**
 * Opens the secrets with the key from outside. Without a key, secrets can only be referred to. Rejects with a
 * GatewayError if the secrets are sealed with another key, and with PostgreSQL's error. The store itself rejects with a
 * GatewayError `storage_unavailable` while the database cannot be used.
 */
export async function openSealedSecrets(postgres: Postgres, outside: OutsideKey): Promise<SecretStore> {
  const key = await openKey(postgres, outside);
  const keyOrAdvice = () => {
    if (key !== null) return key;
    throw new GatewayError(
      'invalid_value',
      'Secrets are stored in the database only if they can be encrypted: set SLUICE_PASSPHRASE or SLUICE_KEY_FILE for all replicas, or refer to the secret by env:NAME or file:PATH.',
    );
  };
  /** Outside a transaction, a stalled server could execute the statement later. */
  const change = (sql: string, ...values: Parameter[]) =>
    explained(() => postgres.transactionSoon((queries) => queries.ask(sql, ...values)), unavailable);
  return {
    kind: 'database',
    description: describe(outside),
    async get(name) {
      const { rows } = await explained(() => withTimeout(postgres.ask(readSql, name)), unavailable);
      return rows[0] && open(text(rows[0].sealed), name, keyOrAdvice());
    },
    async set(name, value) {
      await change(writeSql, name, seal([name, value], keyOrAdvice()));
    },
    async delete(name) {
      await change('DELETE FROM secrets WHERE name = $1', name);
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

function open(sealed: string | null, name: string, key: FileKey): string {
  try {
    const plain: unknown = JSON.parse(decrypt(encryptedSecretsSchema.parse(JSON.parse(sealed ?? '')), key));
    if (Array.isArray(plain) && plain[0] === name && typeof plain[1] === 'string') return plain[1];
  } catch {
    // Handled like a secret that belongs to another name.
  }
  throw new GatewayError('internal', `The secret "${name}" in the database is damaged. Enter it again.`);
}

/** null if no key is given. */
async function openKey(postgres: Postgres, { passphrase, keyFile }: OutsideKey): Promise<FileKey | null> {
  if (passphrase === undefined && keyFile === undefined) return null;
  const stored = await readProof(postgres);
  if (stored) return prove(stored, await keyFor(stored, { passphrase, keyFile }));
  const source = keyFile === undefined ? createPassphraseSource() : ({ from: 'key-file' } as const);
  const newKey = await keyOf(source, { passphrase, keyFile });
  await postgres.ask(
    'INSERT INTO secret_key (proof) VALUES ($1) ON CONFLICT DO NOTHING',
    JSON.stringify(encrypt(provenText, newKey)),
  );
  // Another replica may have been first, with its own salt.
  const first = await readProof(postgres);
  return first ? prove(first, await keyFor(first, { passphrase, keyFile })) : newKey;
}

type Proof = ReturnType<typeof encryptedSecretsSchema.parse>;

async function readProof(postgres: Postgres): Promise<Proof | null> {
  const { rows } = await postgres.ask('SELECT proof FROM secret_key');
  return rows[0] ? encryptedSecretsSchema.parse(JSON.parse(text(rows[0].proof) ?? '')) : null;
}

function keyFor({ key: source }: Proof, outside: OutsideKey): Promise<FileKey> {
  const isGiven = source.from === 'key-file' ? outside.keyFile : outside.passphrase;
  if (isGiven !== undefined) return keyOf(source, outside);
  const [keyFileVariable, passphraseVariable] = ['SLUICE_KEY_FILE', 'SLUICE_PASSPHRASE'];
  const variable = source.from === 'key-file' ? keyFileVariable : passphraseVariable;
  throw new GatewayError('invalid_value', `The secrets in the database are encrypted with ${variable}: set it.`);
}

async function keyOf(source: FileKey['source'], { passphrase = '', keyFile = '' }: OutsideKey): Promise<FileKey> {
  const bytes = source.from === 'passphrase' ? await deriveKey(passphrase, source) : await readKey(keyFile);
  return { source, bytes };
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

function prove(proof: Proof, key: FileKey): FileKey {
  try {
    if (decrypt(proof, key) === provenText) return key;
  } catch {
    // The key is wrong.
  }
  const variable = key.source.from === 'key-file' ? 'SLUICE_KEY_FILE' : 'SLUICE_PASSPHRASE';
  throw new GatewayError(
    'invalid_value',
    `${variable} is not the one that the secrets in the database are encrypted with. Set the one that the other replicas have.`,
  );
}
