import { operations } from '../../../server/contract/capability.ts';
import type { FilterOptions } from '../../components/FilterSelect.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { useQuery } from '../../state/use-query.ts';
import { useProviderName } from '../providers/use-provider-name.ts';
import { filterOf, outcomes, ranges, type ShownFilter, searchOf, statusClasses } from './request-filter.ts';

export type ChoiceField =
  | 'range'
  | 'outcome'
  | 'model'
  | 'provider'
  | 'keyId'
  | 'groupId'
  | 'status'
  | 'capability'
  | 'client';

export interface FilterChoice {
  field: ChoiceField;
  options: FilterOptions;
  /** Empty: anything. */
  value: string;
  /** The filter with this value chosen. */
  chosen(value: string): ShownFilter;
}

/** Parameter names in the address. */
const addressNames: Record<ChoiceField, string> = {
  range: 'range',
  outcome: 'outcome',
  model: 'model',
  provider: 'provider',
  keyId: 'key',
  groupId: 'group',
  status: 'status',
  capability: 'capability',
  client: 'client',
};

/** The choices of each filter, from the configuration and from names that occur in the ledger. */
export function useFilterChoices(filter: ShownFilter): { usual: FilterChoice[]; more: FilterChoice[] } {
  const { requests: names } = useMessages();
  const providers = useControlState((state) => state.views?.providers) ?? [];
  const models = useOccurring('model');
  const clients = useOccurring('client');
  const statuses = useOccurring('status');
  const providerName = useProviderName();
  const choice = (field: ChoiceField, options: FilterChoice['options']): FilterChoice => ({
    field,
    options,
    value: filter[field] ?? '',
    chosen: (value) => withValue(filter, addressNames[field], value),
  });
  const optionsOf = (values: readonly string[]) => values.map((value) => ({ value, label: value }));
  return {
    usual: [
      choice(
        'range',
        ranges.map((value) => ({ value, label: names.ranges[value] })),
      ),
      choice(
        'outcome',
        outcomes.map((value) => ({ value, label: names.outcomeChoices[value] })),
      ),
      choice('model', optionsOf(models)),
      choice(
        'provider',
        providers.map(({ id }) => ({ value: id, label: providerName(id) })),
      ),
    ],
    more: [
      choice('keyId', 'key'),
      choice('groupId', 'group'),
      choice('status', optionsOf([...statusClasses, ...statuses])),
      choice('capability', optionsOf(operations)),
      choice('client', optionsOf(clients)),
    ],
  };
}

/** Names in the ledger, queried when the screen opens. */
function useOccurring(field: 'model' | 'client' | 'status'): readonly string[] {
  const isThere = useControlState((state) => state.views !== null);
  const { answer } = useQuery<'request-names'>(isThere ? { type: 'request-names', of: field } : null);
  return answer ?? [];
}

/** A relative range replaces the fixed times of a link. */
function withValue(filter: ShownFilter, name: string, value: string): ShownFilter {
  const address = new URLSearchParams(searchOf(filter));
  if (name === 'range') for (const each of ['since', 'until']) address.delete(each);
  if (value === '') address.delete(name);
  else address.set(name, value);
  return filterOf(address);
}
