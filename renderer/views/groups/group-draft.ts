import type { GroupView } from '../../../server/contract/access-views.ts';
import type { Lock } from '../../../server/contract/lock.ts';
import { defaultGroupId } from '../../../server/contract/passthrough.ts';
import { type CassetteDraft, cassetteDraftOf, cassetteOf } from '../../components/cassette-draft.ts';
import { limitsOf } from '../../components/limit-draft.ts';

/** What is typed of a group; all of it is sent at once, since `group.put` replaces the group. */
export type GroupDraft = Omit<GroupView, 'keyCount' | 'limitUse' | 'name' | 'passthrough' | 'cassette'> & {
  name: string;
  passthrough: string | null;
  cassette: CassetteDraft;
};

/** In place of a provider's id: none is set, which of the first group is its only provider. */
export const onlyProvider = '';

/** What every part of the form gets. */
export interface DraftProps {
  draft: GroupDraft;
  change(changes: Partial<GroupDraft>): void;
}

/** What each folded part of the form gets. */
export interface PartProps extends DraftProps {
  /** Null: nobody has fixed what the part sets. */
  lock: Lock | null;
}

export function draftOf({ keyCount: _, limitUse: __, ...group }: GroupView): GroupDraft {
  // For other groups than the first, nothing set means nobody.
  const unset = group.id === defaultGroupId ? onlyProvider : null;
  const { passthrough = unset } = group;
  return { ...group, name: group.name ?? '', passthrough, cassette: cassetteDraftOf(group.cassette, 'off') };
}

/** As a command and the preview take it. */
export function groupOf({ name, defaults, limits, passthrough, cassette, shadow, ...draft }: GroupDraft) {
  const given = Object.entries(defaults).filter(([, model]) => model.trim() !== '');
  return {
    ...draft,
    ...(name.trim() && { name: name.trim() }),
    ...(passthrough !== onlyProvider && { passthrough }),
    defaults: Object.fromEntries(given),
    limits: limitsOf(limits),
    cassette: cassetteOf(cassette),
    // Without a target it is not finished, and nothing to preview.
    shadow: shadow && shadow.target.trim() !== '' ? { ...shadow, target: shadow.target.trim() } : null,
  };
}

/** The choices for whoever gets what Sluice does not serve itself. `able`: providers that it could be. */
export function passthroughChoices(
  { id, passthrough }: Pick<GroupDraft, 'id' | 'passthrough'>,
  able: readonly string[],
): (string | null)[] {
  const usual = id === defaultGroupId ? [onlyProvider, null] : [null];
  const choices = [...usual, ...able];
  return choices.includes(passthrough) ? choices : [...choices, passthrough];
}

/** The providers as they are asked: those with a place of their own first, the others as they came. */
export function inOrder(providers: readonly string[], order: GroupDraft['order']): string[] {
  const place = (id: string) => order.find(({ provider }) => provider === id)?.priority ?? Number.POSITIVE_INFINITY;
  return providers.toSorted((one, other) => (place(one) === place(other) ? 0 : place(one) - place(other)));
}

/** A place of its own for each of `providers`; a weight that one had stays. */
export function orderOf(providers: readonly string[], before: GroupDraft['order']): GroupDraft['order'] {
  return providers.map((provider, priority) => ({
    provider,
    priority,
    weight: before.find((entry) => entry.provider === provider)?.weight ?? 1,
  }));
}
