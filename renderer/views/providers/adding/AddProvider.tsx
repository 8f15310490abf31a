import { Button, Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useFocusTrap } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import { cleanBaseUrl, nameOfAddress } from '../../../../server/contract/address.ts';
import { CredentialFields } from '../../../components/credentials/CredentialForm.tsx';
import { ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { isBaseUrl } from '../connection/connection-values.ts';
import classes from '../Providers.module.css';
import { PresetPicker } from './PresetPicker.tsx';
import {
  blanksOf,
  type Field,
  filledAddress,
  hasAddress,
  hasCredential,
  type ProviderDraft,
} from './provider-draft.ts';
import { Trial } from './Trial.tsx';

/** The current step: choosing a service, entering what it needs, or testing it. */
export type Stage =
  | { name: 'pick' }
  /** `isLinked`: a link filled it in, which may come from anyone. */
  | { name: 'connect'; draft: ProviderDraft; field?: Field | null; isLinked?: boolean }
  | { name: 'try'; draft: ProviderDraft };

interface AddProviderProps {
  /** Null while closed. */
  first: Stage | null;
  onClose(): void;
  onKept(): void;
}

/**
 * Adds a provider in three steps, starting with `first`. Nothing is added before the last one has shown what it is. The
 * content is remounted each time it opens, so that it starts empty.
 */
export function AddProvider({ first, onClose, onKept }: AddProviderProps) {
  const { add: names } = useMessages().providers;
  return (
    <ModalFrame opened={first !== null} onClose={onClose} title={names.title}>
      {first && <Stages first={first} onKept={onKept} />}
    </ModalFrame>
  );
}

function Stages({ first, onKept }: { first: Stage; onKept(): void }) {
  const { add: names } = useMessages().providers;
  const [stage, setStage] = useState(first);
  const test = (draft: ProviderDraft) => setStage({ name: 'try', draft });
  switch (stage.name) {
    case 'pick':
      return <PresetPicker onPick={(draft) => setStage({ name: 'connect', draft })} onTry={test} />;
    case 'connect':
      return (
        <>
          {stage.isLinked && (
            <Text c="dimmed" mb="sm">
              {names.linked}
            </Text>
          )}
          <ConnectForm
            initial={stage.draft}
            field={stage.field ?? null}
            onBack={() => setStage({ name: 'pick' })}
            onTry={test}
          />
        </>
      );
    case 'try':
      return (
        <Trial
          draft={stage.draft}
          // What is corrected may lead elsewhere, where nothing is trusted yet.
          onEdit={(field) => setStage({ name: 'connect', draft: { ...stage.draft, certificate: null }, field })}
          onTrust={(certificate) => test({ ...stage.draft, certificate })}
          onKept={onKept}
        />
      );
  }
}

interface ConnectFormProps {
  initial: ProviderDraft;
  /** The field to correct after a test. */
  field: Field | null;
  onBack(): void;
  onTry(draft: ProviderDraft): void;
}

/** The second step: the address, if it is not known, and the credential. */
function ConnectForm({ initial, field, onBack, onTry }: ConnectFormProps) {
  const { add: names, connection } = useMessages().providers;
  const [draft, setDraft] = useState(initial);
  const [wasSent, setWasSent] = useState(false);
  // The previous step had the focus and is gone.
  const takeFocus = useFocusTrap();
  const change = (changes: Partial<ProviderDraft>) => setDraft({ ...draft, ...changes });
  const hasProxy = draft.proxy.trim() === '' || isBaseUrl(draft.proxy);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setWasSent(true);
    if (hasAddress(draft) && hasCredential(draft) && hasProxy) onTry(draft);
  };
  const { preset } = draft;
  const isAddressFirst = field === null || field === 'address';
  const needsAddress = preset === null || blanksOf(draft).length > 0;
  const isAddressWrong = wasSent && !hasAddress(draft);
  return (
    <form onSubmit={submit} ref={takeFocus} noValidate>
      <Stack gap="sm">
        {preset && <ServiceNote draft={draft} />}
        <AddressFields draft={draft} change={change} isWrong={isAddressWrong} isFirst={isAddressFirst} />
        {field === 'address' && !needsAddress && (
          <AddressField draft={draft} change={change} isWrong={isAddressWrong} isFirst />
        )}
        {(!preset?.isLocal || draft.needsCredential) && (
          <CredentialFields
            draft={draft.credential}
            onChange={(credential) => change({ credential, copiedVariable: null })}
            keyPage={preset?.keyPage ?? null}
            isOptional={!draft.needsCredential}
            isMissing={wasSent && !hasCredential(draft)}
            isFirst={field === 'credential' || (field === null && !needsAddress)}
          />
        )}
        {(field === 'proxy' || draft.proxy !== '') && (
          <TextInput
            label={connection.proxyAddress}
            placeholder="http://proxy.example:8080"
            value={draft.proxy}
            onChange={(event) => change({ proxy: event.currentTarget.value })}
            error={wasSent && !hasProxy && connection.proxyWrong}
            autoComplete="off"
            data-autofocus={field === 'proxy' || undefined}
          />
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onBack}>
            {names.back}
          </Button>
          <Button type="submit">{names.test}</Button>
        </Group>
      </Stack>
    </form>
  );
}

function ServiceNote({ draft }: { draft: ProviderDraft }) {
  const { add: names } = useMessages().providers;
  const { preset } = draft;
  if (!preset) return null;
  return (
    <div>
      <Text fw={600}>{names.presetNames[preset.id] ?? preset.name}</Text>
      <span className={classes.mono}>{filledAddress(draft)}</span>
      {preset.hint && <Text c="dimmed">{names.presetHints[preset.id] ?? preset.hint}</Text>}
    </div>
  );
}

interface FieldsProps {
  draft: ProviderDraft;
  change(changes: Partial<ProviderDraft>): void;
  isWrong: boolean;
  isFirst: boolean;
}

/** The missing part of the address: all of it, or the preset's placeholders. */
function AddressFields(props: FieldsProps) {
  const { add: names } = useMessages().providers;
  const { draft, change, isWrong, isFirst } = props;
  if (!draft.preset) return <CustomFields {...props} />;
  const blanks = blanksOf(draft);
  const isBlank = (name: string) => !draft.values[name]?.trim();
  // If all are filled in, any of them may be wrong.
  const isWrongBlank = (name: string) => isWrong && (isBlank(name) || !blanks.some(isBlank));
  return blanks.map((blank, index) => (
    <TextInput
      key={blank}
      label={blank}
      value={draft.values[blank] ?? ''}
      onChange={(event) => change({ values: { ...draft.values, [blank]: event.currentTarget.value } })}
      error={isWrongBlank(blank) && names.blankWrong}
      autoComplete="off"
      data-autofocus={(isFirst && index === 0) || undefined}
    />
  ));
}

function CustomFields(props: FieldsProps) {
  const { add: names, connection } = useMessages().providers;
  const { draft, change } = props;
  return (
    <>
      <AddressField {...props} />
      <TextInput
        label={names.name}
        placeholder={nameOfAddress(cleanBaseUrl(draft.address))}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        maxLength={200}
        autoComplete="off"
      />
      <Switch
        label={connection.free}
        description={connection.freeHint}
        checked={draft.isFree}
        onChange={(event) => change({ isFree: event.currentTarget.checked })}
      />
    </>
  );
}

/** Whatever was pasted, and how it is read. */
function AddressField({ draft, change, isWrong, isFirst }: FieldsProps) {
  const { add: names } = useMessages().providers;
  const meant = cleanBaseUrl(draft.address);
  const isReadOtherwise = isBaseUrl(draft.address) && meant !== draft.address.trim();
  return (
    <TextInput
      label={names.address}
      description={isReadOtherwise ? names.readAs(meant) : names.addressHint}
      placeholder="https://llm.example.com/v1"
      value={draft.address}
      onChange={(event) => change({ address: event.currentTarget.value })}
      error={isWrong && names.addressWrong}
      autoComplete="off"
      inputMode="url"
      data-autofocus={isFirst || undefined}
    />
  );
}
