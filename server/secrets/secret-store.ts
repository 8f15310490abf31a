/**
 * Where the values of secrets are kept: the credentials of providers, and keys that can be copied again. This folder
 * owns those values; it knows nothing of what they open, of the configuration, or of who asks.
 *
 * No error, notice or description of any store holds a value. `get` and its kin are for start and change, never for
 * the request path.
 */
import type { SecretStoreKind } from '../contract/status-views.ts';

export interface SecretStore {
  readonly kind: SecretStoreKind;
  /** One plain line for a person: where secrets are and what that means. */
  readonly description: string;
  /** Undefined if there is none of that name. */
  get(name: string): Promise<string | undefined>;
  /** `value` must not be empty. */
  set(name: string, value: string): Promise<void>;
  /** Deleting what is not there is no error. */
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
