import type { ConfigStore } from '../config/config-store.ts';
import { GatewayError } from '../contract/errors.ts';
import { resolveSecret } from '../secrets/resolve-secret.ts';
import { keySecretName, type SecretStore } from '../secrets/secret-store.ts';
import { findById } from './change-list.ts';
import { hashKeySecret } from './hash-key-secret.ts';

interface RevealPorts {
  config: ConfigStore;
  openSecrets: () => Promise<SecretStore>;
  env: Readonly<Record<string, string | undefined>>;
}

/** The secret of a key. Throws GatewayError `not_found` if it was not kept. */
export async function revealKey(ports: RevealPorts, id: string): Promise<string> {
  const key = findById(ports.config.current.config.keys, id, 'key');
  if (!key.secret) {
    throw new GatewayError(
      'not_found',
      `The secret of key "${id}" was shown once and not kept. Rotate it for a new one.`,
    );
  }
  const name = keySecretName(id);
  const store = key.secret === 'keychain' ? await ports.openSecrets() : { get: async () => undefined };
  const secret = await resolveSecret(key.secret, { name, store, env: ports.env });
  // A crash in a rotation can leave another secret there than the one in force.
  if (secret === undefined || (key.hash && key.hash !== hashKeySecret(secret))) {
    throw new GatewayError('not_found', `The secret of key "${id}" is not where it was kept. Rotate it for a new one.`);
  }
  return secret;
}
