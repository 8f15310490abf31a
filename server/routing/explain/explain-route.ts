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
import { anyKeyOf, resolveRoute, whyUnknown } from '../resolve.ts';
import type { CompiledGroup, CompiledKey, CompiledProvider, Snapshot, Target } from '../snapshot.ts';
import type { ExplainedTarget } from './explain-order.ts';

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
