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
  const found: ObsoleteHealth = { providers: [], credentials: [] };
  for (const [providerId, old] of before) {
    const now = after.get(providerId);
    if (!now || placeOf(now) !== placeOf(old)) {
      found.providers.push(providerId);
      continue;
    }
    for (const credential of old.credentials) {
      const kept = now.credentials.find(({ id }) => id === credential.id);
      if (!kept || secretsOf(kept) !== secretsOf(credential))
        found.credentials.push({ providerId, credentialId: credential.id });
    }
    // It needed no credential, or was refused without one.
    if (old.credentials.length === 0 && now.credentials.length > 0)
      found.credentials.push({ providerId, credentialId: '' });
  }
  return found;
}

/** To compare. */
function secretsOf({ headers, signing }: UpstreamCredential): string {
  return JSON.stringify([headers, signing?.secrets]);
}

export function placeOf({ endpoint, dialect, headers, proxy, unusable }: CompiledProvider): string {
  return JSON.stringify([endpoint, dialect.id, headers, proxy, unusable]);
}
