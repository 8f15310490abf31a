/**
 * Why a model name goes where it goes. The targets come from `resolveRoute` itself, so what is explained is what would
 * happen; only the reasons are found here.
 */
import type { AliasConfig } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import type { RouteCandidate } from '../contract/views.ts';
import { anyKeyOf } from './any-key.ts';
import { resolveRoute } from './resolve.ts';
import type { CompiledGroup, CompiledKey, CompiledProvider, Snapshot, Target } from './snapshot.ts';

export interface RouteQuestion {
  snapshot: Snapshot;
  group: CompiledGroup;
  /** Null: any key of the group. */
  key: CompiledKey | null;
  aliases: readonly AliasConfig[];
  model: string;
}

export interface ExplainedRoute {
  /** What a client would be answered at once; null if the request would go to a provider. */
  refusal: { code: string; message: string } | null;
  candidates: RouteCandidate[];
}

export function explainRoute(question: RouteQuestion): ExplainedRoute {
  const { targets, refusal } = resolve(question);
  const taken = targets.map((target) => takenCandidate(question, target));
  const leftOut: RouteCandidate[] = [];
  for (const provider of inOrder(question)) {
    if (targets.some((target) => target.provider.id === provider.id)) continue;
    leftOut.push({
      provider: provider.id,
      name: provider.name,
      isTaken: false,
      model: null,
      priority: null,
      weight: null,
      reason: whyLeftOut(question, provider),
    });
  }
  return { refusal, candidates: [...taken, ...leftOut] };
}

function resolve({
  group,
  key,
  model,
}: RouteQuestion): Pick<ExplainedRoute, 'refusal'> & { targets: readonly Target[] } {
  try {
    return { targets: resolveRoute(group, key ?? anyKeyOf(group), model).targets, refusal: null };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { targets: [], refusal: { code: error.code, message: error.message } };
  }
}

/** Those of the group in its order, then the rest. */
function inOrder({ snapshot, group }: RouteQuestion): Iterable<CompiledProvider> {
  return new Set([...group.providers.map(({ provider }) => provider), ...snapshot.providers.values()]);
}

function takenCandidate(question: RouteQuestion, { provider, model, priority, weight }: Target): RouteCandidate {
  return {
    provider: provider.id,
    name: provider.name,
    isTaken: true,
    model,
    priority,
    weight,
    reason: whyTaken(question, provider, model),
  };
}

function whyTaken(question: RouteQuestion, provider: CompiledProvider, model: string | null): string {
  if (aliasOf(question)?.targets.some((target) => target.provider === provider.id && target.model === model))
    return `the alias "${question.model}" leads to it`;
  if (question.model === `${provider.id}/${model}`) return 'the model name addresses it';
  return provider.models.has(question.model) ? 'it serves this model' : 'it takes any model name';
}

function whyLeftOut(question: RouteQuestion, provider: CompiledProvider): string {
  const { group, key, model } = question;
  if (!group.providers.some((ranked) => ranked.provider === provider)) return `group "${group.id}" may not use it`;
  const addressed = addressedProvider(question);
  const meant = addressed === provider ? model.slice(provider.id.length + 1) : null;
  if (!group.allowsModel(model, meant)) return `group "${group.id}" does not allow this model name`;
  if (key?.allowsModel && ![model, meant ?? model].some(key.allowsModel))
    return `the list of key "${key.name}" does not allow this model name`;
  const alias = aliasOf(question);
  if (alias && !alias.targets.some((target) => target.provider === provider.id))
    return `the alias "${model}" does not lead to it`;
  if (provider.unusable) return provider.unusable;
  if (addressed && addressed !== provider) return `the model name addresses provider "${addressed.id}"`;
  return 'it is not known to serve this model';
}

/** Of `provider/model`, unless that whole is a model's name. */
function addressedProvider({ group, model }: RouteQuestion): CompiledProvider | undefined {
  if (group.routes.has(model)) return undefined;
  return group.providers.find(({ provider }) => model.startsWith(`${provider.id}/`))?.provider;
}

function aliasOf({ aliases, model }: RouteQuestion): AliasConfig | undefined {
  return aliases.find((alias) => alias.name === model);
}
