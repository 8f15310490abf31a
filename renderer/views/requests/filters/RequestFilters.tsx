import { Button, Group, Menu, TextInput } from '@mantine/core';
import { IconBookmark, IconDownload, IconTrash, IconX } from '@tabler/icons-react';
import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react';
import {
  conditionsOf,
  type FilterCondition,
  type FilterField,
  withoutCondition,
} from '../../../../server/contract/request-filter.ts';
import { MenuButton } from '../../../components/buttons/IconAction.tsx';
import { ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import filterBar from '../../../components/selects/FilterBar.module.css';
import { FilterFold, useIsFolded } from '../../../components/selects/FilterFold.tsx';
import { FilterSelect } from '../../../components/selects/FindSelect.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useNameOf } from '../../../state/control/use-found.ts';
import { addressOf, filterOf, queryOf, type ShownFilter, searchOf } from '../../../state/requests/request-filter.ts';
import { type ColumnName, chooseColumns, columnsIn, useChosenColumns } from '../list/columns.ts';
import classes from '../Requests.module.css';
import type { FilterValues } from './completions.ts';
import { FilterBox } from './FilterBox.tsx';
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
  const isFolded = useIsFolded();
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
      <FilterFold count={chipsOf(filter).length} usual={menus(usual)} more={menus(more)}>
        <SavedFilters filter={filter} onChoose={onChange} />
        {isFolded && <ExportMenu filter={filter} />}
        {searchOf(filter) !== '' && (
          <Button size="xs" variant="subtle" onClick={() => onChange({})}>
            {names.clearFilters}
          </Button>
        )}
        <FilterChips filter={filter} values={values} onChange={change} />
      </FilterFold>
    </search>
  );
}

interface FilterChipsProps {
  filter: ShownFilter;
  values: FilterValues;
  onChange(filter: ShownFilter): void;
}

/** What is shown as chips; the search stands in the box. */
const chipsOf = (filter: ShownFilter) => conditionsOf(filter).filter(({ field }) => field !== 'text');

/** The conditions of the filter. Each is removed by a click, Enter, Delete or Backspace. */
function FilterChips({ filter, values, onChange }: FilterChipsProps) {
  const { requests: names } = useLocalization().messages;
  const chips = chipsOf(filter);
  if (chips.length === 0) return null;
  return (
    <ul className={classes.chips} aria-label={names.conditions}>
      {chips.map((condition) => (
        <li key={condition.field}>
          <Chip
            condition={condition}
            values={values}
            onRemove={() => onChange(withoutCondition(filter, condition.field))}
          />
        </li>
      ))}
    </ul>
  );
}

interface ChipProps {
  condition: FilterCondition;
  values: FilterValues;
  onRemove(): void;
}

function Chip({ condition: { field, value }, values, onRemove }: ChipProps) {
  const { messages, formats } = useLocalization();
  const keyName = useNameOf('key', field === 'key' ? value : null);
  const groupName = useNameOf('group', field === 'group' ? value : null);
  const known = values.of(field).find((option) => option.value === value)?.label;
  const isTime = field === 'since' || field === 'until';
  const shown = isTime ? formats.dayAndClock(Date.parse(value)) : (keyName ?? groupName ?? known ?? value);
  const text = `${values.labelOf(field)}: ${shown}`;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Delete' && event.key !== 'Backspace') return;
    event.preventDefault();
    onRemove();
  };
  return (
    <button
      type="button"
      className={classes.chip}
      aria-label={messages.requests.removeCondition(text)}
      onClick={onRemove}
      onKeyDown={onKeyDown}
    >
      <span className={classes.chipText}>{text}</span>
      <IconX size={12} aria-hidden />
    </button>
  );
}

/** Downloads the filtered requests as the engine streams them. On the desktop, main answers the same address. */
export function ExportMenu({ filter }: { filter: ShownFilter }) {
  const { requests: names } = useMessages();
  const hrefFor = (format: 'csv' | 'jsonl') => `/control/requests.${format}${addressOf(queryOf(filter, Date.now()))}`;
  return (
    <MenuButton label={names.export} icon={<IconDownload size={14} aria-hidden />} side="end">
      <Menu.Item component="a" href={hrefFor('csv')} download>
        {names.exportCsv}
      </Menu.Item>
      <Menu.Item component="a" href={hrefFor('jsonl')} download>
        {names.exportJsonl}
      </Menu.Item>
    </MenuButton>
  );
}

/** The filter without its last chip. */
function withoutLastChip(filter: ShownFilter): ShownFilter {
  const last: FilterField | undefined = chipsOf(filter).at(-1)?.field;
  return last === undefined ? filter : withoutCondition(filter, last);
}

interface SavedFiltersProps {
  filter: ShownFilter;
  onChoose(filter: ShownFilter): void;
}

/** Named filters stored in this browser, with the columns of the list. */
function SavedFilters({ filter, onChoose }: SavedFiltersProps) {
  const { requests: names } = useMessages();
  const { saved, save, forget } = useSavedFilters();
  const [isNaming, setNaming] = useState(false);
  const search = searchOf(filter);
  const columns = useChosenColumns();
  const isPlain = search === '' && columns === null;
  const choose = ({ search: savedSearch, columns: savedColumns }: SavedFilter) => {
    if (savedColumns !== undefined) chooseColumns(savedColumns);
    onChoose(filterOf(new URLSearchParams(savedSearch)));
  };
  return (
    <>
      <MenuButton label={names.savedFilters} icon={<IconBookmark size={14} aria-hidden />} side="start">
        <Menu.Item onClick={() => onChoose({ pinned: true })}>{names.pins.list}</Menu.Item>
        {saved.map((each) => (
          <Menu.Item key={each.name} onClick={() => choose(each)}>
            {each.name}
          </Menu.Item>
        ))}
        <Menu.Divider />
        {isPlain && <Menu.Label>{names.saveFilterHint}</Menu.Label>}
        <Menu.Item disabled={isPlain} onClick={() => setNaming(true)}>
          {names.saveFilter}
        </Menu.Item>
        {saved.map(({ name }) => (
          <Menu.Item
            key={name}
            color="red"
            leftSection={<IconTrash size={14} aria-hidden />}
            onClick={() => forget(name)}
          >
            {names.forgetFilter(name)}
          </Menu.Item>
        ))}
      </MenuButton>
      <NameDialog
        isOpen={isNaming}
        onClose={() => setNaming(false)}
        onName={(name) => {
          save({ name, search, columns });
          setNaming(false);
        }}
      />
    </>
  );
}

interface NameDialogProps {
  isOpen: boolean;
  onClose(): void;
  onName(name: string): void;
}

function NameDialog({ isOpen, onClose, onName }: NameDialogProps) {
  const { requests: names, cancel } = useMessages();
  const [name, setName] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === '') return;
    onName(name.trim());
    setName('');
  };
  return (
    <ModalFrame opened={isOpen} onClose={onClose} title={names.saveFilterTitle}>
      <form onSubmit={submit}>
        <TextInput
          label={names.filterName}
          description={names.filterNameHint}
          value={name}
          maxLength={60}
          data-autofocus
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={onClose}>
            {cancel}
          </Button>
          <Button type="submit" disabled={name.trim() === ''}>
            {names.saveFilterDone}
          </Button>
        </Group>
      </form>
    </ModalFrame>
  );
}

interface SavedFilter {
  name: string;
  /** As in the address: `?outcome=failed`. */
  search: string;
  /** Null: the usual ones. Absent: it leaves them as they are, as an earlier version saved it. */
  columns?: readonly ColumnName[] | null;
}

const storageName = 'sluice.request-filters';
const mostSaved = 30;

/** Named filters, each with the order and the columns of its list, kept in the browser's storage. If storage is unavailable, they last as long as the page. */
function useSavedFilters() {
  const [saved, setSaved] = useState(read);
  const change = (next: SavedFilter[]) => {
    setSaved(next);
    write(next);
  };
  const withoutName = (name: string) => saved.filter((each) => each.name !== name);
  return {
    saved,
    /** Replaces a filter of the same name. */
    save: (filter: SavedFilter) => change([...withoutName(filter.name), filter].slice(-mostSaved)),
    forget: (name: string) => change(withoutName(name)),
  };
}

function read(): SavedFilter[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageName) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isSaved).map(withKnownColumns) : [];
  } catch {
    return [];
  }
}

function write(saved: readonly SavedFilter[]): void {
  try {
    localStorage.setItem(storageName, JSON.stringify(saved));
  } catch {
    // Storage may be unavailable in a private window.
  }
}

function isSaved(value: unknown): value is SavedFilter {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('search' in value)) return false;
  return typeof value.name === 'string' && typeof value.search === 'string';
}

function withKnownColumns({ name, search, columns }: SavedFilter): SavedFilter {
  return { name, search, ...(columns !== undefined && { columns: columnsIn(columns) }) };
}
