/** Chooses a key or a group: a plain menu if there are few, a search field if there are many. */
import { NativeSelect } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import type { Wanted } from '../../../server/contract/find.ts';
import { useMessages } from '../../messages/use-messages.ts';
import type { Kind, ViewOf } from '../../state/control/control-store.ts';
import { useCount, useFound, useNameOf } from '../../state/control/use-found.ts';
import { pageLength, searchDelayMs } from '../lists/LongList.tsx';
import { type Chosen, chosenOf, chosenText } from './chosen.ts';
import { type SearchOptions, SearchSelect } from './SearchSelect.tsx';

interface FindSelectProps {
  kinds: readonly Kind[];
  /** Null if nothing is chosen. */
  chosen: Chosen | null;
  onChange(chosen: Chosen | null): void;
  /** Label of the empty choice; if absent, there is none. */
  any?: string;
  /** Restricts the choices. */
  wanted?: Pick<Wanted, 'enabled' | 'ids'> | undefined;
  label: string;
  /** The label is invisible and for screen readers only. */
  isBare?: boolean;
  size?: 'xs' | 'sm';
  className?: string | undefined;
  disabled?: boolean;
}

export function FindSelect(props: FindSelectProps) {
  const { kinds, chosen, onChange, any, wanted, label, isBare = false, ...inputProps } = props;
  const isLong = useIsLong(kinds);
  const [search, setSearch] = useState<string | null>(null);
  const [settledSearch] = useDebouncedValue(search, searchDelayMs, { leading: true });
  const groups = useOptions({ kinds, wanted }, isLong ? settledSearch : '');
  const chosenName = useNameOf(chosen?.kind ?? 'key', chosen?.id ?? null);
  const value = chosen ? chosenText(chosen) : '';
  const shared = { ...inputProps, ...(isBare ? { 'aria-label': label } : { label }), value };
  const change = (next: string) => onChange(chosenOf(next));
  if (isLong) {
    const shownValue = chosenName ?? any ?? '';
    return <SearchSelect {...shared} {...{ shownValue, any, groups }} onSearch={setSearch} onChange={change} />;
  }
  const options = groups.flatMap((group) => group.options);
  // The chosen entry may no longer exist, such as a revoked key.
  const isGone = chosen !== null && !options.some((option) => option.value === value);
  return (
    <NativeSelect
      {...shared}
      onChange={({ currentTarget }) => change(currentTarget.value)}
      data={[
        ...(any === undefined && chosen ? [] : [{ value: '', label: any ?? '' }]),
        ...(kinds.length === 1 ? options : groups.map((group) => ({ group: group.label, items: group.options }))),
        ...(isGone ? [{ value, label: chosenName ?? value }] : []),
      ]}
    />
  );
}

/** More than one wants to look through. */
function useIsLong(kinds: readonly Kind[]): boolean {
  const counts = { key: useCount('key') ?? 0, group: useCount('group') ?? 0 };
  return kinds.some((kind) => counts[kind] > pageLength);
}

/** `search`: null while nothing is searched for. */
function useOptions({ kinds, wanted }: Pick<FindSelectProps, 'kinds' | 'wanted'>, search: string | null) {
  const { kinds: names } = useMessages().longList;
  const questionOf = (kind: Kind) =>
    search === null || !kinds.includes(kind)
      ? null
      : { ...wanted, ids: wanted?.ids && [...wanted.ids], search, limit: pageLength };
  const answers = {
    group: useFound('group', questionOf('group')).answer,
    key: useFound('key', questionOf('key')).answer,
  };
  const groups: SearchOptions[] = [];
  if (answers.group)
    groups.push({ ...answers.group, label: names.group, options: answers.group.found.map(groupOption) });
  if (answers.key) groups.push({ ...answers.key, label: names.key, options: answers.key.found.map(keyOption) });
  return groups;
}

const groupOption = ({ id, name }: ViewOf['group']) => ({
  value: chosenText({ kind: 'group', id }),
  label: name ?? id,
});

const keyOption = ({ id, name, suffix }: ViewOf['key']) => ({
  ...{ value: chosenText({ kind: 'key', id }), label: name ?? id },
  ...(suffix !== null && { detail: `…${suffix}` }),
});
