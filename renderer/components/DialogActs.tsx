import { Button, Group } from '@mantine/core';
import { useMessages } from '../messages/use-messages.ts';
import type { CommandRunner } from '../state/use-command.ts';
import { CommandProblem } from './CommandProblem.tsx';

interface DialogActsProps {
  /** What the form sends. */
  command: Pick<CommandRunner, 'isRunning' | 'problem'>;
  /** Text of the button that sends it; absent: "Save". */
  submit?: string;
  /** As it is entered it must not be sent. */
  isBlocked?: boolean;
  /** Text of the other button; absent: "Cancel". */
  leave?: string;
  onLeave(): void;
}

/** The end of a form in a dialog, with all that stands in its way. */
export function DialogActs({ command, submit, isBlocked = false, leave, onLeave }: DialogActsProps) {
  const { cancel, save } = useMessages();
  const { isRunning, problem } = command;
  return (
    <>
      {problem && <CommandProblem problem={problem} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onLeave}>
          {leave ?? cancel}
        </Button>
        <Button type="submit" loading={isRunning} disabled={isBlocked}>
          {submit ?? save}
        </Button>
      </Group>
    </>
  );
}
