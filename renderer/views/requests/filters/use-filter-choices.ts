import { outcomes } from '../../../../server/contract/comparison.ts';
import { operations } from '../../../../server/contract/operations.ts';
import { ranges } from '../../../../server/contract/request-filter.ts';
import type { FilterOptions } from '../../../components/selects/FindSelect.tsx';
import { type Localization, useLocalization } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import {
  clientOptions,
  filterOf,
  type ShownFilter,
  searchOf,
  statusClasses,
} from '../../../state/requests/request-filter.ts';
import { FilterValues } from './completions.ts';

type ChoiceField =
  | 'range'
  | 'outcome'
  | 'model'
  | 'provider'
  | 'keyId'
  | 'groupId'
  | 'status'
  | 'capability'
  | 'client';

interface FilterChoice {
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
export function useFilterChoices(filter: ShownFilter): {
  usual: FilterChoice[];
  more: FilterChoice[];
  /** For what is written instead. */
  values: FilterValues;
} {
  const localization = useLocalization();
  const { requests: names } = localization.messages;
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
  const keys = useControlState((state) => state.views?.keys) ?? [];
  const groups = useControlState((state) => state.views?.groups) ?? [];
  const fixed = describeTimes(filter, localization);
  const outcomeOptions = outcomes.map((value) => ({ value, label: names.outcomeChoices[value] }));
  const providerOptions = providers.map(({ id }) => ({ value: id, label: providerName(id) }));
  const rangeOptions = ranges.map((value) => ({ value, label: names.ranges[value] }));
  const statusOptions = optionsOf([...statusClasses, ...statuses]);
  return {
    values: new FilterValues(
      {
        model: optionsOf(models),
        provider: providerOptions,
        key: namedOptions(keys),
        group: namedOptions(groups),
        client: clientOptions(clients),
        status: statusOptions,
        outcome: outcomeOptions,
        capability: optionsOf(operations),
        range: rangeOptions,
        is: [{ value: 'pinned', label: names.pins.only }],
      },
      { ...names.filters, ...names.conditionNames, key: names.filters.keyId, group: names.filters.groupId },
    ),
    usual: [
      {
        field: 'range',
        options: [...(fixed === null ? [] : [{ value: fixedTimes, label: fixed }]), ...rangeOptions],
        value: filter.range ?? (fixed === null ? '' : fixedTimes),
        chosen: (value) => (value === fixedTimes ? filter : withValue(filter, 'range', value)),
      },
      choice('outcome', outcomeOptions),
      choice('model', optionsOf(models)),
      choice('provider', providerOptions),
    ],
    more: [
      choice('keyId', 'key'),
      choice('groupId', 'group'),
      choice('status', statusOptions),
      choice('capability', optionsOf(operations)),
      choice('client', clientOptions(clients)),
    ],
  };
}

const namedOptions = (views: readonly { id: string; name?: string | null | undefined }[]) =>
  views.map(({ id, name }) => ({ value: id, label: name ?? id }));

/** The choice that stands for the times of a link. */
const fixedTimes = 'fixed';

/** `Nov 3, 09:00 – 10:00`: the times of a link; null if it has none. */
function describeTimes({ sinceMs, untilMs }: ShownFilter, { messages, formats }: Localization): string | null {
  const { since, until } = messages.requests.times;
  if (sinceMs !== undefined && untilMs !== undefined) return formats.fromTo(sinceMs, untilMs);
  if (sinceMs !== undefined) return since(formats.dayAndClock(sinceMs));
  return untilMs === undefined ? null : until(formats.dayAndClock(untilMs));
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
