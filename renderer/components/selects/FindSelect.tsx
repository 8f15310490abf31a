/** Chooses a key or a group: a plain menu if there are few, a search field if there are many. */
import { NativeSelect, PasswordInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import type { Wanted } from '../../../server/contract/find.ts';
import { useMessages } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/choices/use-key-choice.ts';
import type { Kind, ViewOf } from '../../state/control/control-store.ts';
import { useCount, useFound, useNameOf } from '../../state/control/use-found.ts';
import { pageLength, searchDelayMs } from '../lists/LongList.tsx';
import classes from './FilterBar.module.css';
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

/** Or all keys or groups. */
export type FilterOptions = readonly { value: string; label: string }[] | Kind;

interface FilterSelectProps {
  label: string;
  /** Label of the choice that filters nothing. */
  any: string;
  options: FilterOptions;
  /** Empty: any. */
  value: string;
  onChange(value: string): void;
}

/** One of the filter menus above a list. */
export function FilterSelect({ label, any, options, value, onChange }: FilterSelectProps) {
  if (typeof options === 'string') {
    return (
      <FindSelect
        {...{ className: classes.filter, size: 'xs', label, isBare: true, any }}
        kinds={[options]}
        chosen={value === '' ? null : { kind: options, id: value }}
        onChange={(chosen) => onChange(chosen?.id ?? '')}
      />
    );
  }
  // What is chosen may be gone, such as a provider that was removed.
  const isThere = value === '' || options.some((option) => option.value === value);
  return (
    <NativeSelect
      className={classes.filter}
      size="xs"
      aria-label={label}
      data={[{ value: '', label: any }, ...options, ...(isThere ? [] : [{ value, label: value }])]}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

/** Chooses a key, with a field for its secret if that was not kept. */
export function KeyChooser({ choice }: { choice: KeyChoice }) {
  const { keyChooser: names } = useMessages();
  const { key, secret, isNone } = choice;
  return (
    <>
      {isNone ? (
        <NativeSelect label={names.key} disabled data={[names.none]} />
      ) : (
        <FindSelect
          kinds={['key']}
          label={names.key}
          chosen={key && { kind: 'key', id: key.id }}
          onChange={(chosen) => chosen && choice.choose(chosen.id)}
          wanted={{ enabled: true }}
        />
      )}
      {key && !key.canReveal && (
        <PasswordInput
          label={names.secret}
          description={names.notKept}
          value={secret ?? ''}
          onChange={(event) => choice.enter(event.currentTarget.value.trim())}
          autoComplete="off"
          wrapperProps={{ 'data-key-secret': true }}
          visibilityToggleButtonProps={{ 'aria-label': names.showEntered, tabIndex: 0 }}
        />
      )}
    </>
  );
}

/** A key or a group. */
export interface Chosen {
  kind: Kind;
  id: string;
}

/** As menus and addresses hold it: `key:k1`. */
export const chosenText = ({ kind, id }: Chosen) => `${kind}:${id}`;

export function chosenOf(text: string): Chosen | null {
  const [kind, ...id] = text.split(':');
  return kind === 'key' || kind === 'group' ? { kind, id: id.join(':') } : null;
}
