import type { AliasConfig, GroupConfig } from '../contract/config.ts';
import type { ModelInfo } from '../providers/upstream.ts';
import { compileLimits } from './compile-limits.ts';
import { compilePassthrough } from './compile-passthrough.ts';
import { compileTimeouts } from './compile-timeouts.ts';
import { compileDenied } from './deny-rules.ts';
import { anyNameLast } from './order-targets.ts';
import { matchesAny } from './pattern.ts';
import type { CompiledGroup, CompiledProvider, ModelRoute, RankedProvider, Target } from './snapshot.ts';

/** The part of a compiled group that depends only on its rules, shared by all groups with the same rules. */
type GroupRouting = Pick<
  CompiledGroup,
  'routes' | 'unservable' | 'allowsModel' | 'mayAsk' | 'allowsAllModels' | 'providers' | 'timeouts'
>;

/** Keyed by the rules as text. Among very many groups, most have the same rules, and lists of models are long. */
export type KnownRoutings = Map<string, GroupRouting>;

/** `routings`: compiled before with the same aliases and providers. */
export function compileGroup(
  group: GroupConfig,
  aliases: readonly AliasConfig[],
  providers: ReadonlyMap<string, CompiledProvider>,
  routings: KnownRoutings = new Map(),
): CompiledGroup {
  const { id, models, deny, order, capture, captureOnRequest, unpriced, deleteUnknown, defaults, policy, cache } =
    group;
  const rules = JSON.stringify([models, deny, group.providers, order, policy.timeouts]);
  let routing = routings.get(rules);
  if (!routing) {
    routing = compileRouting(group, aliases, providers);
    routings.set(rules, routing);
  }
  return {
    ...{ id, capture, captureOnRequest, unpriced, deleteUnknown, defaults, policy, cache },
    ...routing,
    limited: compileLimits('group', group),
    passthrough: compilePassthrough(group, routing.providers),
  };
}

/** Computes the models that a group may use, and the ordered targets of each. */
function compileRouting(
  group: Pick<GroupConfig, 'models' | 'deny' | 'providers' | 'order' | 'policy'>,
  aliases: readonly AliasConfig[],
  providers: ReadonlyMap<string, CompiledProvider>,
): GroupRouting {
  const allowed = matchesAny(group.models);
  const isDenied = compileDenied(group.deny);
  // They mean nothing else, even to a provider that accepts any name.
  const bannedAliases = new Set<string>();
  const allowsModel = (name: string, meant: string | null = null) =>
    (allowed(name) || (meant !== null && allowed(meant))) && !isDenied(name) && !bannedAliases.has(name);
  const mayAsk = ({ provider, model }: Pick<Target, 'provider' | 'model'>) =>
    model === null || !isDenied(model, provider.id);
  const rankedProviders = rankProviders(group, providers);
  const routes = new Map<string, ModelRoute>();
  const unservable = new Map<string, string>();
  for (const alias of aliases) {
    const meant = allowsModel(alias.name) ? aliasTargets(alias, rankedProviders) : [];
    const all = meant.filter(mayAsk);
    if (all.length < meant.length && all.length === 0) bannedAliases.add(alias.name);
    const usable = all.filter(({ provider }) => !provider.unusable);
    if (usable.length > 0) routes.set(alias.name, toRoute(alias.name, { created: 0, ownedBy: 'sluice' }, usable));
    else if (all.length > 0) unservable.set(alias.name, reasonsOf(all));
  }
  for (const { provider } of rankedProviders) {
    if (provider.unusable) continue;
    for (const [name, info] of provider.models) {
      if (routes.has(name) || unservable.has(name) || !allowsModel(name)) continue;
      const targets = servers(name, rankedProviders).filter(mayAsk);
      if (targets.length > 0) routes.set(name, toRoute(name, info, targets));
    }
  }
  return {
    routes: new Map([...routes].sort(([a], [b]) => (a < b ? -1 : 1))),
    unservable,
    allowsModel,
    mayAsk,
    allowsAllModels: group.models.includes('*') && group.deny.length === 0,
    providers: rankedProviders,
    timeouts: new Map(
      [...providers.values()].map(({ id, ownTimeouts }) => [
        id,
        compileTimeouts({ ...group.policy.timeouts, ...ownTimeouts }),
      ]),
    ),
  };
}

/** In the group's `order`; providers that it does not list follow in the configuration's order. */
function rankProviders(
  group: Pick<GroupConfig, 'providers' | 'order'>,
  providers: ReadonlyMap<string, CompiledProvider>,
): RankedProvider[] {
  const allowed = matchesAny(group.providers);
  const rankedProviders: RankedProvider[] = [];
  for (const provider of providers.values()) {
    if (!allowed(provider.id)) continue;
    const placement = group.order.find((entry) => entry.provider === provider.id);
    rankedProviders.push({
      provider,
      priority: placement?.priority ?? unplacedPriority + rankedProviders.length,
      weight: placement?.weight ?? 1,
    });
  }
  return rankedProviders.sort((a, b) => a.priority - b.priority);
}

/** Above any priority that the configuration allows. */
const unplacedPriority = 10_000;

/** The usable providers that serve a model name, in order; those that only accept any name come last. */
export function servers(name: string, rankedProviders: readonly RankedProvider[]): readonly Target[] {
  const targets: Target[] = [];
  for (const { provider, priority, weight } of rankedProviders) {
    if (provider.unusable) continue;
    if (provider.models.has(name)) targets.push({ provider, model: name, priority, weight });
    else if (provider.anyModel) targets.push({ provider, model: name, priority, weight, takesAnyName: true });
  }
  return anyNameLast(targets.sort((a, b) => a.priority - b.priority));
}

/** The targets whose provider the group may use, including unusable ones. */
function aliasTargets(alias: AliasConfig, rankedProviders: readonly RankedProvider[]): Target[] {
  return alias.targets
    .flatMap((target) => {
      const provider = rankedProviders.find((entry) => entry.provider.id === target.provider)?.provider;
      if (!provider) return [];
      const { model, priority, weight, contextTokens } = target;
      return [{ provider, model, priority, weight, ...(contextTokens !== undefined && { contextTokens }) }];
    })
    .sort((a, b) => a.priority - b.priority);
}

/** Why none of these can be used, for a person. */
export function reasonsOf(unusable: readonly Pick<Target, 'provider'>[]): string {
  const reasons = unusable.map(({ provider }) => `provider "${provider.id}": ${provider.unusable}`);
  return [...new Set(reasons)].join('; ');
}

function toRoute(id: string, info: ModelInfo, targets: readonly Target[]): ModelRoute {
  return { listed: { id, created: info.created, ownedBy: info.ownedBy }, targets };
}
