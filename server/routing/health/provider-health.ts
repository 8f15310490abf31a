import { Circuit } from './circuit.ts';
import { RecentCalls, RecentMean } from './recent.ts';

/** Stands for the credential of a provider that has none. */
export const noCredential = '';

/** Of one upstream model of a provider. */
export class TargetHealth {
  readonly circuit = new Circuit();
  readonly calls = new RecentCalls();
  readonly firstByteMs = new RecentMean();
  /** Until then no request is spent on measuring it. */
  measureAgainAtMs = 0;
  /** By credential id; only of those that were in trouble with this model. */
  readonly atCredential = new Map<string, Circuit>();

  get isTrusted(): boolean {
    return this.circuit.isTrusted && this.atCredential.size === 0;
  }
}

/** A client chooses model names, so they must not fill the memory. */
const mostTargets = 200;

export class ProviderHealth {
  /** By upstream model. */
  readonly targets = new Map<string | null, TargetHealth>();
  /** By id; only of those that were in trouble. */
  readonly credentials = new Map<string, Circuit>();

  /** Makes room for a new one at the cost of one that has no trouble to be remembered. */
  target(model: string | null): TargetHealth {
    const known = this.targets.get(model);
    if (known) return known;
    if (this.targets.size >= mostTargets) this.targets.delete(this.#leastWanted());
    const target = new TargetHealth();
    this.targets.set(model, target);
    return target;
  }

  /** All that an attempt concerns and that is in trouble, or was of late. */
  troubles(target: TargetHealth | undefined, credentialId: string): Circuit[] {
    const circuits = [target?.circuit, target?.atCredential.get(credentialId), this.credentials.get(credentialId)];
    return circuits.filter((circuit) => circuit !== undefined);
  }

  /** Of a credential, with that model and everywhere; 0: now. */
  credentialUntilMs(model: string | null, credentialId: string): number {
    const everywhere = this.credentials.get(credentialId)?.untilMs ?? 0;
    return Math.max(everywhere, this.targets.get(model)?.atCredential.get(credentialId)?.untilMs ?? 0);
  }

  /** A person has to mend it. */
  isRefused(credentialId: string): boolean {
    return this.credentials.get(credentialId)?.untilMs === Number.POSITIVE_INFINITY;
  }

  /** Whether to look at credentials one by one. */
  hasTroubledCredential(model: string | null): boolean {
    return this.credentials.size > 0 || (this.targets.get(model)?.atCredential.size ?? 0) > 0;
  }

  /** With that credential, whatever the target's own state. */
  mayBeAsked(model: string | null, credentialId: string, nowMs: number): boolean {
    const ofCredential = this.credentials.get(credentialId);
    if (ofCredential && !ofCredential.mayBeAsked(nowMs)) return false;
    return this.targets.get(model)?.atCredential.get(credentialId)?.mayBeAsked(nowMs) ?? true;
  }

  forgetCredential(id: string): void {
    this.credentials.delete(id);
    for (const { atCredential } of this.targets.values()) atCredential.delete(id);
  }

  /** What has proved itself again need not be remembered. */
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

/** The circuit of that id, made where there is none. */
export function circuitOf(circuits: Map<string, Circuit>, id: string): Circuit {
  const known = circuits.get(id);
  if (known) return known;
  const circuit = new Circuit();
  circuits.set(id, circuit);
  return circuit;
}
