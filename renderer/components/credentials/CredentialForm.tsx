import { Anchor, PasswordInput, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useFocusTrap } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import type { CredentialView } from '../../../server/contract/provider-views.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { DialogActions } from '../dialogs/ModalFrame.tsx';

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

type CredentialSource = 'secret' | 'env' | 'file';

/** A credential as typed; exists only as long as its form. */
export interface CredentialDraft {
  source: CredentialSource;
  value: string;
}

export const emptyDraft: CredentialDraft = { source: 'secret', value: '' };
const examples = { secret: 'sk-…', env: 'OPENAI_API_KEY', file: '/run/secrets/openai' };
const sources: readonly CredentialSource[] = ['secret', 'env', 'file'];

interface CredentialFieldsProps {
  draft: CredentialDraft;
  onChange(draft: CredentialDraft): void;
  /** The page where a person can get one. */
  keyPage?: string | null;
  isOptional?: boolean;
  /** The person tried to continue without it. */
  isMissing?: boolean;
  /** Focused when its dialog opens. */
  isFirst?: boolean;
}

/** Fields for a credential, either its value or a reference to it. */
export function CredentialFields({ draft, onChange, keyPage = null, ...rest }: CredentialFieldsProps) {
  const { credential: names } = useMessages().providers;
  const { isOptional = false, isMissing = false, isFirst = false } = rest;
  const common = {
    value: draft.value,
    onChange: (event: { currentTarget: { value: string } }) => onChange({ ...draft, value: event.currentTarget.value }),
    label: isOptional ? names.optional(names.labels[draft.source]) : names.labels[draft.source],
    description: names.hints[draft.source],
    placeholder: examples[draft.source],
    error: isMissing && names.missingValues[draft.source],
    autoComplete: 'off',
    spellCheck: false,
    ...(isFirst && { 'data-autofocus': true }),
  };
  return (
    <Stack gap="xs">
      {draft.source === 'secret' ? (
        <PasswordInput {...common} autoComplete="new-password" />
      ) : (
        <TextInput {...common} />
      )}
      {keyPage && (
        <Text size="sm">
          {names.keyPage}{' '}
          <Anchor href={keyPage} target="_blank" rel="noreferrer" size="sm">
            {keyPage.replace(/^https:\/\//, '')}
          </Anchor>
        </Text>
      )}
      <SegmentedControl
        size="xs"
        aria-label={names.source}
        value={draft.source}
        onChange={(source) => onChange({ source, value: '' })}
        data={sources.map((source) => ({ value: source, label: names.sources[source] }))}
      />
    </Stack>
  );
}

/** In the form that a command expects; null while nothing was typed. */
export function draftedCredential({
  source,
  value,
}: CredentialDraft): { secret: string } | { reference: string } | null {
  const text = value.trim();
  if (!text) return null;
  return source === 'secret' ? { secret: text } : { reference: `${source}:${text}` };
}
