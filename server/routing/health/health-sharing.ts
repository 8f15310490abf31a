/** What gateways tell each other of cooldowns, and what of them a change of the configuration ends. */
import type { FailureClass } from '../../contract/ledger.ts';
import type { FailedWith } from '../../contract/provider-views.ts';
import type { UpstreamCredential } from '../../providers/upstream.ts';
import type { CompiledProvider } from '../snapshot.ts';
import type { Subject } from './cooldown-rules.ts';

/** What a cooldown is of. */
export interface CoolingPlace {
  provider: CompiledProvider;
  /** The upstream model; null for requests that name none. */
  model: string | null;
  subject: Subject;
  /** A credential's id; empty if the provider needs none. */
  credential: string;
}

/** In milliseconds. */
export interface Cooldown {
  failure: FailureClass;
  failedWith: FailedWith;
  /** Beginning of the first cooldown since the last success. */
  sinceAgoMs: number;
  /** From now; infinite until a person acts. */
  forMs: number;
}

/** Shares changes of health with other replicas. Calls return without waiting. */
export interface HealthSharing {
  /** An upstream's own answer has begun or prolonged a cooldown. */
  cooled(coolingPlace: CoolingPlace, cooldown: Cooldown): void;
  /** The target or credential answers again. */
  answered(coolingPlace: CoolingPlace): void;
  /** A person has reset a provider, or one credential. */
  reset(providerId: string, credentialId?: string): void;
}

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
