import { Button, Group } from '@mantine/core';
import { useMessages } from '../../messages/use-messages.ts';
import type { CommandRunner } from '../../state/control/use-command.ts';
import { CommandProblem } from '../feedback/CommandProblem.tsx';

interface DialogActionsProps {
  /** The command that the form sends. */
  command: Pick<CommandRunner, 'isRunning' | 'problem'>;
  /** Label of the submit button; "Save" if absent. */
  submit?: string;
  /** The current input is invalid and must not be sent. */
  isBlocked?: boolean;
  /** Label of the other button; "Cancel" if absent. */
  leave?: string;
  onLeave(): void;
}

/** The end of a form in a dialog: its buttons, and whatever prevents sending it. */
export function DialogActions({ command, submit, isBlocked = false, leave, onLeave }: DialogActionsProps) {
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
