/** The health of a provider, its models and credentials: circuits, and measurements in which older ones count less and less. */
import type { FailureClass } from '../../contract/ledger.ts';
import type { FailedWith } from '../../contract/provider-views.ts';
import { Circuit } from './circuit.ts';

/** The credential id of providers without credentials. */
export const noCredential = '';

const halfLifeMs = 15_000;
/** After this time a new measurement has the weight 1 - 1/e. */
const memoryMs = 30_000;
const minShare = 0.2;
/** At this error rate, over at least so many calls, something is said to fail though it is used. */
const notableErrorRate = 0.2;
const notableCalls = 3;

/** Recent calls and their failures. Times are milliseconds of a monotonic clock, here and below. */
class RecentCalls {
  #calls = 0;
  #failures = 0;
  #atMs = 0;

  count(isFailure: boolean, nowMs: number): void {
    const weight = this.#weightOfPast(nowMs);
    this.#calls = this.#calls * weight + 1;
    this.#failures = this.#failures * weight + (isFailure ? 1 : 0);
    this.#atMs = nowMs;
  }

  /** Weighted by age, so not an integer. */
  calls(nowMs: number): number {
    return this.#calls * this.#weightOfPast(nowMs);
  }

  /** 0 to 1. */
  get errorRate(): number {
    return this.#calls === 0 ? 0 : this.#failures / this.#calls;
  }

  /** As of the last call, so that it changes with calls only. */
  get isFailing(): boolean {
    return this.#calls >= notableCalls && this.errorRate >= notableErrorRate;
  }

  forget(): void {
    this.#calls = 0;
    this.#failures = 0;
  }

  #weightOfPast(nowMs: number): number {
    const ageMs = nowMs - this.#atMs;
    return ageMs <= 0 ? 1 : 2 ** (-ageMs / halfLifeMs);
  }
}

/** A moving average; the older the last measurement, the more the new one counts. */
class RecentMean {
  #mean: number | null = null;
  #atMs = 0;

  get value(): number | null {
    return this.#mean;
  }

  /** Time of the last measurement. */
  get atMs(): number {
    return this.#atMs;
  }

  add(value: number, nowMs: number): void {
    const share = this.#mean === null ? 1 : Math.max(minShare, 1 - Math.exp((this.#atMs - nowMs) / memoryMs));
    this.#mean = (this.#mean ?? 0) * (1 - share) + value * share;
    this.#atMs = nowMs;
  }
}

/** The health of one upstream model of a provider. */
export class TargetHealth {
  readonly circuit = new Circuit();
  readonly calls = new RecentCalls();
  readonly firstByteMs = new RecentMean();
  /** Its last answer to a request or a test; 0: none. */
  answeredAtMs = 0;
  /** No request is spent on measuring it before this time. */
  measureAgainAtMs = 0;
  /** By credential id; only those with failures for this model. */
  readonly atCredential = new Map<string, Circuit>();

  get isTrusted(): boolean {
    return this.circuit.isTrusted && this.atCredential.size === 0;
  }
}

/** Clients choose model names, so the number of targets must be bounded. */
const maxTargets = 200;

/** That the list of models could not be had because of the network or the credential. */
export interface UnansweredList {
  failure: FailureClass;
  failedWith: FailedWith;
  atMs: number;
}

export class ProviderHealth {
  /** Until the provider answers anything. */
  unansweredList: UnansweredList | null = null;
  /** By upstream model. */
  readonly targets = new Map<string | null, TargetHealth>();
  /** By id; only those with failures. */
  readonly credentials = new Map<string, Circuit>();

  /** Created on first use; beyond `maxTargets` it replaces a healthy one. */
  target(model: string | null): TargetHealth {
    const existing = this.targets.get(model);
    if (existing) return existing;
    if (this.targets.size >= maxTargets) this.targets.delete(this.#leastWanted());
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
    return this.credentials.get(credentialId)?.isRefused === true;
  }

  /** See `Picker.refusedForMs`. */
  refusedForMs(credentialId: string, nowMs: number): number | null {
    const circuit = this.credentials.get(credentialId);
    return circuit?.isRefused ? circuit.refusedForMs(nowMs) : null;
  }

  /** How long the upstream has asked not to be asked with this credential for this model; 0: it has not. */
  heldBackForMs(model: string | null, credentialId: string, nowMs: number): number {
    const everywhere = this.credentials.get(credentialId)?.heldBackForMs(nowMs) ?? 0;
    return Math.max(everywhere, this.targets.get(model)?.atCredential.get(credentialId)?.heldBackForMs(nowMs) ?? 0);
  }

  /** Whether credentials have to be checked one by one. */
  hasTroubledCredential(model: string | null): boolean {
    return this.credentials.size > 0 || (this.targets.get(model)?.atCredential.size ?? 0) > 0;
  }

  /** Considers the credential only, not the target's own circuit. */
  isAvailable(model: string | null, credentialId: string, nowMs: number): boolean {
    const ofCredential = this.credentials.get(credentialId);
    if (ofCredential && !ofCredential.isAvailable(nowMs)) return false;
    return this.targets.get(model)?.atCredential.get(credentialId)?.isAvailable(nowMs) ?? true;
  }

  /** All circuits. */
  *circuits(): Generator<Circuit> {
    yield* this.credentials.values();
    for (const { circuit, atCredential } of this.targets.values()) {
      yield circuit;
      yield* atCredential.values();
    }
  }

  circuitsOf(credentialId: string): Circuit[] {
    const atTargets = [...this.targets.values()].map(({ atCredential }) => atCredential.get(credentialId));
    return [this.credentials.get(credentialId), ...atTargets].filter((circuit) => circuit !== undefined);
  }

  forgetCredential(id: string): void {
    if (this.unansweredList?.failure === 'credential') this.unansweredList = null;
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
  const existing = circuits.get(id);
  if (existing) return existing;
  const circuit = new Circuit();
  circuits.set(id, circuit);
  return circuit;
}
