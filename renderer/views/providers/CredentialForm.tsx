import { Stack, TextInput } from '@mantine/core';
import { useFocusTrap } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import type { CredentialView } from '../../../server/contract/provider-views.ts';
import { DialogActs } from '../../components/DialogActs.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/use-command.ts';
import { CredentialFields, draftedCredential, emptyDraft } from './CredentialFields.tsx';

interface CredentialFormProps {
  /** Id of the provider. */
  provider: string;
  /** Whose value is replaced; null: a new one. */
  credential: CredentialView | null;
  onCancel(): void;
  onSaved(): void;
}

/** A new credential, or a new value of one. What was there before is never shown. */
export function CredentialForm({ provider, credential, onCancel, onSaved }: CredentialFormProps) {
  const { providers } = useMessages();
  const names = providers.credential;
  const [draft, setDraft] = useState(emptyDraft);
  const [label, setLabel] = useState('');
  const [wasSent, setWasSent] = useState(false);
  const takeFocus = useFocusTrap();
  const command = useCommand();
  const given = draftedCredential(draft);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    // A form within another one's dialog must not send that one too.
    event.stopPropagation();
    setWasSent(true);
    if (!given) return;
    const isSaved = await command.run({
      type: 'credential.set',
      provider,
      ...(credential ? { id: credential.id } : label.trim() && { label: label.trim() }),
      ...given,
    });
    if (isSaved) onSaved();
  };
  return (
    <form onSubmit={(event) => void submit(event)} ref={takeFocus}>
      <Stack gap="sm">
        <CredentialFields draft={draft} onChange={setDraft} isMissing={wasSent && !given} isFirst />
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
        <DialogActs command={command} onLeave={onCancel} />
      </Stack>
    </form>
  );
}
