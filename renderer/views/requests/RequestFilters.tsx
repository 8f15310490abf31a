import { Button, NativeSelect } from '@mantine/core';
import { useMemo } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { useProviderName } from '../providers/use-provider-name.ts';
import classes from './Requests.module.css';
import { outcomes, type ShownFilter, searchOf } from './request-filter.ts';

interface RequestFiltersProps {
  filter: ShownFilter;
  onChange(filter: ShownFilter): void;
}

/** Leaves in the list what fits all that is chosen. */
export function RequestFilters({ filter, onChange }: RequestFiltersProps) {
  const { requests: names } = useMessages();
  const providers = useControlState((state) => state.views?.providers) ?? [];
  const keys = useControlState((state) => state.views?.keys) ?? [];
  const models = useSeenModels();
  const providerName = useProviderName();
  const choices = [
    { field: 'outcome', options: outcomes.map((value) => ({ value, label: names.outcomes[value] })) },
    { field: 'model', options: models.map((value) => ({ value, label: value })) },
    { field: 'provider', options: providers.map(({ id }) => ({ value: id, label: providerName(id) })) },
    { field: 'keyId', options: keys.map(({ id, name }) => ({ value: id, label: name ?? id })) },
  ] as const;
  return (
    <div className={classes.filters}>
      {choices.map(({ field, options }) => (
        <NativeSelect
          key={field}
          className={classes.filter}
          size="xs"
          aria-label={names.filters[field]}
          data={[{ value: '', label: names.anyOf[field] }, ...withChosen(options, filter[field])]}
          value={filter[field] ?? ''}
          onChange={({ currentTarget: { value } }) => onChange(changed(filter, field, value))}
        />
      ))}
      {searchOf(filter) !== '' && (
        <Button size="xs" variant="subtle" onClick={() => onChange({})}>
          {names.clearFilters}
        </Button>
      )}
    </div>
  );
}

interface Option {
  value: string;
  label: string;
}

/** What is chosen may be gone, such as a key that was revoked. */
function withChosen(options: readonly Option[], chosen: string | undefined): Option[] {
  const isThere = chosen === undefined || options.some(({ value }) => value === chosen);
  return isThere ? [...options] : [...options, { value: chosen, label: chosen }];
}

function changed(filter: ShownFilter, field: keyof ShownFilter, value: string): ShownFilter {
  const { [field]: _, ...others } = filter;
  const outcome = outcomes.find((each) => each === value);
  if (value === '') return others;
  return field === 'outcome' ? { ...others, ...(outcome && { outcome }) } : { ...others, [field]: value };
}

/** Of the live requests; a name in the address is offered whether or not it is among them. */
function useSeenModels(): string[] {
  const requests = useControlState((state) => state.requests);
  const names = [...new Set(requests.map(({ modelAsked }) => modelAsked).filter((name) => name !== null))].toSorted();
  const joinedNames = names.join('\n');
  return useMemo(() => (joinedNames === '' ? [] : joinedNames.split('\n')), [joinedNames]);
}
