import { Stack } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { useSearch } from 'wouter';
import type { KeyView } from '../../../../server/contract/access-views.ts';
import { limitsOf } from '../../../components/access/limit-draft.ts';
import { IconAction } from '../../../components/buttons/IconAction.tsx';
import { DialogActions } from '../../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { Fieldset } from '../../../components/forms/Fieldset.tsx';
import list from '../../../components/lists/List.module.css';
import { TestingLine } from '../../../components/testing/TestingLine.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { isEqual } from '../../../state/edits/edits.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import { useRights } from '../../../state/rights/use-rights.ts';
import { KeyFields } from './KeyFields.tsx';
import { KeyName } from './KeyName.tsx';
import { draftOf, expiryOf, type KeyDraft } from './key-draft.ts';

interface EditKeyFormProps {
  view: KeyView;
  onClose(): void;
}

/**
 * The form of an existing key, with the settings that the person may change: for its owner, only the name and
 * its own aliases. The secret stays the same.
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
        <OwnAliases view={view} />
        <DialogActions command={command} onLeave={onClose} />
      </Stack>
    </form>
  );
}

/** They are made in the panel at the tray and by the command line; here one sees and removes them, each at once. */
function OwnAliases({ view }: Pick<EditKeyFormProps, 'view'>) {
  const { keys: names } = useMessages();
  const [aliases, setAliases] = useState(view.aliases);
  const providerName = useProviderName();
  const command = useCommand();
  if (aliases.length === 0) return null;
  const remove = async (name: string) => {
    if (await command.run({ type: 'alias.remove', name, key: view.id }))
      setAliases(aliases.filter((alias) => alias.name !== name));
  };
  return (
    <Fieldset legend={names.ownAliases} hint={names.ownAliasesHint}>
      <ul className={list.list}>
        {aliases.map(({ name, targets }) => (
          <li key={name} className={list.plain}>
            <div>
              <span className={list.mono}>{name}</span>
              <div className={list.detail}>
                {targets.map(({ provider, model }) => `${model} · ${providerName(provider)}`).join(' → ')}
              </div>
            </div>
            <IconAction
              label={names.removeOwnAlias(name)}
              icon={<IconTrash size={18} />}
              isDisabled={command.isRunning}
              onClick={() => void remove(name)}
            />
          </li>
        ))}
      </ul>
      {command.problem && <CommandProblem problem={command.problem} />}
    </Fieldset>
  );
}
