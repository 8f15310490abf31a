import { Button } from '@mantine/core';
import { IconAdjustmentsHorizontal } from '@tabler/icons-react';
import { useState } from 'react';
import filterBar from '../../../components/selects/FilterBar.module.css';
import { FilterSelect } from '../../../components/selects/FilterSelect.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { type ShownFilter, searchOf } from '../../../state/requests/request-filter.ts';
import { SavedFilters } from './SavedFilters.tsx';
import { SearchBox } from './SearchBox.tsx';
import { useFilterChoices } from './use-filter-choices.ts';

interface RequestFiltersProps {
  filter: ShownFilter;
  onChange(filter: ShownFilter): void;
}

/** Filters of the list, combined with AND. */
export function RequestFilters({ filter, onChange }: RequestFiltersProps) {
  const { requests: names } = useMessages();
  const [showsMore, setShowsMore] = useState(false);
  const { usual, more } = useFilterChoices(filter);
  const hasMore = more.some(({ value }) => value !== '');
  const shown = showsMore || hasMore ? [...usual, ...more] : usual;
  return (
    <search className={filterBar.filters}>
      <SearchBox value={filter.search ?? ''} onChange={(text) => onChange(withText(filter, text))} />
      {shown.map(({ field, options, value, chosen }) => (
        <FilterSelect
          key={field}
          label={names.filters[field]}
          any={names.anyOf[field]}
          options={options}
          value={value}
          onChange={(next) => onChange(chosen(next))}
        />
      ))}
      {!hasMore && (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconAdjustmentsHorizontal size={14} aria-hidden />}
          aria-expanded={showsMore}
          onClick={() => setShowsMore(!showsMore)}
        >
          {showsMore ? names.fewerFilters : names.moreFilters}
        </Button>
      )}
      <SavedFilters filter={filter} onChoose={onChange} />
      {searchOf(filter) !== '' && (
        <Button size="xs" variant="subtle" onClick={() => onChange({})}>
          {names.clearFilters}
        </Button>
      )}
    </search>
  );
}

function withText({ search: _, ...filter }: ShownFilter, text: string): ShownFilter {
  return text.trim() === '' ? filter : { ...filter, search: text };
}
