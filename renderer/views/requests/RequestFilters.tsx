import { Button, NativeSelect } from '@mantine/core';
import { IconAdjustmentsHorizontal } from '@tabler/icons-react';
import { useState } from 'react';
import filterBar from '../../components/FilterBar.module.css';
import { useMessages } from '../../messages/use-messages.ts';
import { type ShownFilter, searchOf } from './request-filter.ts';
import { SavedFilters } from './SavedFilters.tsx';
import { SearchBox } from './SearchBox.tsx';
import { type FilterChoice, useFilterChoices } from './use-filter-choices.ts';

interface RequestFiltersProps {
  filter: ShownFilter;
  onChange(filter: ShownFilter): void;
}

/** Leaves in the list what fits all that is chosen. */
export function RequestFilters({ filter, onChange }: RequestFiltersProps) {
  const { requests: names } = useMessages();
  const [showsMore, setShowsMore] = useState(false);
  const { usual, more } = useFilterChoices(filter);
  const hasMore = more.some(({ value }) => value !== '');
  const shown = showsMore || hasMore ? [...usual, ...more] : usual;
  return (
    <search className={filterBar.filters}>
      <SearchBox value={filter.search ?? ''} onChange={(text) => onChange(withText(filter, text))} />
      {shown.map((choice) => (
        <Choice key={choice.field} choice={choice} onChange={onChange} />
      ))}
      <Button
        size="xs"
        variant="default"
        leftSection={<IconAdjustmentsHorizontal size={14} aria-hidden />}
        aria-expanded={showsMore || hasMore}
        disabled={hasMore}
        onClick={() => setShowsMore(!showsMore)}
      >
        {names.moreFilters}
      </Button>
      <SavedFilters filter={filter} onChoose={onChange} />
      {searchOf(filter) !== '' && (
        <Button size="xs" variant="subtle" onClick={() => onChange({})}>
          {names.clearFilters}
        </Button>
      )}
    </search>
  );
}

function Choice({ choice, onChange }: { choice: FilterChoice; onChange(filter: ShownFilter): void }) {
  const { requests: names } = useMessages();
  const { field, options, value, chosen } = choice;
  return (
    <NativeSelect
      className={filterBar.filter}
      size="xs"
      aria-label={names.filters[field]}
      data={[{ value: '', label: names.anyOf[field] }, ...withChosen(options, value)]}
      value={value}
      onChange={({ currentTarget }) => onChange(chosen(currentTarget.value))}
    />
  );
}

/** What is chosen may be gone, such as a key that was revoked. */
function withChosen(options: FilterChoice['options'], chosen: string): FilterChoice['options'] {
  const isThere = chosen === '' || options.some(({ value }) => value === chosen);
  return isThere ? options : [...options, { value: chosen, label: chosen }];
}

function withText({ search: _, ...filter }: ShownFilter, text: string): ShownFilter {
  return text.trim() === '' ? filter : { ...filter, search: text };
}
