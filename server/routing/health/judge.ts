/** The present state of targets and credentials, for display. */
import type { FailureClass } from '../../contract/ledger.ts';
import type { CompiledProvider } from '../snapshot.ts';
import type { Circuit } from './circuit.ts';
import type { HealthTracker } from './health-tracker.ts';
import { noCredential, type ProviderHealth } from './provider-health.ts';

export interface Judgement {
  state: 'ok' | 'cooling' | 'refused';
  /** The failure behind the present or last cooldown; null: none. */
  failure: FailureClass | null;
  /** On the health book's clock; 0 if it is used now. */
  untilMs: number;
}

const well: Judgement = { state: 'ok', failure: null, untilMs: 0 };

function judgeCircuit(circuit: Circuit | undefined): Judgement {
  if (!circuit) return well;
  const { untilMs, failure } = circuit;
  if (untilMs === Number.POSITIVE_INFINITY) return { state: 'refused', failure, untilMs };
  return { state: untilMs === 0 ? 'ok' : 'cooling', failure, untilMs };
}

/** The one with the latest end. */
export function worstOf(judgements: readonly Judgement[]): Judgement {
  return judgements.reduce((worst, each) => (isWorse(each, worst) ? each : worst), well);
}

/** The one with the earliest end. */
export function bestOf(judgements: readonly Judgement[]): Judgement {
  const [first = well, ...others] = judgements;
  return others.reduce((best, each) => (isWorse(best, each) ? each : best), first);
}

function isWorse(one: Judgement, other: Judgement): boolean {
  return (
    one.untilMs > other.untilMs || (one.untilMs === other.untilMs && one.failure !== null && other.failure === null)
  );
}

/** Over all models: the worst. */
export function judgeCredential(health: ProviderHealth | undefined, credentialId: string): Judgement {
  if (!health) return well;
  const withModels = [...health.targets.values()].map(({ atCredential }) =>
    judgeCircuit(atCredential.get(credentialId)),
  );
  return worstOf([judgeCircuit(health.credentials.get(credentialId)), ...withModels]);
}

/** Whatever the model: its refusal, quota or limit. */
export function judgeCredentialAlone(health: ProviderHealth | undefined, credentialId: string): Judgement {
  return judgeCircuit(health?.credentials.get(credentialId));
}

/** The target's own state or that of its best credential, whichever is worse. */
export function judgeTarget(tracker: HealthTracker, provider: CompiledProvider, model: string | null): Judgement {
  const health = tracker.provider(provider.id);
  if (!health) return well;
  const ids = provider.credentials.length === 0 ? [noCredential] : provider.credentials.map(({ id }) => id);
  const best = bestOf(ids.map((id) => judgeCredentialAt(health, model, id)));
  return worstOf([judgeCircuit(health.targets.get(model)?.circuit), best]);
}

/** The credential's state for one model. */
export function judgeCredentialAt(health: ProviderHealth | undefined, model: string | null, id: string): Judgement {
  if (!health) return well;
  const atTarget = health.targets.get(model)?.atCredential.get(id);
  return worstOf([judgeCircuit(health.credentials.get(id)), judgeCircuit(atTarget)]);
}
