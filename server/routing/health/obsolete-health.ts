import type { UpstreamCredential } from '../../providers/upstream.ts';
import type { CompiledProvider } from '../snapshot.ts';

interface ObsoleteHealth {
  /** Ids of providers that were removed, switched on or off, or have another address. */
  providers: string[];
  /** Credentials that were removed or have another secret. */
  credentials: { providerId: string; credentialId: string }[];
}

type Providers = ReadonlyMap<string, CompiledProvider>;

/** Finds the providers and credentials whose health is obsolete after a change of the configuration. */
export function findObsoleteHealth(before: Providers, after: Providers): ObsoleteHealth {
  const obsolete: ObsoleteHealth = { providers: [], credentials: [] };
  for (const [providerId, previous] of before) {
    const current = after.get(providerId);
    if (!current || endpointKeyOf(current) !== endpointKeyOf(previous)) {
      obsolete.providers.push(providerId);
      continue;
    }
    for (const credential of previous.credentials) {
      const remaining = current.credentials.find(({ id }) => id === credential.id);
      if (!remaining || secretsOf(remaining) !== secretsOf(credential))
        obsolete.credentials.push({ providerId, credentialId: credential.id });
    }
    // It needed no credential, or was refused without one.
    if (previous.credentials.length === 0 && current.credentials.length > 0)
      obsolete.credentials.push({ providerId, credentialId: '' });
  }
  return obsolete;
}

/** To compare. */
function secretsOf({ headers, signing }: UpstreamCredential): string {
  return JSON.stringify([headers, signing?.secrets]);
}

export function endpointKeyOf({ endpoint, dialect, headers, proxy, unusable }: CompiledProvider): string {
  return JSON.stringify([endpoint, dialect.id, headers, proxy, unusable]);
}
