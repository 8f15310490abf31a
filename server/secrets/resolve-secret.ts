import { homedir } from 'node:os';
import { join } from 'node:path';
import { GatewayError } from '../contract/errors.ts';
import { describeFileProblem, readRegularFile, systemErrorCode } from '../ground/files/regular-file.ts';
import type { SecretStore } from './secret-store.ts';

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
