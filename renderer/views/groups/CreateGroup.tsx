import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';

interface CreateGroupProps {
  onCancel(): void;
  onCreated(id: string): void;
}

/** Creates a group by its name. It allows everything until it is edited. */
export function CreateGroup({ onCancel, onCreated }: CreateGroupProps) {
  const { groups: names, cancel } = useMessages();
  const [name, setName] = useState('');
  const command = useCommand();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const result = await command.run({ type: 'group.put', group: { name: name.trim() } });
    if (result) onCreated(result.group.id);
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <TextInput
          label={names.name}
          description={names.createHint}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={200}
          autoComplete="off"
          data-autofocus
        />
        {command.problem && <CommandProblem problem={command.problem} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onCancel}>
            {cancel}
          </Button>
          <Button type="submit" loading={command.isRunning} disabled={name.trim() === ''}>
            {names.createConfirm}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
