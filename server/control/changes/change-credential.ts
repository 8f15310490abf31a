import type { CredentialConfig } from '../../contract/config.ts';
import { GatewayError } from '../../contract/errors.ts';
import { credentialSecretName } from '../../secrets/secret-store.ts';
import { chooseId, findById, putById, withoutId } from '../entries/change-list.ts';
import type { Changer } from './change.ts';
import { findProvider } from './change-provider.ts';

export const setCredential: Changer<'credential.set'> = (config, command) => {
  const { secret, reference } = command;
  const provider = findProvider(config, command.provider);
  if (secret !== undefined && reference !== undefined) {
    throw new GatewayError('invalid_command', 'Give either the secret or a reference to it, not both.');
  }
  const old = provider.credentials.find((credential) => credential.id === command.id);
  if (!old && secret === undefined && reference === undefined) {
    throw new GatewayError('invalid_command', 'A new credential needs its secret or a reference to it.');
  }
  const usedIds = provider.credentials.map((credential) => credential.id);
  const id = old?.id ?? chooseId(command.id, [command.label ?? undefined], usedIds, 'c');
  const credential = changed(old, { ...command, id });
  const name = credentialSecretName(provider.id, id);
  const credentials = putById(provider.credentials, credential);
  return {
    config: { ...config, providers: putById(config.providers, { ...provider, credentials }) },
    ...(secret !== undefined && { storeBefore: [{ name, value: secret }] }),
    ...((secret ?? reference) !== undefined && { renewed: { provider: provider.id, credential: id } }),
    ...(reference !== undefined && old?.secret === 'keychain' && { deleteAfter: [name] }),
    result: ({ revision, views }) => ({
      revision,
      credential: findById(views.provider(provider.id).credentials, id, 'credential'),
    }),
  };
};

export const removeCredential: Changer<'credential.remove'> = (config, { provider: providerId, id }) => {
  const provider = findProvider(config, providerId);
  const credential = findById(provider.credentials, id, 'credential');
  const credentials = withoutId(provider.credentials, id);
  return {
    config: { ...config, providers: putById(config.providers, { ...provider, credentials }) },
    ...(credential.secret === 'keychain' && { deleteAfter: [credentialSecretName(providerId, id)] }),
    result: ({ revision }) => ({ revision }),
  };
};

interface CredentialChange {
  id: string;
  label?: string | null | undefined;
  secret?: string | undefined;
  reference?: string | undefined;
  enabled?: boolean | undefined;
}

function changed(old: CredentialConfig | undefined, change: CredentialChange): CredentialConfig {
  const label = change.label === undefined ? old?.label : change.label;
  const secretSource = change.secret === undefined ? (change.reference ?? old?.secret ?? 'keychain') : 'keychain';
  return {
    id: change.id,
    ...(label && { label }),
    secret: secretSource,
    enabled: change.enabled ?? old?.enabled ?? true,
  };
}
