import { Button, Group, NativeSelect, Switch, TagsInput, TextInput } from '@mantine/core';
import { IconGauge } from '@tabler/icons-react';
import { useState } from 'react';
import type { KeyView } from '../../../server/contract/access-views.ts';
import type { Limits } from '../../../server/contract/config.ts';
import { CaptureSwitch } from '../../components/CaptureSwitch.tsx';
import { CassetteFields } from '../../components/CassetteFields.tsx';
import type { CassetteDraft } from '../../components/cassette-draft.ts';
import { LimitFields } from '../../components/LimitFields.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import classes from './Keys.module.css';

/** What was typed of a key. */
export interface KeyDraft {
  name: string;
  group: string;
  /** Days from now; `never`; `kept`: as it is. */
  expiry: number | 'never' | 'kept';
  /** Patterns of model names; none: all that the group allows. */
  models: string[];
  limits: Limits | undefined;
  capture: boolean;
  /** Its requests may ask for faults. */
  faults: boolean;
  cassette: CassetteDraft;
}

const dayMs = 86_400_000;
const expiryDays = [1, 7, 30, 90, 365];

interface KeyFieldsProps {
  draft: KeyDraft;
  onChange(draft: KeyDraft): void;
  /** ISO 8601, of a key that has an expiry already. */
  expiresAt?: string | null;
  /** The cassette in force, of a key that has one. */
  cassette?: KeyView['cassette'];
}

/** What can be set of a key, new or not. */
export function KeyFields({ draft, onChange, expiresAt = null, cassette = null }: KeyFieldsProps) {
  const { messages, formats } = useLocalization();
  const names = messages.createKey;
  const groups = useControlState((state) => state.views?.groups ?? null) ?? [];
  return (
    <>
      <TextInput
        label={names.name}
        description={names.nameHint}
        placeholder={names.namePlaceholder}
        value={draft.name}
        onChange={(event) => onChange({ ...draft, name: event.currentTarget.value })}
        maxLength={200}
        autoComplete="off"
        data-autofocus
      />
      <Group grow gap="sm">
        <NativeSelect
          label={names.group}
          value={draft.group}
          onChange={(event) => onChange({ ...draft, group: event.currentTarget.value })}
          data={groups.map(({ id, name }) => ({ value: id, label: name ?? id }))}
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
      <TagsInput
        label={names.models}
        description={names.modelsHint}
        placeholder={draft.models.length === 0 ? names.modelsAll : undefined}
        value={draft.models}
        onChange={(models) => onChange({ ...draft, models })}
        acceptValueOnBlur
      />
      <CaptureSwitch
        label={messages.keys.capture}
        isOn={draft.capture}
        onChange={(capture) => onChange({ ...draft, capture })}
      />
      <Switch
        label={messages.faults.ask}
        description={messages.faults.askHint}
        checked={draft.faults}
        onChange={(event) => onChange({ ...draft, faults: event.currentTarget.checked })}
      />
      <CassetteFields
        draft={draft.cassette}
        saved={cassette === 'off' ? null : cassette}
        hasGroup
        onChange={(changed) => onChange({ ...draft, cassette: changed })}
      />
      <KeyLimits draft={draft} onChange={onChange} />
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
    <LimitFields hint={names.keyHint} limits={draft.limits} onChange={(limits) => onChange({ ...draft, limits })} />
  );
}

function readExpiry(value: string): KeyDraft['expiry'] {
  return value === 'never' || value === 'kept' ? value : Number(value);
}

/** ISO 8601; null: it never expires. */
export function expiryOf(days: number | 'never', nowMs: number): string | null {
  return days === 'never' ? null : new Date(nowMs + days * dayMs).toISOString();
}
