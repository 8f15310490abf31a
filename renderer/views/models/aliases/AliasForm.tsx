import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { AliasView } from '../../../../server/contract/access-views.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { EditConflictNotice } from '../../../components/feedback/Notices.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useEdits } from '../../../state/edits/edits.ts';
import { AliasTargets } from './AliasTargets.tsx';
import { draftsOf, targetsOf } from './alias-draft.ts';

interface AliasFormProps {
  /** Null for a new alias. */
  alias: AliasView | null;
  onClose(): void;
}

/** The form of an alias and its targets. An existing alias cannot be renamed, because clients use its name. */
export function AliasForm({ alias, onClose }: AliasFormProps) {
  const { models, cancel, save } = useMessages();
  const names = models.alias;
  const provider = useControlState((state) => state.views?.providers[0]?.id ?? '');
  const aliases = useControlState((state) => state.views?.aliases ?? null) ?? [];
  const revision = useControlState((state) => state.views?.status.revision ?? null);
  const [name, setName] = useState(alias?.name ?? '');
  // The alias as it is now. If it was removed meanwhile, its last state, which saving adds again.
  const current = aliases.find((each) => each.name === alias?.name) ?? alias;
  const [first] = useState({ targets: [{ provider, model: '', priority: 0, weight: 1 }] });
  const edits = useEdits({ targets: draftsOf(current ?? first) });
  const { targets } = edits.draft;
  const command = useCommand();
  const isTaken = alias === null && aliases.some((each) => each.name === name.trim());
  const isComplete = name.trim() !== '' && !isTaken && targets.every((each) => each.provider && each.model.trim());
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isComplete) return;
    const expected = revision === null ? {} : { expectedRevision: revision };
    const alias = { name: name.trim(), targets: targetsOf(targets) };
    if (await command.run({ type: 'alias.put', alias, ...expected })) onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <TextInput
          label={names.name}
          description={names.nameHint}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={isTaken && names.nameTaken}
          readOnly={alias !== null}
          maxLength={256}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
        <AliasTargets targets={targets} onChange={(changed) => edits.change({ targets: changed })} />
        {edits.hasConflict && !command.isRunning && <EditConflictNotice onReload={edits.reload} onKeep={edits.keep} />}
        {command.problem && <CommandProblem problem={command.problem} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {cancel}
          </Button>
          <Button type="submit" loading={command.isRunning} disabled={!isComplete || edits.hasConflict}>
            {save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
