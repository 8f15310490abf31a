import { Button } from '@mantine/core';
import { ranges } from '../../../server/contract/request-filter.ts';
import filterBar from '../../components/selects/FilterBar.module.css';
import { FilterFold } from '../../components/selects/FilterFold.tsx';
import { type FilterOptions, FilterSelect } from '../../components/selects/FilterSelect.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { type ShownSessions, sessionFilterOf, sessionSearchOf, sessionStates } from './session-filter.ts';

interface SessionFiltersProps {
  filter: ShownSessions;
  onChange(filter: ShownSessions): void;
}

interface Choice {
  name: keyof ShownSessions;
  label: string;
  any: string;
  options: FilterOptions;
}

/** Filters of the list, combined with AND. */
export function SessionFilters({ filter, onChange }: SessionFiltersProps) {
  const { requests: names } = useMessages();
  const choose = (name: keyof ShownSessions, value: string) => {
    const address = new URLSearchParams(sessionSearchOf(filter));
    if (value === '') address.delete(name);
    else address.set(name, value);
    onChange(sessionFilterOf(address));
  };
  const menus = useChoices().map(({ name, label, any, options }) => (
    <FilterSelect
      key={name}
      label={label}
      any={any}
      options={options}
      value={filter[name] ?? ''}
      onChange={(value) => choose(name, value)}
    />
  ));
  return (
    <search className={filterBar.filters}>
      <FilterFold count={new URLSearchParams(sessionSearchOf(filter)).size} usual={menus} />
      {sessionSearchOf(filter) !== '' && (
        <Button size="xs" variant="subtle" onClick={() => onChange({})}>
          {names.clearFilters}
        </Button>
      )}
    </search>
  );
}

function useChoices(): Choice[] {
  const { requests: names, sessions } = useMessages();
  const isThere = useControlState((state) => state.views !== null);
  const { answer: clients } = useQuery<'request-names'>(isThere ? { type: 'request-names', of: 'client' } : null);
  const { filters, anyOf } = names;
  return [
    {
      name: 'range',
      label: filters.range,
      any: anyOf.range,
      options: ranges.map((value) => ({ value, label: names.ranges[value] })),
    },
    {
      name: 'state',
      label: sessions.state,
      any: sessions.anyState,
      options: sessionStates.map((value) => ({ value, label: sessions.states[value] })),
    },
    { name: 'key', label: filters.keyId, any: anyOf.keyId, options: 'key' },
    { name: 'group', label: filters.groupId, any: anyOf.groupId, options: 'group' },
    {
      name: 'client',
      label: filters.client,
      any: anyOf.client,
      options: (clients ?? []).map((value) => ({ value, label: value })),
    },
  ];
}
