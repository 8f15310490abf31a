/** Groups and filters the models of a picker. Pure. */
import type { ModelView } from '../../../server/contract/access-views.ts';
import { purposeOf } from '../../../server/contract/model-identity.ts';
import type { Messages } from '../../messages/en/en.ts';
import type { ModelChoice } from '../../state/choices/use-model-choice.ts';

interface OptionGroup {
  label: string;
  models: readonly ModelView[];
}

type GroupNames = Pick<Messages['models']['picker'], 'recent' | 'aliases' | 'unserved'> & {
  providerName(id: string): string;
};

const mostRecent = 5;
const mostNames = 200;

/** The names that contain `search`, in the form of the suggestions of a field. */
export function nameOptions(names: readonly string[], search: string) {
  const searchText = search.trim().toLowerCase();
  const found = names.filter((name) => name.toLowerCase().includes(searchText)).slice(0, mostNames);
  return found.length === 0 ? [] : [{ label: null, options: found.map((value) => ({ value })) }];
}

/**
 * The most used models first, then aliases, then groups by the provider that is tried first. Models for other purposes
 * come last in their group. Groups without matches for `search` are left out.
 */
export function optionGroups(
  { models, mostUsed, use }: Pick<ModelChoice, 'models' | 'mostUsed' | 'use'>,
  search: string,
  names: GroupNames,
  limit: number,
): OptionGroup[] {
  const searchText = search.trim().toLowerCase();
  const found = models.filter(({ id }) => id.toLowerCase().includes(searchText));
  const isFitting = ({ id }: ModelView) => purposeOf(id) === use;
  const recent = mostUsed
    .flatMap((name) => found.filter((model) => model.id === name && isFitting(model)))
    .slice(0, mostRecent);
  const byProvider = Map.groupBy(
    found.filter(({ isAlias }) => !isAlias),
    ({ providers: [first] }) => (first === undefined ? names.unserved : names.providerName(first)),
  );
  const groups = [
    { label: names.recent, models: recent },
    { label: names.aliases, models: found.filter(({ isAlias }) => isAlias) },
    ...[...byProvider].map(([label, list]) => ({
      label,
      models: list.toSorted((one, other) => Number(isFitting(other)) - Number(isFitting(one))),
    })),
  ];
  let remaining = limit;
  return groups.flatMap((group) => {
    const shown = group.models.slice(0, remaining);
    remaining -= shown.length;
    return shown.length === 0 ? [] : [{ ...group, models: shown }];
  });
}
