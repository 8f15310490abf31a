import type { GroupView } from '../../../../server/contract/access-views.ts';
import type { Lock } from '../../../../server/contract/lock.ts';
import { defaultGroupId } from '../../../../server/contract/operations.ts';
import { limitsOf } from '../../../components/access/limit-draft.ts';

/** A group as edited, but for what the drawer “Testing” sets. All of it is sent at once, because `group.put` replaces the group. */
type GroupDraft = Omit<GroupView, 'keyCount' | 'limitUse' | 'name' | 'passthrough' | 'cassette' | 'cache'> & {
  name: string;
  passthrough: string | null;
};

/** Stands for no setting. In the first group, it selects the group's only provider. */
export const onlyProvider = '';

/** Properties of every part of the form. */
export interface DraftProps {
  draft: GroupDraft;
  change(changes: Partial<GroupDraft>): void;
}

/** Properties of every folded part of the form. */
export interface PartProps extends DraftProps {
  /** Null if the settings in it are not locked. */
  lock: Lock | null;
}

export function draftOf({ keyCount: _, limitUse: __, cassette: ___, cache: ____, ...group }: GroupView): GroupDraft {
  // In groups other than the first, no setting means no provider.
  const unset = group.id === defaultGroupId ? onlyProvider : null;
  const { passthrough = unset } = group;
  return { ...group, name: group.name ?? '', passthrough };
}

/** In the form that a command and the preview expect. */
export function groupOf({ name, defaults, limits, passthrough, ...draft }: GroupDraft) {
  const filledDefaults = Object.entries(defaults).filter(([, model]) => model.trim() !== '');
  return {
    ...draft,
    ...(name.trim() && { name: name.trim() }),
    ...(passthrough !== onlyProvider && { passthrough }),
    defaults: Object.fromEntries(filledDefaults),
    limits: limitsOf(limits),
  };
}

/** The choices for the passthrough provider. `able`: providers that support it. */
export function passthroughChoices(
  { id, passthrough }: Pick<GroupDraft, 'id' | 'passthrough'>,
  able: readonly string[],
): (string | null)[] {
  const usual = id === defaultGroupId ? [onlyProvider, null] : [null];
  const choices = [...usual, ...able];
  return choices.includes(passthrough) ? choices : [...choices, passthrough];
}

/** The providers in the order in which they are tried: those with a priority first, the others as given. */
export function inOrder(providers: readonly string[], order: GroupDraft['order']): string[] {
  const priorityOf = (id: string) =>
    order.find(({ provider }) => provider === id)?.priority ?? Number.POSITIVE_INFINITY;
  return providers.toSorted((one, other) =>
    priorityOf(one) === priorityOf(other) ? 0 : priorityOf(one) - priorityOf(other),
  );
}

/** Assigns each of `providers` a priority, and keeps existing weights. */
export function orderOf(providers: readonly string[], before: GroupDraft['order']): GroupDraft['order'] {
  return providers.map((provider, priority) => ({
    provider,
    priority,
    weight: before.find((entry) => entry.provider === provider)?.weight ?? 1,
  }));
}
