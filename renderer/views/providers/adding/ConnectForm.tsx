import { Stack, Switch, Text, TextInput } from '@mantine/core';
import { useFocusTrap } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import type { CommandInputMap } from '../../../../server/contract/commands.ts';
import {
  type CredentialDraft,
  CredentialFields,
  draftedCredential,
  emptyDraft,
} from '../../../components/credentials/CredentialFields.tsx';
import { DialogActions } from '../../../components/dialogs/DialogActions.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { exampleBaseUrls, fillPlaceholders, isBaseUrl, placeholdersOf } from '../connection/base-url.ts';
import classes from '../Providers.module.css';
import type { Choice } from './provider-choice.ts';

interface ConnectFormProps {
  choice: Choice;
  onBack(): void;
  onAdded(id: string): void;
}

/** The second step: the address, if it is not known, and the credential. */
export function ConnectForm({ choice, onBack, onAdded }: ConnectFormProps) {
  const { add: names } = useMessages().providers;
  const form = useConnectForm(choice, onAdded);
  // The previous step had the focus and is gone.
  const takeFocus = useFocusTrap();
  const { preset } = form;
  return (
    <form onSubmit={(event) => void form.submit(event)} ref={takeFocus}>
      <Stack gap="sm">
        {preset && (
          <div>
            <Text fw={600}>{names.presetNames[preset.id] ?? preset.name}</Text>
            <span className={classes.mono}>{form.baseUrl}</span>
            {preset.hint && <Text c="dimmed">{names.presetHints[preset.id] ?? preset.hint}</Text>}
          </div>
        )}
        <AddressFields form={form} />
        {(!preset?.isLocal || form.needsCredential) && (
          <CredentialFields
            draft={form.credential}
            onChange={form.setCredential}
            keyPage={preset?.keyPage ?? null}
            isOptional={!form.needsCredential}
            isMissing={form.lacksCredential}
            isFirst={preset !== null && form.blanks.length === 0}
          />
        )}
        <DialogActions command={form.command} submit={names.submit} leave={names.back} onLeave={onBack} />
      </Stack>
    </form>
  );
}

type ConnectFormState = ReturnType<typeof useConnectForm>;

function useConnectForm(choice: Choice, onAdded: (id: string) => void) {
  const preset = choice === 'custom' ? null : choice.preset;
  const found = choice === 'custom' ? undefined : choice.found;
  const template = found?.baseUrl ?? preset?.baseUrl ?? '';
  const [address, setAddress] = useState('');
  const [name, setName] = useState('');
  const [isFree, setFree] = useState(false);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [credential, setCredential] = useState(() => draftFor(choice));
  const [wasSent, setWasSent] = useState(false);
  const command = useCommand();
  const baseUrl = preset ? fillPlaceholders(template, values) : address.trim();
  const needsCredential = found?.needsCredential ?? preset?.needsCredential ?? false;
  const enteredCredential = draftedCredential(credential);
  const isComplete = isBaseUrl(baseUrl) && (enteredCredential !== null || !needsCredential);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setWasSent(true);
    if (!isComplete) return;
    const provider: CommandInputMap['provider.add']['provider'] = {
      ...(preset && { preset: preset.id }),
      ...(name.trim() && { name: name.trim() }),
      ...(isFree && { free: true }),
      baseUrl,
    };
    const result = await command.run({
      type: 'provider.add',
      provider,
      ...(enteredCredential && { credentials: [enteredCredential] }),
    });
    if (result) onAdded(result.provider.id);
  };
  return {
    preset,
    baseUrl,
    blanks: preset ? placeholdersOf(template) : [],
    needsCredential,
    lacksCredential: wasSent && needsCredential && enteredCredential === null,
    lacksAddress: wasSent && !isBaseUrl(baseUrl),
    ...{
      address,
      setAddress,
      name,
      setName,
      isFree,
      setFree,
      values,
      setValues,
      credential,
      setCredential,
      command,
      submit,
    },
  };
}

function draftFor(choice: Choice): CredentialDraft {
  if (choice === 'custom' || choice.variable === undefined) return emptyDraft;
  return { source: 'env', value: choice.variable };
}

/** The missing part of the address: all of it, or the preset's placeholders. */
function AddressFields({ form }: { form: ConnectFormState }) {
  const { add: names, connection } = useMessages().providers;
  if (form.preset) {
    const isBlank = (name: string) => !form.values[name]?.trim();
    // If all are filled in, any of them may be wrong.
    const isWrong = (name: string) => form.lacksAddress && (isBlank(name) || !form.blanks.some(isBlank));
    return form.blanks.map((blank, index) => (
      <TextInput
        key={blank}
        label={blank}
        value={form.values[blank] ?? ''}
        onChange={(event) => form.setValues({ ...form.values, [blank]: event.currentTarget.value })}
        error={isWrong(blank) && names.blankWrong}
        autoComplete="off"
        data-autofocus={index === 0 || undefined}
      />
    ));
  }
  return (
    <>
      <TextInput
        label={names.address}
        description={names.addressHint(exampleBaseUrls.openai)}
        placeholder="https://llm.example.com/v1"
        value={form.address}
        onChange={(event) => form.setAddress(event.currentTarget.value)}
        error={form.lacksAddress && names.addressWrong}
        autoComplete="off"
        inputMode="url"
        data-autofocus
      />
      <TextInput
        label={names.name}
        value={form.name}
        onChange={(event) => form.setName(event.currentTarget.value)}
        maxLength={200}
        autoComplete="off"
      />
      <Switch
        label={connection.free}
        description={connection.freeHint}
        checked={form.isFree}
        onChange={(event) => form.setFree(event.currentTarget.checked)}
      />
    </>
  );
}
