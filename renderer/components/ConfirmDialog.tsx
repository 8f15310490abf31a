import { Button, Group, Stack, Text } from '@mantine/core';
import type { ControlError } from '../api.ts';
import { useMessages } from '../messages/use-messages.ts';
import { CommandProblem } from './CommandProblem.tsx';
import { ModalFrame } from './ModalFrame.tsx';

export interface ConfirmDialogProps {
  opened: boolean;
  title: string;
  /** What will be lost. */
  text: string;
  /** The act, as a verb. */
  confirm: string;
  isRunning: boolean;
  problem: ControlError | null;
  onConfirm(): void;
  onClose(): void;
}

/** Asks before something that cannot be undone. What is safe has the focus. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { opened, title, text, confirm, isRunning, problem, onConfirm, onClose } = props;
  const messages = useMessages();
  return (
    <ModalFrame opened={opened} onClose={onClose} title={title}>
      <Stack>
        <Text>{text}</Text>
        {problem && <CommandProblem problem={problem} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            {messages.cancel}
          </Button>
          <Button color="red.8" loading={isRunning} onClick={onConfirm}>
            {confirm}
          </Button>
        </Group>
      </Stack>
    </ModalFrame>
  );
}
