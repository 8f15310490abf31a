import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { AliasView } from '../../../server/contract/views.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/use-command.ts';
import { useControlState } from '../../state/use-control.ts';
import { AliasTargets } from './AliasTargets.tsx';
import { draftsOf, targetsOf } from './alias-draft.ts';

export interface AliasFormProps {
  /** Null: a new one. */
  alias: AliasView | null;
  onClose(): void;
}

/** An alias with its targets; its name is what clients know, so it stays. */
export function AliasForm({ alias, onClose }: AliasFormProps) {
  const { models, cancel } = useMessages();
  const names = models.alias;
  const provider = useControlState((state) => state.views?.providers[0]?.id ?? '');
  const aliases = useControlState((state) => state.views?.aliases ?? null) ?? [];
  const [name, setName] = useState(alias?.name ?? '');
  const [targets, setTargets] = useState(() =>
    draftsOf(alias ?? { targets: [{ provider, model: '', priority: 0, weight: 1 }] }),
  );
  const command = useCommand();
  const isTaken = alias === null && aliases.some((each) => each.name === name.trim());
  const isComplete = name.trim() !== '' && !isTaken && targets.every((each) => each.provider && each.model.trim());
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isComplete) return;
    if (await command.run({ type: 'alias.put', alias: { name: name.trim(), targets: targetsOf(targets) } })) onClose();
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
        <AliasTargets targets={targets} onChange={setTargets} />
        {command.problem && <CommandProblem problem={command.problem} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {cancel}
          </Button>
          <Button type="submit" loading={command.isRunning} disabled={!isComplete}>
            {names.save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
