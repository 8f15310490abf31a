import { Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useSearch } from 'wouter';
import type { KeyView } from '../../../../server/contract/access-views.ts';
import { limitsOf } from '../../../components/access/limit-draft.ts';
import { DialogActions } from '../../../components/dialogs/DialogActions.tsx';
import { TestingLine } from '../../../components/testing/TestingLine.tsx';
import { useCommand } from '../../../state/control/use-command.ts';
import { isEqual } from '../../../state/edits/edits.ts';
import { useRights } from '../../../state/rights/use-rights.ts';
import { KeyFields } from './KeyFields.tsx';
import { KeyName } from './KeyName.tsx';
import { draftOf, expiryOf, type KeyDraft } from './key-draft.ts';

interface EditKeyFormProps {
  view: KeyView;
  onClose(): void;
}

/**
 * The form of an existing key, with the settings that the person may change: for its owner, only the name. The secret
 * stays the same.
 */
export function EditKeyForm({ view, onClose }: EditKeyFormProps) {
  const [first] = useState(() => draftOf(view));
  const [draft, setDraft] = useState(first);
  const isManager = useRights().manages(view.group);
  const isBudgetAsked = new URLSearchParams(useSearch()).has('budget');
  const command = useCommand();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const isChanged = (field: keyof KeyDraft) => !isEqual(draft[field], first[field]);
    // Only what was changed here, so that what was changed elsewhere meanwhile stays.
    const changes = {
      ...(isChanged('name') && { name: draft.name.trim() || null }),
      ...(isChanged('group') && { group: draft.group }),
      ...(isChanged('models') && { models: draft.models.length > 0 ? draft.models : null }),
      ...(isChanged('limits') && { limits: limitsOf(draft.limits) ?? null }),
      ...(isChanged('capture') && { capture: draft.capture }),
      ...(draft.expiry !== first.expiry &&
        draft.expiry !== 'kept' && { expiresAt: expiryOf(draft.expiry, Date.now()) }),
    };
    if (await command.run({ type: 'key.update', id: view.id, changes })) onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <KeyName value={draft.name} onChange={(name) => setDraft({ ...draft, name })} isFirst={!isBudgetAsked} />
        {isManager && (
          <>
            <KeyFields draft={draft} onChange={setDraft} expiresAt={view.expiresAt} />
            <TestingLine kind="key" id={view.id} />
          </>
        )}
        <DialogActions command={command} onLeave={onClose} />
      </Stack>
    </form>
  );
}
