import type { ModelHealth } from '../../contract/access-views.ts';
import type { FailureClass } from '../../contract/ledger.ts';
import type { CooldownView, ProviderHealthView } from '../../contract/provider-views.ts';
import { minuteMs } from '../../contract/units.ts';
import {
  bestOf,
  type Judgement,
  judgeCredential,
  judgeCredentialAlone,
  judgeList,
  judgeTarget,
  viewCooldown,
  well,
} from '../../routing/explain/explain-route.ts';
import type { HealthTracker } from '../../routing/health/health-tracker.ts';
import { noCredential, type ProviderHealth } from '../../routing/health/provider-health.ts';
import type { CompiledProvider } from '../../routing/snapshot.ts';

/** Views of providers', models' and credentials' health. */
export interface HealthViews {
  provider(provider: CompiledProvider): ProviderHealthView;
  model(provider: CompiledProvider, model: string | null): ModelHealth;
  credential(providerId: string, credentialId: string): CooldownView;
}

/** With a smaller number of recent calls (a call's weight halves every 15 s), no figures are shown. */
const minSampleWeight = 0.05;
const maxModels = 20;

export function createHealthViews(book: HealthTracker, wallMs: () => number): HealthViews {
  const clocks = () => ({ bookMs: book.nowMs(), wallMs: wallMs() });
  return {
    credential: (providerId, credentialId) =>
      viewCooldown(judgeCredential(book.provider(providerId), credentialId), clocks()),
    model(provider, model) {
      const { state, failure, failedWith, until } = viewCooldown(judgeTarget(book, provider, model), clocks());
      return { state, failure, failedWith, until };
    },
    provider(provider) {
      const health = book.provider(provider.id);
      const now = clocks();
      const targets = [...(health?.targets ?? [])].map(([model, { answeredAtMs }]): JudgedModel => {
        return { model, answeredAtMs, judgement: judgeTarget(book, provider, model) };
      });
      const { state, judgement } = summarizeHealth(provider, health, targets);
      const answeredAtMs = Math.max(0, ...targets.map((target) => target.answeredAtMs));
      return {
        ...viewCooldown(judgement, now),
        state,
        ...measure(health, now.bookMs),
        answeredAt: answeredAtMs === 0 ? null : Math.round(now.wallMs + answeredAtMs - now.bookMs),
        models: latestFirst(targets.map(({ model, judgement: each }) => ({ model, ...each })))
          .slice(0, maxModels)
          .map(({ model, ...each }) => ({ model, ...viewCooldown(each, now) })),
      };
    },
  };
}

/** Over all models, weighted by their calls. */
function measure(
  health: ProviderHealth | undefined,
  nowMs: number,
): Pick<ProviderHealthView, 'firstByteMs' | 'errorRate'> {
  let [calls, failures, weight, sum, latestMs] = [0, 0, 0, 0, 0];
  let latest: number | null = null;
  for (const { calls: recent, firstByteMs } of health?.targets.values() ?? []) {
    const count = recent.calls(nowMs);
    calls += count;
    failures += count * recent.errorRate;
    if (firstByteMs.value === null) continue;
    weight += count;
    sum += count * firstByteMs.value;
    if (firstByteMs.atMs > latestMs) [latestMs, latest] = [firstByteMs.atMs, firstByteMs.value];
  }
  return {
    firstByteMs: weight > minSampleWeight ? Math.round(sum / weight) : latest === null ? null : Math.round(latest),
    errorRate: calls > minSampleWeight ? Math.round((failures / calls) * 1_000) / 1_000 : null,
  };
}

interface JudgedModel {
  model: string | null;
  answeredAtMs: number;
  judgement: Judgement;
}

/** It says nothing about the service and its other models. */
const ofModelAlone: FailureClass = 'model-unavailable';
/** A model that answered this long before another one failed, or since, proves that the service works. */
const proofMs = minuteMs;

/** Those that fail. */
function latestFirst<Failing extends Pick<Judgement, 'failure' | 'failedAtMs'>>(all: readonly Failing[]): Failing[] {
  return all.filter(({ failure }) => failure !== null).toSorted((a, b) => b.failedAtMs - a.failedAtMs);
}

/**
 * Health is the models', and a provider's is derived from it: it fails only if its credentials or the network do, if all of its
 * models do, or if none has answered since about the time when one failed in a way that concerns the service. What is said is
 * the latest failure. It changes with what happens only, not with the time that passes, so that whoever looks at it sees the same.
 */
function summarizeHealth(
  provider: CompiledProvider,
  health: ProviderHealth | undefined,
  targets: readonly JudgedModel[],
): Pick<JudgedModel, 'judgement'> & { state: ProviderHealthView['state'] } {
  const ids = provider.credentials.length === 0 ? [noCredential] : provider.credentials.map(({ id }) => id);
  const everywhere = bestOf(ids.map((id) => judgeCredentialAlone(health, id)));
  if (everywhere.failure !== null) return { state: everywhere.state, judgement: everywhere };
  if (health?.unansweredList) {
    const judgement = judgeList(health.unansweredList);
    return { state: judgement.state, judgement };
  }
  const failing = latestFirst(targets.map(({ judgement }) => judgement));
  const failedAtMs = failing[0]?.failedAtMs ?? 0;
  const isProved = targets.some(
    ({ judgement: { failure }, answeredAtMs }) =>
      failure === null && answeredAtMs > 0 && answeredAtMs > failedAtMs - proofMs,
  );
  const isAll = !provider.anyModel && failing.length >= provider.models.size;
  const ofService = failing.find(({ failure }) => failure !== ofModelAlone);
  const latest = ofService ?? failing[0];
  if (latest && !isProved && (isAll || ofService)) return { state: latest.state, judgement: latest };
  const [part] = latestFirst([...failing, ...ids.map((id) => judgeCredential(health, id))]);
  const isDegraded = part !== undefined || targets.some(({ judgement }) => judgement.state === 'degraded');
  return { state: isDegraded ? 'degraded' : 'ok', judgement: part ?? well };
}
