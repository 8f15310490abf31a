import { Button } from '@mantine/core';
import { useRef } from 'react';
import filterBar from '../../../components/selects/FilterBar.module.css';
import { FilterFold } from '../../../components/selects/FilterFold.tsx';
import { FilterSelect } from '../../../components/selects/FilterSelect.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { type ShownFilter, searchOf } from '../../../state/requests/request-filter.ts';
import { FilterBox } from './FilterBox.tsx';
import { chipsOf, FilterChips, withoutLastChip } from './FilterChips.tsx';
import { SavedFilters } from './SavedFilters.tsx';
import { useFilterChoices } from './use-filter-choices.ts';

interface RequestFiltersProps {
  filter: ShownFilter;
  onChange(filter: ShownFilter): void;
}

/** Filters of the list, combined with AND. */
export function RequestFilters({ filter, onChange }: RequestFiltersProps) {
  const { requests: names } = useMessages();
  const { usual, more, values } = useFilterChoices(filter);
  const inputRef = useRef<HTMLInputElement>(null);
  const change = (next: ShownFilter) => {
    onChange(next);
    // What had the focus may be gone.
    inputRef.current?.focus();
  };
  const menus = (choices: typeof usual) =>
    choices.map(({ field, options, value, chosen }) => (
      <FilterSelect
        key={field}
        label={names.filters[field]}
        any={names.anyOf[field]}
        options={options}
        value={value}
        onChange={(next) => onChange(chosen(next))}
      />
    ));
  return (
    <search className={filterBar.filters}>
      <FilterBox
        filter={filter}
        values={values}
        inputRef={inputRef}
        onChange={onChange}
        onBackspace={() => onChange(withoutLastChip(filter))}
      />
      <FilterFold count={chipsOf(filter).length} usual={menus(usual)} more={menus(more)} />
      <SavedFilters filter={filter} onChoose={onChange} />
      {searchOf(filter) !== '' && (
        <Button size="xs" variant="subtle" onClick={() => onChange({})}>
          {names.clearFilters}
        </Button>
      )}
      <FilterChips filter={filter} values={values} onChange={change} />
    </search>
  );
}
