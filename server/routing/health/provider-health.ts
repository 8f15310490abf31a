import { Circuit } from './circuit.ts';
import { RecentCalls, RecentMean } from './recent.ts';

/** The credential id of providers without credentials. */
export const noCredential = '';

/** The health of one upstream model of a provider. */
export class TargetHealth {
  readonly circuit = new Circuit();
  readonly calls = new RecentCalls();
  readonly firstByteMs = new RecentMean();
  /** No request is spent on measuring it before this time. */
  measureAgainAtMs = 0;
  /** By credential id; only those with failures for this model. */
  readonly atCredential = new Map<string, Circuit>();

  get isTrusted(): boolean {
    return this.circuit.isTrusted && this.atCredential.size === 0;
  }
}

/** Clients choose model names, so the number of targets must be bounded. */
const mostTargets = 200;

export class ProviderHealth {
  /** By upstream model. */
  readonly targets = new Map<string | null, TargetHealth>();
  /** By id; only those with failures. */
  readonly credentials = new Map<string, Circuit>();

  /** Created on first use; beyond `mostTargets` it replaces a healthy one. */
  target(model: string | null): TargetHealth {
    const known = this.targets.get(model);
    if (known) return known;
    if (this.targets.size >= mostTargets) this.targets.delete(this.#leastWanted());
    const target = new TargetHealth();
    this.targets.set(model, target);
    return target;
  }

  /** The existing circuits that an attempt concerns. */
  troubles(target: TargetHealth | undefined, credentialId: string): Circuit[] {
    const circuits = [target?.circuit, target?.atCredential.get(credentialId), this.credentials.get(credentialId)];
    return circuits.filter((circuit) => circuit !== undefined);
  }

  /** End of a credential's cooldowns, in general and for this model; 0: none. */
  credentialUntilMs(model: string | null, credentialId: string): number {
    const everywhere = this.credentials.get(credentialId)?.untilMs ?? 0;
    return Math.max(everywhere, this.targets.get(model)?.atCredential.get(credentialId)?.untilMs ?? 0);
  }

  /** Whether a person has to replace it. */
  isRefused(credentialId: string): boolean {
    return this.credentials.get(credentialId)?.untilMs === Number.POSITIVE_INFINITY;
  }

  /** Whether credentials have to be checked one by one. */
  hasTroubledCredential(model: string | null): boolean {
    return this.credentials.size > 0 || (this.targets.get(model)?.atCredential.size ?? 0) > 0;
  }

  /** Considers the credential only, not the target's own circuit. */
  mayBeAsked(model: string | null, credentialId: string, nowMs: number): boolean {
    const ofCredential = this.credentials.get(credentialId);
    if (ofCredential && !ofCredential.mayBeAsked(nowMs)) return false;
    return this.targets.get(model)?.atCredential.get(credentialId)?.mayBeAsked(nowMs) ?? true;
  }

  forgetCredential(id: string): void {
    this.credentials.delete(id);
    for (const { atCredential } of this.targets.values()) atCredential.delete(id);
  }

  /** Drops circuits that have fully recovered. */
  forgetTrusted(target: TargetHealth, credentialId: string): void {
    for (const circuits of [this.credentials, target.atCredential])
      if (circuits.get(credentialId)?.isTrusted) circuits.delete(credentialId);
  }

  #leastWanted(): string | null {
    for (const [model, target] of this.targets) if (target.isTrusted) return model;
    const [oldest = null] = this.targets.keys();
    return oldest;
  }
}

/** Created on first use. */
export function circuitOf(circuits: Map<string, Circuit>, id: string): Circuit {
  const known = circuits.get(id);
  if (known) return known;
  const circuit = new Circuit();
  circuits.set(id, circuit);
  return circuit;
}
