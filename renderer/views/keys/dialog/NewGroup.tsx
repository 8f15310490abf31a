import { Button, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { type KeyboardEvent, useState } from 'react';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useLocks } from '../../../state/rights/use-rights.ts';
import classes from '../Keys.module.css';

/** Makes a group without leaving the form of the key, which then belongs to it. Not a form, because it is inside one. */
export function NewGroup({ onCreated }: { onCreated(id: string): void }) {
  const { groups: names } = useMessages();
  const isLocked = useLocks().adding('groups') !== null;
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState('');
  const command = useCommand();
  if (isLocked) return null;
  if (!isOpen)
    return (
      <Button
        variant="subtle"
        size="xs"
        className={classes.start}
        leftSection={<IconPlus size={14} />}
        onClick={() => setOpen(true)}
      >
        {names.createOpen}
      </Button>
    );
  const create = async () => {
    const result = await command.run({ type: 'group.put', group: { name: name.trim() } });
    if (!result) return;
    setOpen(false);
    setName('');
    onCreated(result.group.id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (name.trim() !== '') void create();
  };
  return (
    <>
      <TextInput
        label={names.createTitle}
        description={names.createHint}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        maxLength={200}
        autoComplete="off"
        autoFocus
        rightSectionWidth={90}
        rightSection={
          <Button
            size="compact-xs"
            loading={command.isRunning}
            disabled={name.trim() === ''}
            onClick={() => void create()}
          >
            {names.createConfirm}
          </Button>
        }
      />
      {command.problem && <CommandProblem problem={command.problem} />}
    </>
  );
}
