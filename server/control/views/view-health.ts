import type { FailureClass } from '../../contract/ledger.ts';
import type { CooldownView, ProviderHealthView } from '../../contract/provider-views.ts';
import type { HealthTracker } from '../../routing/health/health-tracker.ts';
import {
  bestOf,
  type Judgement,
  judgeCredential,
  judgeCredentialAlone,
  judgeTarget,
  viewCooldown,
  worstOf,
} from '../../routing/health/judge.ts';
import { noCredential, type ProviderHealth } from '../../routing/health/provider-health.ts';
import type { CompiledProvider } from '../../routing/snapshot.ts';

/** Views of providers' and credentials' health. */
export interface HealthViews {
  provider(provider: CompiledProvider): ProviderHealthView;
  credential(providerId: string, credentialId: string): CooldownView;
}

/** With a smaller number of recent calls (a call's weight halves every 15 s), no figures are shown. */
const minSampleWeight = 0.05;
const enoughCalls = 3;
const badErrorRate = 0.2;
const maxModels = 20;

export function createHealthViews(book: HealthTracker, wallMs: () => number): HealthViews {
  const view = (judgement: Judgement) => viewCooldown(judgement, { bookMs: book.nowMs(), wallMs: wallMs() });
  return {
    credential: (providerId, credentialId) => view(judgeCredential(book.provider(providerId), credentialId)),
    provider(provider) {
      const health = book.provider(provider.id);
      const models = health ? recentModels(health, book.nowMs()) : [];
      const judged = models.map((model) => ({ model, judgement: judgeTarget(book, provider, model) }));
      const bad = judged.filter(({ judgement }) => judgement.state !== 'ok');
      const figures = measure(health, book.nowMs());
      const { state, judgement } = summarizeHealth(book, provider, judged, figures);
      return {
        ...view(judgement),
        state,
        firstByteMs: figures.firstByteMs,
        errorRate: figures.errorRate,
        models: bad.slice(0, maxModels).map(({ model, judgement: each }) => ({ model, ...view(each) })),
      };
    },
  };
}

/** The models that have recent calls or are in a cooldown. */
function recentModels(health: ProviderHealth, nowMs: number): (string | null)[] {
  const targets = [...health.targets].filter(
    ([, { circuit, calls, atCredential }]) =>
      !circuit.isClosed || atCredential.size > 0 || calls.calls(nowMs) > minSampleWeight,
  );
  return targets.map(([model]) => model);
}

interface Figures {
  firstByteMs: number | null;
  errorRate: number | null;
  isFailing: boolean;
}

/** Over all models, weighted by their calls. */
function measure(health: ProviderHealth | undefined, nowMs: number): Figures {
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
  const isAsked = calls > minSampleWeight;
  return {
    firstByteMs: weight > minSampleWeight ? Math.round(sum / weight) : latest === null ? null : Math.round(latest),
    errorRate: isAsked ? Math.round((failures / calls) * 1_000) / 1_000 : null,
    isFailing: calls >= enoughCalls && failures / calls >= badErrorRate,
  };
}

/** It says nothing about the service and its other models. */
const ofModelAlone: FailureClass = 'model-unavailable';

/**
 * Health is the models', and a provider's is derived from it: it is down only if its credentials are, if all of its models are, or
 * if no model has answered recently and one failed in a way that concerns the service.
 */
function summarizeHealth(
  book: HealthTracker,
  provider: CompiledProvider,
  judged: readonly { judgement: Judgement }[],
  { isFailing }: Figures,
): { state: ProviderHealthView['state']; judgement: Judgement } {
  const health = book.provider(provider.id);
  const ids = provider.credentials.length === 0 ? [noCredential] : provider.credentials.map(({ id }) => id);
  const credentials = ids.map((id) => judgeCredential(health, id));
  const everywhere = bestOf(ids.map((id) => judgeCredentialAlone(health, id)));
  if (everywhere.state !== 'ok') return { state: everywhere.state, judgement: everywhere };
  const models = judged.map((each) => each.judgement);
  const best = bestOf(models);
  const isAll = !provider.anyModel && models.length >= provider.models.size;
  const concernsService = models.some(({ failure }) => failure !== ofModelAlone);
  if (best.state !== 'ok' && (isAll || concernsService)) return { state: best.state, judgement: best };
  const part = worstOf([...models, ...credentials]);
  const isDegraded = isFailing || part.failure !== null;
  return { state: isDegraded ? 'degraded' : 'ok', judgement: part };
}
