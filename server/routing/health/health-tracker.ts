/**
 * Tracks the recent health of targets and credentials, across configuration changes. Decides when each is in a cooldown
 * and when it is tried again; does not order targets.
 */
import type { FailureClass } from '../../contract/ledger.ts';
import type { FailedWith } from '../../contract/provider-views.ts';
import type { UpstreamCredential } from '../../providers/upstream.ts';
import type { AttemptReport } from '../picker.ts';
import type { CompiledProvider, Snapshot, Target } from '../snapshot.ts';
import { cooldownRuleFor, type Subject } from './cooldown-rules.ts';
import {
  type Circuit,
  type CircuitFailure,
  circuitOf,
  noCredential,
  ProviderHealth,
  type TargetHealth,
} from './provider-health.ts';

interface HealthPorts {
  /** Milliseconds of a monotonic clock, above 0. */
  nowMs(): number;
}

/** A view has changed; `isState`: more than a measurement. May be called for each attempt. */
type HealthListener = (providerId: string, isState: boolean) => void;

/** A target also enters a cooldown at this error rate over at least `enoughCalls` recent calls. */
const badErrorRate = 0.5;
const enoughCalls = 10;
/** A trial after silence waits for twice the usual time to the first byte, but at least this long. */
const minPatienceMs = 1_000;
/** How long a request waits for the end of a cooldown, and for an upstream that has been in trouble for no longer than this. */
const patienceMs = 2_000;
/** A success this soon after another replica's failure is ignored: the attempt began before. */
const underWayMs = 1_000;
/** A cooldown is shared with other replicas only if it lasts this much longer than the last one shared. */
const worthSharingMs = 500;

export class HealthTracker {
  readonly #ports: HealthPorts;
  readonly #providers = new Map<string, ProviderHealth>();
  #followed: ReadonlyMap<string, CompiledProvider> = new Map();
  #onChanged: HealthListener = () => {};
  #sharing: HealthSharing | null = null;

  constructor(ports: HealthPorts) {
    this.#ports = ports;
  }

  nowMs(): number {
    return this.#ports.nowMs();
  }

  /** Replaces the listener. */
  onChange(listener: HealthListener): void {
    this.#onChanged = listener;
  }

  /** From now on, changes are shared with other replicas. */
  share(sharing: HealthSharing): void {
    this.#sharing = sharing;
  }

  /** Undefined: nothing is known. */
  provider(id: string): ProviderHealth | undefined {
    return this.#providers.get(id);
  }

  /** Created on first use. */
  target({ provider, model }: Target): TargetHealth {
    return this.#of(provider.id).target(model);
  }

  isAvailable({ provider, model }: Target, nowMs: number): boolean {
    const health = this.#providers.get(provider.id);
    if (!health) return true;
    if (health.targets.get(model)?.circuit.isAvailable(nowMs) === false) return false;
    if (!health.hasTroubledCredential(model)) return true;
    return credentialIds(provider).some((id) => health.isAvailable(model, id, nowMs));
  }

  /** End of its cooldown; 0 if it is in none. */
  untilMs({ provider, model }: Target): number {
    const health = this.#providers.get(provider.id);
    if (!health) return 0;
    const ofCredentials = credentialIds(provider).map((id) => health.credentialUntilMs(model, id));
    return Math.max(health.targets.get(model)?.circuit.untilMs ?? 0, Math.min(...ofCredentials));
  }

  /**
   * How long the upstream has asked not to be asked for the model with any credential that is no hopeless one, or with this one; 0: it
   * has not.
   */
  heldBackForMs({ provider, model }: Target, onlyCredential: string | null): number {
    const health = this.#providers.get(provider.id);
    if (!health?.hasTroubledCredential(model)) return 0;
    const ids = onlyCredential === null ? credentialIds(provider) : [onlyCredential];
    const usable = ids.filter((id) => !health.isRefused(id));
    if (usable.length === 0) return 0;
    return Math.min(...usable.map((id) => health.heldBackForMs(model, id, this.#ports.nowMs())));
  }

  /** See `Picker.worthWaitingMs`. */
  worthWaitingMs({ provider, model }: Target, credentialId: string | null): number | null {
    const health = this.#providers.get(provider.id);
    if (!health) return 0;
    const nowMs = this.#ports.nowMs();
    let longestMs = 0;
    for (const circuit of health.troubles(health.targets.get(model), credentialId ?? noCredential)) {
      const waitMs = circuit.worthWaitingMs(nowMs, patienceMs);
      if (waitMs === null) return null;
      longestMs = Math.max(longestMs, waitMs);
    }
    return longestMs;
  }

  /** How long to wait for a target in a cooldown for silence; 0: it is in none. */
  trialPatienceMs({ provider, model }: Target): number {
    const target = this.#providers.get(provider.id)?.targets.get(model);
    if (!target || target.circuit.isClosed || target.circuit.failure !== 'silent') return 0;
    return Math.max(minPatienceMs, 2 * (target.firstByteMs.value ?? minPatienceMs));
  }

  /** Recent time to the first byte; null: not measured. */
  firstByteMs({ provider, model }: Target): number | null {
    return this.#providers.get(provider.id)?.targets.get(model)?.firstByteMs.value ?? null;
  }

  began({ provider, model }: Target, credentialId: string | null): void {
    const health = this.#providers.get(provider.id);
    if (!health) return;
    const target = health.targets.get(model);
    if (health.credentials.size === 0 && target?.isTrusted !== false) return;
    const nowMs = this.#ports.nowMs();
    for (const circuit of health.troubles(target, credentialId ?? noCredential)) circuit.began(nowMs);
  }

  /** The first content of an answer ends a cooldown; its measurements follow with `report`. */
  answers(target: Target, credentialId: string | null): void {
    const { provider, model } = target;
    const health = this.#providers.get(provider.id);
    const ofTarget = health?.targets.get(model);
    if (!health || !ofTarget || (health.credentials.size === 0 && ofTarget.isTrusted)) return;
    const credential = credentialId ?? noCredential;
    const openCircuits = health.troubles(ofTarget, credential).filter((circuit) => !circuit.isClosed);
    if (openCircuits.length === 0) return;
    for (const circuit of openCircuits) this.#succeed(circuit, { health, target, ofTarget, credential });
    this.#onChanged(provider.id, true);
  }

  report(report: AttemptReport): void {
    const { failure, failedWith = null, retryAfterMs, target, isDenied = false } = report;
    const health = this.#of(target.provider.id);
    const rule = failure === null ? undefined : cooldownRuleFor(failure, isDenied);
    if (failure === null) this.#succeeded(health, report);
    else if (rule) this.#countFailure(health, report, { failure, failedWith, rule, retryAfterMs });
    else {
      const targetHealth = health.targets.get(target.model);
      for (const circuit of health.troubles(targetHealth, report.credentialId ?? noCredential)) circuit.ended();
    }
  }

  /**
   * Applies a cooldown of another replica, unless there is one of this replica, or a success here since that one began.
   */
  applyRemoteCooldown(coolingPlace: CoolingPlace, { failure, failedWith, sinceAgoMs, forMs }: Cooldown): void {
    const health = this.#of(coolingPlace.provider.id);
    const ofTarget = health.target(coolingPlace.model);
    const nowMs = this.#ports.nowMs();
    if (ofTarget.firstByteMs.atMs > nowMs - sinceAgoMs + underWayMs) return;
    const circuit = circuitFor(coolingPlace.subject, health, ofTarget, coolingPlace.credential);
    if (circuit.openRemotely({ failure, failedWith }, nowMs + forMs)) this.#onChanged(coolingPlace.provider.id, true);
  }

  /** Applies that another replica saw an answer. */
  applyRemoteRecovery({ provider, model, subject, credential }: CoolingPlace): void {
    const health = this.#providers.get(provider.id);
    const ofTarget = health?.targets.get(model);
    if (!health || !ofTarget) return;
    if (!circuitFor(subject, health, ofTarget, credential).closeRemotely()) return;
    health.forgetTrusted(ofTarget, credential);
    this.#onChanged(provider.id, true);
  }

  /** Ends the cooldowns of a provider, or of one credential, here and at other replicas. What failed is known until it answers. */
  reset(providerId: string, credentialId?: string): void {
    const health = this.#providers.get(providerId);
    if (health) {
      const circuits = credentialId === undefined ? health.circuits() : health.circuitsOf(credentialId);
      for (const circuit of circuits) circuit.reset();
      if (credentialId === undefined) for (const { calls } of health.targets.values()) calls.forget();
      this.#onChanged(providerId, true);
    }
    this.#sharing?.reset(providerId, credentialId);
  }

  /** Forgets the state of a credential that has another secret, here and at other replicas. */
  renewed(providerId: string, credentialId: string): void {
    this.forget(providerId, credentialId);
    this.#sharing?.reset(providerId, credentialId);
  }

  /** A test has called the model with the first credential, and it answered. */
  proved({ provider, model }: Pick<Target, 'provider' | 'model'>): void {
    const health = this.#of(provider.id);
    const ofTarget = health.target(model);
    ofTarget.answeredAtMs = this.#ports.nowMs();
    health.unansweredList = null;
    for (const circuit of health.troubles(ofTarget, credentialIds(provider)[0] ?? noCredential))
      circuit.proved(this.#ports.nowMs());
    ofTarget.calls.forget();
    this.#onChanged(provider.id, true);
  }

  /**
   * Asked for its models, the provider could not be reached, or refused the credential, which says nothing if requests have been
   * answered with it. Requests are sent as before.
   */
  listUnanswered(providerId: string, { failure, failedWith }: { failure: FailureClass; failedWith: FailedWith }): void {
    const health = this.#of(providerId);
    const hasAnswered = [...health.targets.values()].some(({ answeredAtMs }) => answeredAtMs > 0);
    const saysNothing = failure === 'credential' && hasAnswered;
    health.unansweredList = saysNothing ? null : { failure, failedWith, atMs: this.#ports.nowMs() };
  }

  /** Asked for its models, the provider answered, so it can be reached. */
  listAnswered(providerId: string): void {
    const health = this.#providers.get(providerId);
    if (!health) return;
    health.unansweredList = null;
    for (const { circuit, calls } of health.targets.values()) {
      if (typeof circuit.failedWith !== 'string') continue;
      circuit.proved(this.#ports.nowMs());
      calls.forget();
    }
  }

  /** Forgets the state of a provider, or of one credential, on this replica. */
  forget(providerId: string, credentialId?: string): void {
    const health = this.#providers.get(providerId);
    if (!health) return;
    if (credentialId === undefined) this.#providers.delete(providerId);
    else health.forgetCredential(credentialId);
    this.#onChanged(providerId, true);
  }

  /** After a change of network, earlier failures say nothing about targets; refused credentials stay refused. */
  networkChanged(): void {
    for (const [id, health] of this.#providers) {
      health.targets.clear();
      health.unansweredList = null;
      this.#onChanged(id, true);
    }
  }

  /** Forgets the state of whatever was removed from the configuration or changed in it. */
  follow({ providers }: Pick<Snapshot, 'providers'>): void {
    const obsolete = findObsoleteHealth(this.#followed, providers);
    this.#followed = providers;
    for (const id of obsolete.providers) this.forget(id);
    for (const { providerId, credentialId } of obsolete.credentials) this.forget(providerId, credentialId);
    // Requests that outlive their provider may have reported to it since.
    for (const id of this.#providers.keys()) if (!providers.has(id)) this.#providers.delete(id);
  }

  #of(providerId: string): ProviderHealth {
    const existing = this.#providers.get(providerId);
    if (existing) return existing;
    const health = new ProviderHealth();
    this.#providers.set(providerId, health);
    return health;
  }

  #succeeded(health: ProviderHealth, { target, credentialId, firstByteMs }: AttemptReport): void {
    const nowMs = this.#ports.nowMs();
    const ofTarget = health.target(target.model);
    ofTarget.calls.count(false, nowMs);
    ofTarget.answeredAtMs = nowMs;
    health.unansweredList = null;
    if (firstByteMs !== null) ofTarget.firstByteMs.add(firstByteMs, nowMs);
    const isTroubled = health.credentials.size > 0 || !ofTarget.isTrusted;
    if (isTroubled) {
      const credential = credentialId ?? noCredential;
      for (const circuit of health.troubles(ofTarget, credential))
        this.#succeed(circuit, { health, target, ofTarget, credential });
      health.forgetTrusted(ofTarget, credential);
    }
    this.#onChanged(target.provider.id, isTroubled);
  }

  #succeed(circuit: Circuit, { health, target, ofTarget, credential }: Concerned): void {
    const wasClosed = circuit.isClosed;
    // A target that answers here is up, whatever another replica saw. This does not hold for a credential, whose limit
    // may have been reached since.
    if (circuit.isRemote && circuit === ofTarget.circuit) circuit.closeRemotely();
    else circuit.succeeded(this.#ports.nowMs());
    if (wasClosed || !circuit.isClosed) return;
    // Failures before the cooldown must not begin the next one.
    if (circuit === ofTarget.circuit) ofTarget.calls.forget();
    const { provider, model } = target;
    const subject = subjectOf(circuit, health, ofTarget);
    this.#sharing?.answered({ provider, model, subject, credential });
  }

  #countFailure(
    health: ProviderHealth,
    { target, credentialId, isAnswer }: AttemptReport,
    circuitFailure: CircuitFailure,
  ): void {
    const nowMs = this.#ports.nowMs();
    const ofTarget = health.target(target.model);
    const credential = credentialId ?? noCredential;
    const circuit = circuitFor(circuitFailure.rule.subject, health, ofTarget, credential);
    const untilBeforeMs = circuit.untilMs;
    circuit.failed(circuitFailure, nowMs);
    for (const other of health.troubles(ofTarget, credential)) if (other !== circuit) other.ended();
    if (circuit === ofTarget.circuit) coolDownIfBad(ofTarget, circuitFailure, nowMs);
    this.#onChanged(target.provider.id, true);
    if (!this.#sharing || !isAnswer || circuit.untilMs === untilBeforeMs) return;
    // Many requests that fail together may each prolong it a little.
    if (circuit.untilMs < Math.max(untilBeforeMs, nowMs) + worthSharingMs) return;
    const coolingPlace = {
      provider: target.provider,
      model: target.model,
      subject: circuitFailure.rule.subject,
      credential,
    };
    const cooldown = { sinceAgoMs: nowMs - circuit.sinceMs, forMs: circuit.untilMs - nowMs };
    const { failure, failedWith } = circuitFailure;
    this.#sharing.cooled(coolingPlace, { failure, failedWith, ...cooldown });
  }
}

/** What an attempt concerns. */
interface Concerned {
  health: ProviderHealth;
  target: Target;
  ofTarget: TargetHealth;
  credential: string;
}

function credentialIds({ credentials }: CompiledProvider): readonly string[] {
  return credentials.length === 0 ? without : credentials.map(({ id }) => id);
}

const without: readonly string[] = [noCredential];

function circuitFor(subject: Subject, health: ProviderHealth, target: TargetHealth, credential: string): Circuit {
  if (subject === 'target') return target.circuit;
  return circuitOf(subject === 'credential' ? health.credentials : target.atCredential, credential);
}

function subjectOf(circuit: Circuit, health: ProviderHealth, target: TargetHealth): Subject {
  if (circuit === target.circuit) return 'target';
  return [...health.credentials.values()].includes(circuit) ? 'credential' : 'credential-at-target';
}

function coolDownIfBad({ calls, circuit }: TargetHealth, circuitFailure: CircuitFailure, nowMs: number): void {
  calls.count(true, nowMs);
  const isBad = calls.calls(nowMs) >= enoughCalls && calls.errorRate >= badErrorRate;
  if (isBad && circuit.isClosed) circuit.coolDown(circuitFailure, nowMs);
}

// What gateways tell each other of cooldowns, and what of them a change of the configuration ends.

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
function findObsoleteHealth(before: Providers, after: Providers): ObsoleteHealth {
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
