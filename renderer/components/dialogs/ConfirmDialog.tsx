import { Button, Group, Stack, Text } from '@mantine/core';
import type { CommandInputMap, CommandResults, CommandType } from '../../../server/contract/commands.ts';
import { useMessages } from '../../messages/use-messages.ts';
import type { ControlError } from '../../state/api/api.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { ModalFrame } from './ModalFrame.tsx';

interface ConfirmDialogProps {
  opened: boolean;
  title: string;
  /** States what will be lost. */
  text: string;
  /** The action, as a verb; null if it is not possible now, in which case the text gives the reason. */
  confirm: string | null;
  /** A reversible action that may serve as well. */
  instead?: { label: string; onChoose(): void } | undefined;
  isRunning: boolean;
  problem: ControlError | null;
  onConfirm(): void;
  onClose(): void;
}

/** Asks for confirmation before an action that cannot be undone. The safe choice has the focus. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { opened, title, text, confirm, instead, isRunning, problem, onConfirm, onClose } = props;
  const messages = useMessages();
  return (
    <ModalFrame opened={opened} onClose={onClose} title={title}>
      <Stack>
        <Text>{text}</Text>
        {problem && <CommandProblem problem={problem} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            {confirm === null ? messages.close : messages.cancel}
          </Button>
          {instead && (
            <Button variant="default" disabled={isRunning} onClick={instead.onChoose}>
              {instead.label}
            </Button>
          )}
          {confirm !== null && (
            <Button color="red.8" loading={isRunning} onClick={onConfirm}>
              {confirm}
            </Button>
          )}
        </Group>
      </Stack>
    </ModalFrame>
  );
}

interface CommandDialogProps<T extends CommandType> {
  /** Null while there is nothing to confirm. */
  command: (CommandInputMap[T] & { type: T }) | null;
  title: string;
  /** States what will be lost. */
  text: string;
  /** The action, as a verb. */
  confirm: string;
  onDone?(result: CommandResults[T]): void;
  onClose(): void;
}

/**
 * Asks for confirmation before a command that cannot be undone, shows why it failed, and closes once it has succeeded.
 */
export function CommandDialog<T extends CommandType>(props: CommandDialogProps<T>) {
  const { command, title, text, confirm, onDone, onClose } = props;
  const { run, isRunning, problem, forget } = useCommand();
  const close = () => {
    forget();
    onClose();
  };
  const runCommand = async (input: CommandInputMap[T] & { type: T }) => {
    const result = await run<T>(input);
    if (result === null) return;
    onDone?.(result);
    close();
  };
  return (
    <ConfirmDialog
      {...{ title, text, confirm, isRunning, problem }}
      opened={command !== null}
      onConfirm={() => command && void runCommand(command)}
      onClose={close}
    />
  );
}
