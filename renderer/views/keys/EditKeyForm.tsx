import { Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { KeyView } from '../../../server/contract/access-views.ts';
import { cassetteDraftOf, keyCassetteOf } from '../../components/cassette-draft.ts';
import { DialogActions } from '../../components/DialogActions.tsx';
import { limitsOf } from '../../components/limit-draft.ts';
import { useCommand } from '../../state/use-command.ts';
import { useRights } from '../../state/use-rights.ts';
import { KeyFields } from './KeyFields.tsx';
import { KeyName } from './KeyName.tsx';
import { expiryOf, type KeyDraft } from './key-draft.ts';

interface EditKeyFormProps {
  view: KeyView;
  onClose(): void;
}

/**
 * The form of an existing key, with the settings that the person may change: for its owner, only the name. The secret
 * stays the same.
 */
export function EditKeyForm({ view, onClose }: EditKeyFormProps) {
  const [draft, setDraft] = useState<KeyDraft>({
    name: view.name ?? '',
    group: view.group,
    expiry: view.expiresAt === null ? 'never' : 'kept',
    models: view.models ?? [],
    limits: view.limits ?? undefined,
    capture: view.capture,
    faults: view.faults,
    cassette: cassetteDraftOf(view.cassette, 'group'),
  });
  const { isAdmin, manages } = useRights();
  const isManager = manages(view.group);
  const command = useCommand();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const changes = {
      name: draft.name.trim() || null,
      ...(isManager && {
        group: draft.group,
        models: draft.models.length > 0 ? draft.models : null,
        limits: limitsOf(draft.limits) ?? null,
        capture: draft.capture,
        faults: draft.faults,
        ...(draft.expiry !== 'kept' && { expiresAt: expiryOf(draft.expiry, Date.now()) }),
      }),
      ...(isAdmin && { cassette: keyCassetteOf(draft.cassette) }),
    };
    if (await command.run({ type: 'key.update', id: view.id, changes })) onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <KeyName value={draft.name} onChange={(name) => setDraft({ ...draft, name })} />
        {isManager && (
          <KeyFields draft={draft} onChange={setDraft} expiresAt={view.expiresAt} cassette={view.cassette} />
        )}
        <DialogActions command={command} onLeave={onClose} />
      </Stack>
    </form>
  );
}
