import { Button, Group, NativeSelect, TagsInput, TextInput } from '@mantine/core';
import { IconGauge, IconPlus } from '@tabler/icons-react';
import { type KeyboardEvent, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { KeyView } from '../../../../server/contract/access-views.ts';
import type { Limits } from '../../../../server/contract/limit-settings.ts';
import { dayMs } from '../../../../server/contract/units.ts';
import { CaptureSwitch, LimitFields } from '../../../components/access/AccessFields.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { Fieldset } from '../../../components/forms/Fieldset.tsx';
import { FindSelect } from '../../../components/selects/FindSelect.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useLocks, usePerson, useRights } from '../../../state/rights/use-rights.ts';
import classes from '../Keys.module.css';

const expiryDays = [1, 7, 30, 90, 365];

interface KeyFieldsProps {
  draft: KeyDraft;
  onChange(draft: KeyDraft): void;
  /** Members may create keys in their groups, but only managers may move keys to theirs. */
  isNew?: boolean;
  /** ISO 8601, for a key that has an expiry already. */
  expiresAt?: string | null;
}

/** The settings of a new or existing key, except its name. */
export function KeyFields({ draft, onChange, isNew = false, expiresAt = null }: KeyFieldsProps) {
  const { messages, formats } = useLocalization();
  const names = messages.createKey;
  const person = usePerson();
  const { isAdmin, manages } = useRights();
  return (
    <>
      <Group grow gap="sm">
        <FindSelect
          kinds={['group']}
          label={names.group}
          chosen={{ kind: 'group', id: draft.group }}
          onChange={(chosen) => onChange({ ...draft, group: chosen?.id ?? draft.group })}
          wanted={isNew || isAdmin ? {} : { ids: person?.manages ?? [] }}
        />
        <NativeSelect
          label={names.expiry}
          value={String(draft.expiry)}
          onChange={(event) => onChange({ ...draft, expiry: readExpiry(event.currentTarget.value) })}
          data={[
            ...(expiresAt === null ? [] : [{ value: 'kept', label: formats.fullMoment(Date.parse(expiresAt)) }]),
            { value: 'never', label: names.expiryNever },
            ...expiryDays.map((days) => ({ value: String(days), label: names.expiryDays(days, formats.number(days)) })),
          ]}
        />
      </Group>
      {isAdmin && <NewGroup onCreated={(group) => onChange({ ...draft, group })} />}
      <TagsInput
        label={names.models}
        description={names.modelsHint}
        placeholder={draft.models.length === 0 ? names.modelsAll : undefined}
        value={draft.models}
        onChange={(models) => onChange({ ...draft, models })}
        acceptValueOnBlur
      />
      <KeyLimits draft={draft} onChange={onChange} />
      {manages(draft.group) && (
        <CaptureSwitch
          label={messages.keys.capture}
          isOn={draft.capture}
          onChange={(capture) => onChange({ ...draft, capture })}
        />
      )}
    </>
  );
}

/** Few keys have limits of their own. */
function KeyLimits({ draft, onChange }: Pick<KeyFieldsProps, 'draft' | 'onChange'>) {
  const { limits: names } = useMessages();
  const [isOpen, setOpen] = useState(draft.limits !== undefined);
  if (!isOpen) {
    return (
      <Button
        variant="subtle"
        size="xs"
        className={classes.start}
        leftSection={<IconGauge size={14} />}
        onClick={() => setOpen(true)}
      >
        {names.set}
      </Button>
    );
  }
  return (
    <Fieldset legend={names.title} hint={names.keyHint}>
      <LimitFields limits={draft.limits} onChange={(limits) => onChange({ ...draft, limits })} />
    </Fieldset>
  );
}

/** Makes a group without leaving the form of the key, which then belongs to it. Not a form, because it is inside one. */
function NewGroup({ onCreated }: { onCreated(id: string): void }) {
  const { groups: names } = useMessages();
  const isLocked = useLocks().adding('groups') !== null;
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState('');
  const command = useCommand();
  if (isLocked) return null;
  if (!isOpen)
    return (
      <Button
        variant="subtle"
        size="xs"
        className={classes.start}
        leftSection={<IconPlus size={14} />}
        onClick={() => setOpen(true)}
      >
        {names.createOpen}
      </Button>
    );
  const create = async () => {
    const result = await command.run({ type: 'group.put', group: { name: name.trim() } });
    if (!result) return;
    setOpen(false);
    setName('');
    onCreated(result.group.id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (name.trim() !== '') void create();
  };
  return (
    <>
      <TextInput
        label={names.createTitle}
        description={names.createHint}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        maxLength={200}
        autoComplete="off"
        autoFocus
        rightSectionWidth={90}
        rightSection={
          <Button
            size="compact-xs"
            loading={command.isRunning}
            disabled={name.trim() === ''}
            onClick={() => void create()}
          >
            {names.createConfirm}
          </Button>
        }
      />
      {command.problem && <CommandProblem problem={command.problem} />}
    </>
  );
}

interface KeyNameProps {
  value: string;
  onChange(value: string): void;
  /** A new key needs a name, which distinguishes it from others. An old key may have none. */
  isNew?: boolean;
  /** Whether it has the focus when the form opens. */
  isFirst?: boolean;
}

export function KeyName({ value, onChange, isNew = false, isFirst = true }: KeyNameProps) {
  const { createKey: names } = useMessages();
  return (
    <TextInput
      label={names.name}
      description={names.nameHint}
      placeholder={names.namePlaceholder}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      maxLength={200}
      required={isNew}
      autoComplete="off"
      data-autofocus={isFirst || undefined}
    />
  );
}

/** Settings of a key as edited. */
export interface KeyDraft {
  name: string;
  group: string;
  /** Days from now; `never`; `kept`: unchanged. */
  expiry: number | 'never' | 'kept';
  /** Patterns of model names; empty for all that the group allows. */
  models: string[];
  limits: Limits | undefined;
  capture: boolean;
}

export function draftOf(view: KeyView): KeyDraft {
  return {
    name: view.name ?? '',
    group: view.group,
    expiry: view.expiresAt === null ? 'never' : 'kept',
    models: view.models ?? [],
    limits: view.limits ?? undefined,
    capture: view.capture,
  };
}

/** Parses the value of a menu. */
function readExpiry(value: string): KeyDraft['expiry'] {
  return value === 'never' || value === 'kept' ? value : Number(value);
}

/** ISO 8601; null if it never expires. */
export function expiryOf(days: number | 'never', nowMs: number): string | null {
  return days === 'never' ? null : new Date(nowMs + days * dayMs).toISOString();
}

/** The group whose keys are shown, which stands in the address: `/keys?group=g1`; null: any. */
export function useGroupChoice(): [string | null, (group: string | null) => void] {
  const search = new URLSearchParams(useSearch());
  const [path, goTo] = useLocation();
  const choose = (group: string | null) => {
    if (group === null) search.delete('group');
    else search.set('group', group);
    goTo(search.size > 0 ? `${path}?${search}` : path, { replace: true });
  };
  return [search.get('group'), choose];
}
