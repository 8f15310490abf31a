import type { FailureClass } from '../../contract/ledger.ts';
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
