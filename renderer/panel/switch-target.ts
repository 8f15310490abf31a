/** What can answer for a model's name, and the alias that makes it so. Pure. */
import type { AliasView, ModelView, RouteView } from '../../server/contract/access-views.ts';

export interface Choice {
  provider: string;
  providerName: string;
  /** The upstream model. */
  model: string;
}

/** What was chosen, and for whom. */
export interface Chosen {
  /** Null: what holds for all keys. */
  choice: Choice | null;
  /** Null: for all keys. */
  onlyKey: { id: string; name: string } | null;
}

/** What is known of the name when one is about to choose. */
export interface Choosing {
  /** The name as clients send it. */
  name: string;
  /** The one for all keys; null if it is no alias yet. */
  alias: AliasView | null;
  /** The one of the client's key alone; null if it has none. */
  own: AliasView | null;
  route: Pick<RouteView, 'candidates'>;
  /** All that the client may use. */
  models: readonly Pick<ModelView, 'id' | 'isAlias' | 'providers'>[];
}

/** Whoever answers now first, then the others that would be called after it, then every model by its name. */
export function choicesOf({ alias, own, route, models }: Choosing): Choice[] {
  const names = new Map(route.candidates.map(({ provider, name }) => [provider, name]));
  const choices = new Map<string, Choice>();
  const add = (provider: string, model: string) => {
    const id = `${provider}/${model}`;
    if (!choices.has(id)) choices.set(id, { provider, model, providerName: names.get(provider) ?? provider });
  };
  for (const { provider, model, isTaken } of route.candidates) if (isTaken && model !== null) add(provider, model);
  for (const { provider, model } of inOrder(own ?? alias)) add(provider, model);
  for (const { id, isAlias, providers } of models) {
    if (isAlias) continue;
    // Where the plain name may not be used, a model is listed as `provider/model`.
    for (const provider of providers) add(provider, id.startsWith(`${provider}/`) ? id.slice(provider.length + 1) : id);
  }
  return [...choices.values()];
}

/** Those that contain all words, in whichever of their names. */
export function found(choices: readonly Choice[], text: string): Choice[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return choices.filter(({ model, providerName }) => {
    const names = `${model} ${providerName}`.toLowerCase();
    return words.every((word) => names.includes(word));
  });
}

/** The chosen target first, and those that answered so far after it, in the order in which they did. */
export function aliasFor({ name, alias, route }: Choosing, chosen: Choice): AliasView {
  const isChosen = (target: { provider: string; model: string }) =>
    target.provider === chosen.provider && target.model === chosen.model;
  const before = alias
    ? inOrder(alias)
    : route.candidates.flatMap(({ provider, model, isTaken }) =>
        isTaken && model !== null ? [{ provider, model, priority: 0, weight: 1 }] : [],
      );
  const first = before.find(isChosen) ?? { provider: chosen.provider, model: chosen.model, priority: 0, weight: 1 };
  const others = before.filter((target) => !isChosen(target));
  return { name, targets: [first, ...others].map((target, index) => ({ ...target, priority: index })) };
}

/** Equal priorities share the requests by weight; the list's order decides here. */
function inOrder(alias: AliasView | null): AliasView['targets'] {
  return [...(alias?.targets ?? [])].sort((one, other) => one.priority - other.priority);
}
