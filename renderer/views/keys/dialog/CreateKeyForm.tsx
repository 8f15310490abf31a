import { Checkbox, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { limitsOf } from '../../../components/access/limit-draft.ts';
import type { ShownSecret } from '../../../components/copying/CopyButton.tsx';
import { DialogActions } from '../../../components/dialogs/ModalFrame.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useRights } from '../../../state/rights/use-rights.ts';
import { KeyFields } from './KeyFields.tsx';
import { KeyName } from './KeyName.tsx';
import { expiryOf, type KeyDraft } from './key-draft.ts';
import { useGroupChoice } from './use-group-choice.ts';

interface CreateKeyFormProps {
  onCancel(): void;
  onCreated(secret: ShownSecret): void;
}

/** Mounted only while its dialog is open, so it starts empty each time. */
export function CreateKeyForm({ onCancel, onCreated }: CreateKeyFormProps) {
  const { createKey: names, secret: secretNames } = useMessages();
  const groups = useControlState((state) => state.views?.groups ?? null) ?? [];
  const [shownGroup] = useGroupChoice();
  const usualGroup = groups.find(({ id }) => id === 'default')?.id ?? groups[0]?.id ?? 'default';
  const [draft, setDraft] = useState<KeyDraft>({
    name: '',
    group: shownGroup ?? usualGroup,
    expiry: 'never',
    models: [],
    limits: undefined,
    capture: false,
  });
  const [keepSecret, setKeepSecret] = useState(true);
  const { manages } = useRights();
  const isManager = manages(draft.group);
  const command = useCommand();

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const name = draft.name.trim();
    const limits = limitsOf(draft.limits);
    const expiresAt = draft.expiry === 'kept' ? null : expiryOf(draft.expiry, Date.now());
    const result = await command.run({
      type: 'key.create',
      ...(name && { name }),
      group: draft.group,
      ...(expiresAt !== null && { expiresAt }),
      ...(draft.models.length > 0 && { models: draft.models }),
      ...(limits && { limits }),
      ...(isManager && draft.capture && { capture: true }),
      keepSecret,
    });
    if (!result) return;
    const { key, secret } = result;
    onCreated({ title: secretNames.created, name: key.name ?? key.id, secret, isKept: keepSecret });
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <KeyName value={draft.name} onChange={(name) => setDraft({ ...draft, name })} isNew />
        <KeyFields draft={draft} onChange={setDraft} isNew />
        <Checkbox
          label={names.keepSecret}
          checked={keepSecret}
          onChange={(event) => setKeepSecret(event.currentTarget.checked)}
        />
        <DialogActions command={command} submit={names.submit} onLeave={onCancel} />
      </Stack>
    </form>
  );
}
