/**
 * Stores secrets: providers' credentials, and keys that can be shown again. Errors, notices and descriptions never
 * contain a value. Used at start and for changes, never on the request path.
 */

import { homedir } from 'node:os';
import { join } from 'node:path';
import { GatewayError } from '../contract/errors.ts';
import type { SecretStoreKind } from '../contract/status-views.ts';
import { describeFileProblem, readRegularFile, systemErrorCode } from '../ground/files/regular-file.ts';

export interface SecretStore {
  readonly kind: SecretStoreKind;
  /** One line for the user: where secrets are stored and how they are protected. */
  readonly description: string;
  /** Whether a copy of the data folder, such as a backup, opens it: its key is a file there. */
  readonly isOpenInCopies?: boolean;
  /** Undefined if there is none with this name. */
  get(name: string): Promise<string | undefined>;
  /** `value` must not be empty. */
  set(name: string, value: string): Promise<void>;
  /** Does nothing if there is none. */
  delete(name: string): Promise<void>;
  /** All names, sorted. */
  list(): Promise<string[]>;
}

/** The name of a provider's credential in any store. */
export function credentialSecretName(providerId: string, credentialId: string): string {
  return `provider/${providerId}/${credentialId}`;
}

/** The name of a client key's secret in any store. */
export function keySecretName(keyId: string): string {
  return `key/${keyId}`;
}

interface SecretSources {
  /** The name in the secret store for `keychain`: see `credentialSecretName` and `keySecretName`. */
  name: string;
  store: Pick<SecretStore, 'get'>;
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * Resolves a secret reference of the configuration: `env:NAME`, `file:PATH` (`~/` is the home folder; a trailing line
 * end is removed) or `keychain`. Undefined if the variable, file or item is missing or empty. Rejects with a
 * GatewayError that names the reference, never the value.
 */
export async function resolveSecret(reference: string, sources: SecretSources): Promise<string | undefined> {
  if (reference === 'keychain') return sources.store.get(sources.name);
  if (reference.startsWith('env:')) return sources.env[reference.slice('env:'.length)] || undefined;
  const path = secretFileOf(reference);
  if (path !== null) return (await readSecretFile(reference, path)) || undefined;
  // Not quoted, because it may be the secret itself.
  throw new GatewayError(
    'invalid_value',
    `The reference to the secret "${sources.name}" is none of env:NAME, file:PATH and keychain.`,
  );
}

/** The path of a reference `file:PATH`; null for any other. */
export function secretFileOf(reference: string): string | null {
  return reference.startsWith('file:') ? expandHome(reference.slice('file:'.length)) : null;
}

async function readSecretFile(reference: string, path: string): Promise<string | undefined> {
  try {
    const text = await readRegularFile(path);
    return text.replace(/\r?\n$/, '');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw new GatewayError('invalid_value', `${reference} cannot be read: ${describeFileProblem(error)}.`);
  }
}

function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path;
}
