import type { CommandInputMap, CommandResults, CommandType } from '../../../server/contract/commands.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { ConfirmDialog } from './ConfirmDialog.tsx';

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
