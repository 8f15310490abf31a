/** The present state of targets and credentials, for display. */
import type { FailureClass } from '../../contract/ledger.ts';
import {
  type CooldownView,
  describeFailure,
  type FailedWith,
  type FailureTexts,
} from '../../contract/provider-views.ts';
import type { CompiledProvider } from '../snapshot.ts';
import type { Circuit } from './circuit.ts';
import type { HealthTracker } from './health-tracker.ts';
import { noCredential, type ProviderHealth } from './provider-health.ts';

export interface Judgement {
  state: 'ok' | 'cooling' | 'refused';
  /** The failure behind the present or last cooldown; null: none. */
  failure: FailureClass | null;
  failedWith: FailedWith;
  /** On the health book's clock; 0 if it is used now. */
  untilMs: number;
}

const well: Judgement = { state: 'ok', failure: null, failedWith: null, untilMs: 0 };

function judgeCircuit(circuit: Circuit | undefined): Judgement {
  if (!circuit) return well;
  const { untilMs, failure, failedWith } = circuit;
  if (untilMs === Number.POSITIVE_INFINITY) return { state: 'refused', failure, failedWith, untilMs };
  return { state: untilMs === 0 ? 'ok' : 'cooling', failure, failedWith, untilMs };
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

/** The present time on the health book's monotonic clock and on the wall clock. */
interface ClockReadings {
  bookMs: number;
  wallMs: number;
}

export function viewCooldown(judgement: Judgement, { bookMs, wallMs }: ClockReadings): CooldownView {
  const { state, failure, failedWith, untilMs } = judgement;
  return {
    state,
    failure,
    failedWith,
    reason: state === 'ok' || failure === null ? null : describeFailure(failure, failedWith, failureTexts),
    until: state === 'cooling' && untilMs > bookMs ? Math.round(wallMs + untilMs - bookMs) : null,
  };
}

/** Why something is in a cooldown, for a person. */
const failureTexts: FailureTexts = {
  failures: {
    silent: 'it did not answer in time',
    'stream-broken': 'its streams broke off',
    'model-unavailable': 'it says that it does not have this model',
    'rate-limit': 'its rate limit was reached',
    quota: 'its quota or credit is used up',
    credential: 'it refused the credential: replace it, or reset its health once the credential works again',
    'too-large': 'the request was too large for it',
    rejected: 'it refused the request',
    lost: 'its answer to a request that makes something was lost',
    shortage: 'this machine had no descriptors, ports or memory left',
    'client-gone': 'the client disconnected',
  },
  answersWith: (status) => `it answers with errors (status ${status})`,
  badAnswers: 'its answers break off or are damaged',
  unreachable: (why) => `it cannot be reached: ${why}`,
  connectionFaults: {
    dns: 'its host name has no address',
    'dns-timeout': 'no name server answered in time',
    refused: 'the connection was refused',
    tls: 'its certificate is not accepted',
    proxy: 'the proxy failed',
    reset: 'the connection broke off',
    timeout: 'no connection in time',
    malformed: 'what answers there does not speak HTTP',
  },
};
