/** The present state of targets and credentials, for display. */
import { conditionTexts, describeFailure } from '../../contract/provider-condition.ts';
import type { CooldownView } from '../../contract/provider-views.ts';
import type { CompiledProvider } from '../snapshot.ts';
import type { Circuit } from './circuit.ts';
import type { HealthTracker } from './health-tracker.ts';
import { noCredential, type ProviderHealth, type UnansweredList } from './provider-health.ts';

export interface Judgement extends Pick<CooldownView, 'state' | 'failure' | 'failedWith' | 'failures'> {
  /** On the health book's clock, as `untilMs`; 0: no failure was seen here. */
  failedAtMs: number;
  /** 0 if it is used now. */
  untilMs: number;
}

export const well: Judgement = {
  ...{ state: 'ok', failure: null, failedWith: null, failures: 0 },
  ...{ failedAtMs: 0, untilMs: 0 },
};

function judgeCircuit(circuit: Circuit | undefined): Judgement {
  if (!circuit) return well;
  const { untilMs, failure, failedWith, failures, failedAtMs } = circuit;
  const state = untilMs === 0 ? 'ok' : untilMs === Number.POSITIVE_INFINITY ? 'refused' : 'cooling';
  return { state, failure, failedWith, failures, failedAtMs, untilMs };
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
  const target = health.targets.get(model);
  const worst = worstOf([judgeCircuit(target?.circuit), best]);
  const { unansweredList } = health;
  if (unansweredList && unansweredList.atMs >= worst.failedAtMs && worst.state !== 'refused')
    return judgeList(unansweredList);
  return worst.failure === null && target?.calls.isFailing ? { ...worst, state: 'degraded' } : worst;
}

/** The next request tries whether it can be reached. */
export function judgeList({ failure, failedWith, atMs }: UnansweredList): Judgement {
  return { state: 'cooling', failure, failedWith, failures: 1, failedAtMs: atMs, untilMs: atMs };
}

/** The credential's state for one model. */
export function judgeCredentialAt(health: ProviderHealth | undefined, model: string | null, id: string): Judgement {
  if (!health) return well;
  const atTarget = health.targets.get(model)?.atCredential.get(id);
  return worstOf([judgeCircuit(health.credentials.get(id)), judgeCircuit(atTarget)]);
}

/** The present time on the health book's monotonic clock and on the wall clock. */
interface ClockReadings {
  bookMs: number;
  wallMs: number;
}

export function viewCooldown(judgement: Judgement, { bookMs, wallMs }: ClockReadings): CooldownView {
  const { state, failure, failedWith, failures, failedAtMs, untilMs } = judgement;
  const onWall = (ms: number) => Math.round(wallMs + ms - bookMs);
  return {
    state,
    failure,
    failedWith,
    failures,
    failedAt: failure === null || failedAtMs === 0 ? null : onWall(failedAtMs),
    reason: failure === null ? null : describeFailure(failure, failedWith, conditionTexts),
    until: state === 'cooling' && untilMs > bookMs ? onWall(untilMs) : null,
  };
}
