import { Button } from '@mantine/core';
import { IconPlus, IconRefresh, IconRestore, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import type { CredentialView, ProviderView } from '../../../../server/contract/provider-views.ts';
import { IconAction } from '../../../components/buttons/IconAction.tsx';
import { CredentialForm } from '../../../components/credentials/CredentialForm.tsx';
import { ConfirmDialog } from '../../../components/dialogs/ConfirmDialog.tsx';
import { ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { CooldownNote } from '../../../components/feedback/Condition.tsx';
import { StateSwitch } from '../../../components/forms/StateSwitch.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import list from '../../../components/lists/List.module.css';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useCredentialName } from '../../../state/providers/providers.ts';
import { useCanChange } from '../../../state/rights/use-rights.ts';
import classes from '../Providers.module.css';

/** The credential that a dialog replaces; `credential` is null for a new one. */
type Editing = { credential: CredentialView | null } | null;

/** The credentials of a provider. Their values are never shown. */
export function CredentialsSection({ provider }: { provider: ProviderView }) {
  const { messages, formats } = useLocalization();
  const names = messages.providers.credential;
  const nameOf = useCredentialName();
  const canChange = useCanChange();
  const [editing, setEditing] = useState<Editing>(null);
  const [removing, setRemoving] = useState<CredentialView | null>(null);
  const { id, credentials } = provider;
  const add = (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconPlus size={14} />}
      disabled={!canChange}
      onClick={() => setEditing({ credential: null })}
    >
      {names.add}
    </Button>
  );
  return (
    <Section title={names.title} count={formats.number(credentials.length)} action={add}>
      {credentials.length === 0 && <p className={classes.body}>{names.none}</p>}
      <ul className={list.list}>
        {credentials.map((credential) => (
          <CredentialRow
            key={credential.id}
            provider={id}
            credential={credential}
            onReplace={() => setEditing({ credential })}
            onRemove={() => setRemoving(credential)}
          />
        ))}
      </ul>
      <ModalFrame
        opened={editing !== null}
        onClose={() => setEditing(null)}
        title={editing?.credential ? names.replaceTitle(nameOf(id, editing.credential.id)) : names.add}
      >
        <CredentialForm
          provider={id}
          credential={editing?.credential ?? null}
          onCancel={() => setEditing(null)}
          onSaved={() => setEditing(null)}
        />
      </ModalFrame>
      <RemoveCredential provider={id} credential={removing} onClose={() => setRemoving(null)} />
    </Section>
  );
}

interface CredentialRowProps {
  provider: string;
  credential: CredentialView;
  onReplace(): void;
  onRemove(): void;
}

function CredentialRow({ provider, credential, onReplace, onRemove }: CredentialRowProps) {
  const messages = useMessages();
  const names = messages.providers.credential;
  const canChange = useCanChange();
  const command = useCommand();
  const { id, reference, health } = credential;
  const name = useCredentialName()(provider, id);
  const isInTrouble = credential.enabled && health.failure !== null;
  return (
    <li className={list.row}>
      <StateSwitch
        label={names.switch(name)}
        isOn={credential.enabled}
        isBusy={command.isRunning}
        onChange={(enabled) => void command.run({ type: 'credential.set', provider, id, enabled })}
      />
      <div className={credential.enabled ? undefined : list.off}>
        <div className={list.head}>
          <span className={list.name}>{name}</span>
        </div>
        <div className={list.detail}>
          {reference === 'keychain' ? names.stored : <span className={list.mono}>{reference}</span>}
          {!credential.hasSecret && <span className={list.warning}> · {names.missing}</span>}
        </div>
      </div>
      <div className={list.actions}>
        {isInTrouble && (
          <IconAction
            label={messages.health.resetNamed(name)}
            icon={<IconRestore size={18} />}
            onClick={() => void command.run({ type: 'provider.reset-health', id: provider, credential: id })}
          />
        )}
        <IconAction
          label={names.replaceNamed(name)}
          icon={<IconRefresh size={18} />}
          isDisabled={!canChange}
          onClick={onReplace}
        />
        <IconAction
          label={names.removeNamed(name)}
          icon={<IconTrash size={18} />}
          isDisabled={!canChange}
          onClick={onRemove}
        />
      </div>
      {isInTrouble && (
        <div className={list.wide}>
          <CooldownNote health={health} className={classes.warning} />
        </div>
      )}
      {command.problem && (
        <div className={list.wide}>
          <CommandProblem problem={command.problem} />
        </div>
      )}
    </li>
  );
}

interface RemoveCredentialProps {
  provider: string;
  credential: CredentialView | null;
  onClose(): void;
}

function RemoveCredential({ provider, credential, onClose }: RemoveCredentialProps) {
  const { credential: names } = useMessages().providers;
  const nameOf = useCredentialName();
  const command = useCommand();
  const close = () => {
    command.forget();
    onClose();
  };
  const remove = async () => {
    if (credential && (await command.run({ type: 'credential.remove', provider, id: credential.id }))) close();
  };
  return (
    <ConfirmDialog
      opened={credential !== null}
      title={names.removeTitle}
      text={credential ? names.removeText(nameOf(provider, credential.id)) : ''}
      confirm={names.removeConfirm}
      isRunning={command.isRunning}
      problem={command.problem}
      onConfirm={() => void remove()}
      onClose={close}
    />
  );
}
