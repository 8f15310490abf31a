import type { GroupView, ModelView } from '../../../../server/contract/access-views.ts';
import type { Lock } from '../../../../server/contract/lock.ts';
import { defaultGroupId } from '../../../../server/contract/operations.ts';
import type { Policy } from '../../../../server/contract/policy.ts';
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

/** The default first, then from the simplest to the most complex. */
export const strategyOrder: readonly Policy['strategy'][] = [
  'priority',
  'weighted',
  'round-robin',
  'lowest-latency',
  'lowest-price',
  'sticky',
];

export const phases = ['connectMs', 'firstByteMs', 'firstContentMs', 'idleMs', 'totalMs'] as const;

/** The value of an empty field; the same as in `policySchema`, which is not part of the window's bundle. */
export const usualPolicy = {
  strategy: 'priority',
  retries: 2,
  fallbacks: 3,
  budgetMs: 120_000,
  rescue: 'resume',
  hedgeAfterMs: 0,
  retryLostJobs: false,
  onClientGone: 'stop',
  losses: 'tell',
} satisfies Omit<Policy, 'timeouts'>;

/** Rarely needed fields, which the form shows only on request. */
const furtherFields = ['budgetMs', 'hedgeAfterMs', 'retryLostJobs', 'onClientGone', 'losses'] as const;

/** How many settings differ from the defaults, and how many of these the form hides at first. Each timeout counts. */
export function changesOf(policy: Policy): { total: number; further: number } {
  const isChanged = (field: keyof typeof usualPolicy) => policy[field] !== usualPolicy[field];
  const timeouts = phases.filter((phase) => policy.timeouts[phase] !== undefined).length;
  const further = furtherFields.filter(isChanged).length + timeouts;
  const shown = (['strategy', 'retries', 'fallbacks', 'rescue'] as const).filter(isChanged).length;
  return { total: shown + further, further };
}

/** What saving a group would add to and remove from the models of its keys, by name. */
export interface ModelDifference {
  gained: ReadonlySet<string>;
  lost: readonly string[];
}

/** Empty while one of the two lists is unknown. */
export function differenceOf(
  saved: readonly Pick<ModelView, 'id'>[] | null,
  edited: readonly Pick<ModelView, 'id'>[] | null,
): ModelDifference {
  if (!saved || !edited) return { gained: new Set(), lost: [] };
  const before = new Set(saved.map(({ id }) => id));
  const after = new Set(edited.map(({ id }) => id));
  return {
    gained: new Set([...after].filter((id) => !before.has(id))),
    lost: [...before].filter((id) => !after.has(id)),
  };
}
