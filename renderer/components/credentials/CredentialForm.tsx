import { Stack, TextInput } from '@mantine/core';
import { useFocusTrap } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import type { CredentialView } from '../../../server/contract/provider-views.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { DialogActions } from '../dialogs/DialogActions.tsx';
import { CredentialFields, draftedCredential, emptyDraft } from './CredentialFields.tsx';

interface CredentialFormProps {
  /** Id of the provider. */
  provider: string;
  /** The credential to replace; null for a new one. */
  credential: CredentialView | null;
  onCancel(): void;
  onSaved(): void;
}

/** A form for a new credential or a new value of one. The previous value is never shown. */
export function CredentialForm({ provider, credential, onCancel, onSaved }: CredentialFormProps) {
  const { providers } = useMessages();
  const names = providers.credential;
  const [draft, setDraft] = useState(emptyDraft);
  const [label, setLabel] = useState('');
  const [wasSent, setWasSent] = useState(false);
  const takeFocus = useFocusTrap();
  const command = useCommand();
  const enteredCredential = draftedCredential(draft);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    // Within another form's dialog, submitting this form must not submit the other one.
    event.stopPropagation();
    setWasSent(true);
    if (!enteredCredential) return;
    const isSaved = await command.run({
      type: 'credential.set',
      provider,
      ...(credential ? { id: credential.id } : label.trim() && { label: label.trim() }),
      ...enteredCredential,
    });
    if (isSaved) onSaved();
  };
  return (
    <form onSubmit={(event) => void submit(event)} ref={takeFocus}>
      <Stack gap="sm">
        <CredentialFields draft={draft} onChange={setDraft} isMissing={wasSent && !enteredCredential} isFirst />
        {!credential && (
          <TextInput
            label={names.label}
            description={names.labelHint}
            value={label}
            onChange={(event) => setLabel(event.currentTarget.value)}
            maxLength={200}
            autoComplete="off"
          />
        )}
        <DialogActions command={command} onLeave={onCancel} />
      </Stack>
    </form>
  );
}
