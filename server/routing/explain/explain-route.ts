/** Explains how a model name is routed. `resolveRoute` itself determines the targets, this module only the reasons. */

import {
  describeRouteReason,
  type RouteCandidate,
  type RouteReason,
  type RouteView,
  type WireWay,
} from '../../contract/access-views.ts';
import type { AliasConfig } from '../../contract/config.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Policy } from '../../contract/policy.ts';
import { conditionTexts, describeFailure } from '../../contract/provider-condition.ts';
import type { CooldownView } from '../../contract/provider-views.ts';
import { coolingLast, type StrategyFacts, strategies } from '../health/health-picker.ts';
import type { HealthTracker } from '../health/health-tracker.ts';
import { type Circuit, noCredential, type ProviderHealth, type UnansweredList } from '../health/provider-health.ts';
import { anyNameLast } from '../picker.ts';
import { anyKeyOf, resolveRoute, whyUnknown } from '../resolve.ts';
import type { CompiledGroup, CompiledKey, CompiledProvider, Snapshot, Target } from '../snapshot.ts';

interface RouteQuestion {
  snapshot: Snapshot;
  group: CompiledGroup;
  /** Null: any key of the group. */
  key: CompiledKey | null;
  model: string;
  /** The targets in the order in which they would be tried now, with the reasons. */
  explainOrder(targets: readonly Target[]): ExplainedTarget[];
  /** Explains how a target serves clients of each API, for the client's name of a model. */
  explainWires(target: Target, model: string): WireWay[];
}

interface ExplainedRoute {
  /** The error that a client would get; null if the request would go to a provider. */
  refusal: RouteView['refusal'];
  candidates: RouteCandidate[];
}

export function explainRoute(question: RouteQuestion): ExplainedRoute {
  const { targets, refusal } = resolve(question);
  const takenCandidates = question.explainOrder(targets).map((explained) => takenCandidate(question, explained));
  const leftOut: RouteCandidate[] = [];
  for (const provider of inOrder(question)) {
    if (targets.some((target) => target.provider.id === provider.id)) continue;
    const why = whyLeftOut(question, provider);
    leftOut.push({
      provider: provider.id,
      name: provider.name,
      isTaken: false,
      model: null,
      priority: null,
      weight: null,
      health: null,
      credentials: [],
      firstByteMs: null,
      priceUsd: null,
      place: null,
      wires: [],
      why,
      reason: describeRouteReason(why),
    });
  }
  return { refusal, candidates: [...takenCandidates, ...leftOut] };
}

function resolve({
  group,
  key,
  model,
}: RouteQuestion): Pick<ExplainedRoute, 'refusal'> & { targets: readonly Target[] } {
  const asker = key ?? anyKeyOf(group);
  try {
    return { targets: resolveRoute(group, asker, model).targets, refusal: null };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const isUnknown = error.code === 'model_not_found' || error.code === 'models_unknown';
    const why = isUnknown ? whyUnknown(group, asker, model) : { nearest: null, unlisted: [] };
    return { targets: [], refusal: { code: error.code, ...why, message: error.message } };
  }
}

/** The group's providers in order, then all others. */
function inOrder({ snapshot, group }: RouteQuestion): Iterable<CompiledProvider> {
  return new Set([...group.providers.map(({ provider }) => provider), ...snapshot.providers.values()]);
}

function takenCandidate(question: RouteQuestion, { target, ...explained }: ExplainedTarget): RouteCandidate {
  const { provider, model, priority, weight } = target;
  const why = whyTaken(question, provider, model);
  return {
    ...explained,
    provider: provider.id,
    name: provider.name,
    isTaken: true,
    model,
    priority,
    weight,
    wires: question.explainWires(target, question.model),
    why,
    reason: describeRouteReason(why),
  };
}

function whyTaken(question: RouteQuestion, provider: CompiledProvider, model: string | null): RouteReason {
  if (aliasOf(question)?.targets.some((target) => target.provider === provider.id && target.model === model))
    return { code: isOwnAlias(question) ? 'own-alias' : 'alias', alias: question.model };
  if (question.model === `${provider.id}/${model}`) return { code: 'addressed' };
  return { code: provider.models.has(question.model) ? 'listed' : 'any-name' };
}

function whyLeftOut(question: RouteQuestion, provider: CompiledProvider): RouteReason {
  const { group, key, model } = question;
  if (!group.providers.some((rankedProvider) => rankedProvider.provider === provider))
    return { code: 'not-in-group', group: group.id };
  const addressed = addressedProvider(question);
  const meant = addressed === provider ? model.slice(provider.id.length + 1) : null;
  const alias = aliasOf(question);
  const upstream = alias?.targets.find((target) => target.provider === provider.id)?.model ?? meant ?? model;
  if (!group.allowsModel(model, meant) || !group.mayAsk({ provider, model: upstream }))
    return { code: 'not-allowed', group: group.id };
  if (key?.allowsModel && ![model, meant ?? model].some(key.allowsModel)) return { code: 'not-on-key', key: key.name };
  if (alias && !alias.targets.some((target) => target.provider === provider.id))
    return { code: isOwnAlias(question) ? 'not-in-own-alias' : 'not-in-alias', alias: model };
  if (provider.unusable) return { code: 'unusable', reason: provider.unusable };
  // A target of the key's own alias that the key may not name.
  if (alias && isOwnAlias(question)) return { code: 'not-allowed', group: group.id };
  if (addressed && addressed !== provider) return { code: 'other-addressed', provider: addressed.id };
  return { code: 'not-served' };
}

/** The provider in `provider/model`, unless the whole is a model's name. */
function addressedProvider({ group, model }: RouteQuestion): CompiledProvider | undefined {
  if (group.routes.has(model)) return undefined;
  return group.providers.find(({ provider }) => model.startsWith(`${provider.id}/`))?.provider;
}

function aliasOf({ group, model }: RouteQuestion): AliasConfig | undefined {
  return group.aliases.get(model);
}

function isOwnAlias({ key, model }: RouteQuestion): boolean {
  return key?.aliases?.some(({ name }) => name === model) ?? false;
}

// Explains the order in which targets would be tried now. Without side effects.

interface OrderQuestion {
  health: HealthTracker;
  /** The price of a typical request in US dollars; null: unknown. */
  typicalPrice(target: Target): number | null;
  strategy: Policy['strategy'];
  /** Unix milliseconds. */
  wallMs: number;
}

export type ExplainedTarget = { target: Target } & Pick<
  RouteCandidate,
  'health' | 'firstByteMs' | 'priceUsd' | 'credentials' | 'place'
>;

export function explainOrder(targets: readonly Target[], question: OrderQuestion): ExplainedTarget[] {
  const { health, strategy, wallMs, typicalPrice } = question;
  const clocks = { bookMs: health.nowMs(), wallMs };
  const firstByteMs = (target: Target) => health.firstByteMs(target);
  const facts: StrategyFacts = { random: () => 0.5, conversation: () => null, firstByteMs, typicalPrice };
  const ordered = coolingLast(anyNameLast(strategies[strategy](targets, facts)), health, clocks.bookMs);
  return ordered.map((target) => {
    const { provider, model } = target;
    const credentials = provider.credentials.map(({ id }) => ({
      id,
      ...viewCooldown(judgeCredentialAt(health.provider(provider.id), model, id), clocks),
    }));
    const measured = firstByteMs(target);
    const explained = {
      target,
      health: viewCooldown(judgeTarget(health, provider, model), clocks),
      firstByteMs: measured === null ? null : Math.round(measured),
      priceUsd: typicalPrice(target),
      credentials: credentials.filter(({ state }) => state !== 'ok'),
    };
    const isHeldBack = health.heldBackForMs(target, null) > 0;
    return { ...explained, place: describePlace(strategy, { ...explained, isHeldBack }, clocks.wallMs) };
  });
}

type Facts = Omit<ExplainedTarget, 'target' | 'place'> & {
  /** It has told when to come again, and is not asked before. */
  isHeldBack: boolean;
};

/** Null: only priority and weight decide. */
function describePlace(strategy: Policy['strategy'], facts: Facts, wallMs: number): string | null {
  const { health, firstByteMs, priceUsd, isHeldBack } = facts;
  if (health && health.state !== 'ok') return describeCooldown(health, wallMs, isHeldBack);
  if (strategy === 'lowest-latency')
    return firstByteMs === null ? 'not measured yet' : `first byte after ${firstByteMs} ms recently`;
  if (strategy === 'lowest-price')
    return priceUsd === null ? 'it has no price' : `about $${priceUsd.toPrecision(2)} for a typical request`;
  return null;
}

function describeCooldown(
  { state, until, reason }: NonNullable<Facts['health']>,
  wallMs: number,
  isHeldBack: boolean,
): string {
  if (state === 'refused') return `${conditionTexts.refusedTrial}: ${reason}`;
  if (until === null || until <= wallMs) return `tried by the next request: ${reason}`;
  const exception = isHeldBack ? 'even if' : 'unless';
  return `not asked for ${Math.ceil((until - wallMs) / 1_000)} s, ${exception} nothing else is left: ${reason}`;
}

// The present state of targets and credentials, for display.

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
function worstOf(judgements: readonly Judgement[]): Judgement {
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

/** Its own trouble; without any, the worst over all models. */
export function judgeCredential(health: ProviderHealth | undefined, credentialId: string): Judgement {
  const own = judgeCredentialAlone(health, credentialId);
  if (!health || own.failure !== null) return own;
  const withModels = [...health.targets.values()].map(({ atCredential }) =>
    judgeCircuit(atCredential.get(credentialId)),
  );
  return worstOf(withModels);
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
function judgeCredentialAt(health: ProviderHealth | undefined, model: string | null, id: string): Judgement {
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
