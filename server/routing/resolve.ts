/** Resolves group, key and model name to ordered targets by look-ups in the compiled snapshot. Pure. */

import type { ListedModel } from '../apis/core/api.ts';
import { GatewayError } from '../contract/errors.ts';
import { nearestName } from '../contract/nearest-name.ts';
import type { Operation } from '../contract/operations.ts';
import { boundedPattern } from '../ground/bounded-pattern.ts';
import { unknownModels } from '../providers/upstream.ts';
import { reasonsOf, servers } from './compile.ts';
import type { CompiledGroup, CompiledKey, ModelRoute, Target } from './snapshot.ts';

export interface Resolved {
  /** The requested name; null if the request named none and no default applies. */
  model: string | null;
  targets: readonly Target[];
}

/** Throws GatewayError `model_not_found`, `model_missing` or `no_healthy_provider`. */
export function resolveRoute(group: CompiledGroup, key: CompiledKey, model: string): Resolved {
  if (mayUse(group, key, model)) {
    const targets = findTargets(group, model);
    if (targets.length > 0) return { model, targets };
    const reasons = whyNone(group, model);
    if (reasons) throw new GatewayError('no_healthy_provider', `No provider can serve "${model}" now: ${reasons}.`);
  }
  throw modelNotFound(group, key, model);
}

/**
 * For a request without a model: the group's default for the capability, else its only provider, which then chooses the
 * model itself. The latter requires that group and key may use all models.
 */
export function resolveDefault(group: CompiledGroup, key: CompiledKey, capability: Operation): Resolved {
  const model = group.defaults[capability];
  if (model) return resolveRoute(group, key, model);
  const usable = group.providers.filter(({ provider }) => !provider.unusable);
  const [first] = usable;
  if (!first) throw new GatewayError('no_healthy_provider', 'No provider of this key’s group can be used now.');
  if (usable.length === 1 && mayUseAnyModel(group, key)) return { model: null, targets: [{ ...first, model: null }] };
  throw new GatewayError(
    'model_missing',
    `you must provide a model parameter: ${whyNoDefault(group, usable.length, capability)}`,
  );
}

/** Whether neither group nor key restricts models. */
export function mayUseAnyModel(group: CompiledGroup, key: CompiledKey): boolean {
  return group.allowsAllModels && !key.allowsModel;
}

function whyNoDefault(group: CompiledGroup, providers: number, capability: Operation): string {
  if (providers > 1)
    return `group "${group.id}" has no default model for ${capability}, and more than one could be meant.`;
  const owner = group.allowsAllModels ? 'this key' : `group "${group.id}"`;
  return `the models of ${owner} are limited, so name one or set a default for ${capability} in the group.`;
}

/** The models that a key may use. */
export function listModels(group: CompiledGroup, key: CompiledKey): ListedModel[] {
  return usableRoutes(group, key).map(({ listed }) => listed);
}

/** What a key may use, by name: `provider/model` only where the plain name may not be used, since clients choose from this list. */
export function usableRoutes(group: CompiledGroup, key: CompiledKey): ModelRoute[] {
  const routes: ModelRoute[] = [];
  for (const [name, route] of group.routes) {
    if (!key.allowsModel || key.allowsModel(name)) routes.push(route);
  }
  if (mayUseAnyModel(group, key)) return routes;
  return [...routes, ...addressedRoutes(group, key)].sort((a, b) => (a.listed.id < b.listed.id ? -1 : 1));
}

function addressedRoutes(group: CompiledGroup, key: CompiledKey): ModelRoute[] {
  const routes: ModelRoute[] = [];
  for (const rankedProvider of group.providers) {
    const { id: providerId, models, unusable } = rankedProvider.provider;
    if (unusable) continue;
    for (const model of models.keys()) {
      const id = `${providerId}/${model}`;
      const target = { ...rankedProvider, model };
      const isOwnName = group.routes.has(id) || group.unservable.has(id);
      if (isOwnName || !group.mayAsk(target) || mayUse(group, key, model) || !mayUse(group, key, id)) continue;
      routes.push({ listed: unlistedModel(id, [target]), targets: [target] });
    }
  }
  return routes;
}

/** Accepts every name that would be served, including `provider/model` and names that are not listed. */
export function retrieveModel(group: CompiledGroup, key: CompiledKey, model: string): ListedModel {
  const { targets } = resolveRoute(group, key, model);
  return group.routes.get(model)?.listed ?? unlistedModel(model, targets);
}

function unlistedModel(id: string, targets: readonly Target[]): ListedModel {
  return { id, created: 0, ownedBy: targets[0]?.provider.id ?? 'sluice' };
}

function findTargets(group: CompiledGroup, model: string): readonly Target[] {
  // "." and ".." would be path segments in a URL; no model is called so.
  if (group.unservable.has(model) || model === '.' || model === '..') return [];
  const route: ModelRoute | undefined = group.routes.get(model);
  if (route) return route.targets;
  const addressed = addressedTarget(group, model);
  if (addressed) return addressed.provider.unusable || !group.mayAsk(addressed) ? [] : [addressed];
  return servers(model, group.providers).filter(group.mayAsk);
}

/** `provider/model` addresses one provider, if its configured list allows the model. Discovered models are no restriction. */
function addressedTarget(group: CompiledGroup, model: string): Target | null {
  const slash = model.indexOf('/');
  if (slash < 1) return null;
  const id = model.slice(0, slash);
  const name = model.slice(slash + 1);
  const rankedProvider = group.providers.find(({ provider }) => provider.id === id);
  if (!rankedProvider || !name) return null;
  const { provider } = rankedProvider;
  const isAllowed = provider.anyModel || provider.discoversModels || provider.models.has(name);
  return isAllowed ? { ...rankedProvider, model: name } : null;
}

/** Patterns are matched against the requested name and, for `provider/model`, against the plain model name. */
function mayUse(group: CompiledGroup, key: CompiledKey, model: string): boolean {
  if (mayUseAnyModel(group, key)) return true;
  const isOwnName = group.routes.has(model) || group.unservable.has(model);
  const meant = isOwnName ? null : (addressedTarget(group, model)?.model ?? null);
  if (!group.allowsModel(model, meant)) return false;
  return !key.allowsModel || key.allowsModel(model) || (meant !== null && key.allowsModel(meant));
}

/** Why the providers that serve this model cannot be used now; null if no provider serves it. */
function whyNone(group: CompiledGroup, model: string): string | null {
  const alias = group.unservable.get(model);
  if (alias !== undefined) return alias;
  const addressed = addressedTarget(group, model);
  const candidates = addressed
    ? [addressed]
    : group.providers.filter(({ provider }) => provider.anyModel || provider.models.has(model));
  const unusable = candidates.filter(
    ({ provider }) => provider.unusable && group.mayAsk({ provider, model: addressed?.model ?? model }),
  );
  return unusable.length > 0 ? reasonsOf(unusable) : null;
}

interface UnknownModel {
  /** The most similar name among the key's models; null if none is similar. */
  nearest: string | null;
  /** The ids of the providers that may have it, since they have not listed their models: they serve only `provider/model`. */
  unlisted: readonly string[];
}

/** Why no provider is known to serve a model. */
export function whyUnknown(group: CompiledGroup, key: CompiledKey, model: string): UnknownModel {
  const names = listModels(group, key).map(({ id }) => id);
  const misspelt = nearestName(model, names);
  // A name that is so similar was meant, whatever others may have.
  const unlisted = misspelt !== null || !mayUseAnyModel(group, key) ? [] : unlistedIn(group);
  const isVague = unlisted.length > 0;
  return { nearest: isVague ? nearestName(model, names, Math.ceil(model.length * vagueShare)) : misspelt, unlisted };
}

/** Of the letters that may be wrong in a name that is only suggested. */
const vagueShare = 0.6;

function unlistedIn({ providers }: CompiledGroup): string[] {
  return providers.flatMap(({ provider }) => {
    const { id, unusable, discoversModels, anyModel, models } = provider;
    return !unusable && discoversModels && !anyModel && models === unknownModels ? [id] : [];
  });
}

const isOfDemo = boundedPattern(/^(?:demo\/)?demo-[a-z]{1,20}$/);
const demoHint = ' The demo is there until the first provider is added; "sluice demo on" brings it back.';

function modelNotFound(group: CompiledGroup, key: CompiledKey, model: string): GatewayError {
  const { nearest, unlisted } = whyUnknown(group, key, model);
  const hint = isOfDemo.test(model) ? demoHint : nearest === null ? '' : ` Did you mean "${nearest}"?`;
  const shown = model.length > 200 ? `${model.slice(0, 200)}…` : model;
  const [first] = unlisted;
  if (first !== undefined) {
    const who = unlisted.map((id) => `provider "${id}"`).join(', ');
    const message = `Whether "${shown}" exists is not known yet: ${who} ${unlisted.length > 1 ? 'have' : 'has'} not listed ${unlisted.length > 1 ? 'their' : 'its'} models so far.${hint} The list is asked for again within seconds; "${first}/MODEL" works meanwhile.`;
    return new GatewayError('models_unknown', message, { param: 'model', retryAfterSeconds: 2 });
  }
  return new GatewayError('model_not_found', `The model "${shown}" does not exist or this key may not use it.${hint}`, {
    param: 'model',
  });
}

/** A key without model restrictions, for questions about the group alone. */
export function anyKeyOf(group: CompiledGroup): CompiledKey {
  return {
    id: '',
    digest: Buffer.alloc(0),
    name: 'any',
    groupId: group.id,
    capture: false,
    faults: false,
    cassette: null,
    sharesGroup: false,
    enabled: true,
    expiresAtMs: null,
    limited: null,
    person: null,
    allowsModel: null,
    aliases: null,
    replacedAtMs: null,
  };
}
