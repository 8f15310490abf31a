/** What is held against targets and credentials now, for those who are to be shown it. */
import type { FailureClass } from '../../contract/ledger.ts';
import type { CompiledProvider } from '../snapshot.ts';
import type { Circuit } from './circuit.ts';
import type { HealthBook } from './health-book.ts';
import { noCredential, type ProviderHealth } from './provider-health.ts';

export interface Judgement {
  state: 'ok' | 'cooling' | 'refused';
  /** Null: nothing is held against it. */
  failure: FailureClass | null;
  /** By the clock of the health book; 0 if it is asked now. */
  untilMs: number;
}

const well: Judgement = { state: 'ok', failure: null, untilMs: 0 };

function judgeCircuit(circuit: Circuit | undefined): Judgement {
  if (!circuit) return well;
  const { untilMs, failure } = circuit;
  if (untilMs === Number.POSITIVE_INFINITY) return { state: 'refused', failure, untilMs };
  return { state: untilMs === 0 ? 'ok' : 'cooling', failure, untilMs };
}

/** The one that lasts longest. */
export function worstOf(judgements: readonly Judgement[]): Judgement {
  return judgements.reduce((worst, each) => (isWorse(each, worst) ? each : worst), well);
}

/** The one that ends first. */
export function bestOf(judgements: readonly Judgement[]): Judgement {
  const [first = well, ...others] = judgements;
  return others.reduce((best, each) => (isWorse(best, each) ? each : best), first);
}

function isWorse(one: Judgement, other: Judgement): boolean {
  return (
    one.untilMs > other.untilMs || (one.untilMs === other.untilMs && one.failure !== null && other.failure === null)
  );
}

/** With all models, where it is limited with one of them too. */
export function judgeCredential(health: ProviderHealth | undefined, credentialId: string): Judgement {
  if (!health) return well;
  const withModels = [...health.targets.values()].map(({ atCredential }) =>
    judgeCircuit(atCredential.get(credentialId)),
  );
  return worstOf([judgeCircuit(health.credentials.get(credentialId)), ...withModels]);
}

/** With the best of its credentials. */
export function judgeTarget(book: HealthBook, provider: CompiledProvider, model: string | null): Judgement {
  const health = book.provider(provider.id);
  if (!health) return well;
  const ids = provider.credentials.length === 0 ? [noCredential] : provider.credentials.map(({ id }) => id);
  const best = bestOf(ids.map((id) => judgeCredentialAt(health, model, id)));
  return worstOf([judgeCircuit(health.targets.get(model)?.circuit), best]);
}

/** With that model. */
export function judgeCredentialAt(health: ProviderHealth | undefined, model: string | null, id: string): Judgement {
  if (!health) return well;
  const atTarget = health.targets.get(model)?.atCredential.get(id);
  return worstOf([judgeCircuit(health.credentials.get(id)), judgeCircuit(atTarget)]);
}
