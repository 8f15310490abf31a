import { Button, Group, NativeSelect, TagsInput } from '@mantine/core';
import { IconGauge } from '@tabler/icons-react';
import { useState } from 'react';
import { CaptureSwitch, LimitFields } from '../../../components/access/AccessFields.tsx';
import { Fieldset } from '../../../components/forms/Fieldset.tsx';
import { FindSelect } from '../../../components/selects/FindSelect.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { usePerson, useRights } from '../../../state/rights/use-rights.ts';
import classes from '../Keys.module.css';
import { type KeyDraft, readExpiry } from './key-draft.ts';
import { NewGroup } from './NewGroup.tsx';

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
