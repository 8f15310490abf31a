import { hash } from 'node:crypto';
import type { ConfigStore } from '../../config/config-store.ts';
import { controlError } from '../../contract/control-error.ts';
import { keySecretName, resolveSecret, type SecretStore } from '../../secrets/secret-store.ts';
import { findById } from './change-list.ts';

interface RevealPorts {
  config: ConfigStore;
  openSecrets: () => Promise<SecretStore>;
  env: Readonly<Record<string, string | undefined>>;
}

/** The secret of a key. Throws GatewayError `not_found` if it was not kept. */
export async function revealKey(ports: RevealPorts, id: string): Promise<string> {
  const key = findById(ports.config.current.config.keys, id, 'key');
  if (!key.secret) {
    throw controlError('not_found', { code: 'secret-not-kept', key: id });
  }
  const name = keySecretName(id);
  const store = key.secret === 'keychain' ? await ports.openSecrets() : { get: async () => undefined };
  const secret = await resolveSecret(key.secret, { name, store, env: ports.env });
  // After a crash during a rotation, the stored secret may not be the one in force.
  if (secret === undefined || (key.hash && key.hash !== hashKeySecret(secret))) {
    throw controlError('not_found', { code: 'secret-lost', key: id });
  }
  return secret;
}

/** The `hash` of a key in the configuration. Keys have 250 random bits, so a plain hash is safe. */
export function hashKeySecret(secret: string): string {
  return `sha256:${hash('sha256', secret)}`;
}
