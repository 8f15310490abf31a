/** The models that a key or a group may use, with facts that help to choose among them. */
import type { ModelView } from '../../contract/access-views.ts';
import type { CooldownView } from '../../contract/provider-views.ts';
import { anyKeyOf } from '../../routing/any-key.ts';
import { contextOf } from '../../routing/context-limits.ts';
import { usableRoutes } from '../../routing/resolve.ts';
import type { CompiledGroup, CompiledKey, Target } from '../../routing/snapshot.ts';

export interface Asker {
  group: CompiledGroup;
  /** Null for any key of the group. */
  key: CompiledKey | null;
}

/** Facts about a target besides the configuration. */
export interface ModelFacts {
  price(target: Target): ModelView['price'];
  health(target: Target): CooldownView['state'];
}

export function viewModels({ group, key }: Asker, { modelFacts }: { modelFacts: ModelFacts }): ModelView[] {
  return usableRoutes(group, key ?? anyKeyOf(group)).map(({ listed: { id, ownedBy }, targets }) => {
    const judged = targets.map((target) => ({ target, health: modelFacts.health(target) }));
    const usable = judged.filter(({ target, health }) => !(target.takesAnyName && health === 'refused'));
    const first = usable[0]?.target;
    return {
      id,
      ownedBy,
      providers: [...new Set(usable.map(({ target }) => target.provider.id))],
      isAlias: group.aliases.has(id),
      contextTokens: (first && contextOf(first)) ?? null,
      price: first ? modelFacts.price(first) : null,
      health: bestOf(usable.map(({ health }) => health)),
    };
  });
}

function bestOf(states: readonly CooldownView['state'][]): CooldownView['state'] {
  if (states.includes('ok')) return 'ok';
  return states.includes('cooling') ? 'cooling' : 'refused';
}
