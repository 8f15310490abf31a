/**
 * Stores secrets: providers' credentials, and keys that can be shown again. Errors, notices and descriptions never
 * contain a value. Used at start and for changes, never on the request path.
 */
import type { SecretStoreKind } from '../contract/status-views.ts';

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
