import type { CompiledProvider } from '../snapshot.ts';

interface NewInConfiguration {
  /** Ids of providers that are gone, or lead elsewhere than before, or were switched on or off. */
  newProviders: string[];
  /** Those that are gone, or whose secret is another one. */
  newCredentials: { providerId: string; credentialId: string }[];
}

type Providers = ReadonlyMap<string, CompiledProvider>;

/** What of an earlier configuration means something else in a later one, so that what was learnt of it is worthless. */
export function whatIsNew(before: Providers, after: Providers): NewInConfiguration {
  const found: NewInConfiguration = { newProviders: [], newCredentials: [] };
  for (const [providerId, old] of before) {
    const now = after.get(providerId);
    if (!now || placeOf(now) !== placeOf(old)) {
      found.newProviders.push(providerId);
      continue;
    }
    for (const { id: credentialId, headers } of old.credentials) {
      const kept = now.credentials.find(({ id }) => id === credentialId);
      if (!kept || JSON.stringify(kept.headers) !== JSON.stringify(headers))
        found.newCredentials.push({ providerId, credentialId });
    }
    // It asked for none, or was refused without one.
    if (old.credentials.length === 0 && now.credentials.length > 0)
      found.newCredentials.push({ providerId, credentialId: '' });
  }
  return found;
}

function placeOf({ endpoint, dialect, headers, proxy, unusable }: CompiledProvider): string {
  return JSON.stringify([endpoint, dialect.id, headers, proxy, unusable]);
}
