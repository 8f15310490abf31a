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
  /** When the cooldown began that this one follows without a success in between. */
  sinceAgoMs: number;
  /** From now; infinite until a person acts. */
  forMs: number;
}

/** Hears what the health book learns that other replicas may want to know. Nothing waits for it. */
export interface HealthSharing {
  /** An upstream's own answer has begun or prolonged a cooldown. */
  cooled(place: CoolingPlace, cooldown: Cooldown): void;
  /** It answers again. */
  answered(place: CoolingPlace): void;
  /** A person has reset a provider, or one credential. */
  reset(providerId: string, credentialId?: string): void;
}
