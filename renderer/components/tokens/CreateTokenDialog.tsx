import { Checkbox, NativeSelect, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { type TokenScope, tokenScopes } from '../../../server/contract/people.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { SecretContent, type ShownSecret } from '../copying/SecretContent.tsx';
import { DialogActions } from '../dialogs/DialogActions.tsx';
import { ModalFrame } from '../dialogs/ModalFrame.tsx';

interface CreateTokenDialogProps {
  opened: boolean;
  onClose(): void;
  onCreated(): void;
}

const validDays = [7, 30, 90, 180, 365] as const;

/** The form for a new API token, followed by its secret, which is shown only once. */
export function CreateTokenDialog({ opened, onClose, onCreated }: CreateTokenDialogProps) {
  const { tokens: names } = useMessages();
  const [secret, setSecret] = useState<ShownSecret | null>(null);
  const close = () => {
    setSecret(null);
    onClose();
  };
  const show = (shown: ShownSecret) => {
    setSecret(shown);
    onCreated();
  };
  return (
    <ModalFrame
      opened={opened}
      onClose={close}
      title={secret?.title ?? names.createTitle}
      ignoresClickOutside={secret !== null}
    >
      {secret ? <SecretContent shown={secret} onDone={close} /> : <CreateTokenForm onCancel={close} onCreated={show} />}
    </ModalFrame>
  );
}

interface CreateTokenFormProps {
  onCancel(): void;
  onCreated(secret: ShownSecret): void;
}

function CreateTokenForm({ onCancel, onCreated }: CreateTokenFormProps) {
  const { tokens: names } = useMessages();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<TokenScope[]>(['read']);
  const [days, setDays] = useState(90);
  const command = useCommand();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const tokenName = name.trim();
    const result = await command.run({ type: 'token.create', name: tokenName, scopes, days });
    if (!result) return;
    const words = { text: names.once(tokenName), label: names.what };
    onCreated({ title: names.created, name: tokenName, secret: result.secret, isKept: false, words });
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <TextInput
          label={names.name}
          placeholder={names.namePlaceholder}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          maxLength={100}
          autoComplete="off"
          required
          data-autofocus
        />
        <Checkbox.Group
          label={names.scopes}
          value={scopes}
          onChange={(chosen) => setScopes(tokenScopes.filter((scope) => chosen.includes(scope)))}
        >
          <Stack gap="xs" mt={6}>
            {tokenScopes.map((scope) => (
              <Checkbox
                key={scope}
                value={scope}
                label={names.scopeNames[scope]}
                description={names.scopeHints[scope]}
              />
            ))}
          </Stack>
        </Checkbox.Group>
        <NativeSelect
          label={names.expiry}
          data={validDays.map((count) => ({ value: String(count), label: names.days(count) }))}
          value={String(days)}
          onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}
        />
        <DialogActions
          command={command}
          submit={names.submit}
          isBlocked={name.trim() === '' || scopes.length === 0}
          onLeave={onCancel}
        />
      </Stack>
    </form>
  );
}
