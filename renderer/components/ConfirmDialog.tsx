import { Button, Group, Stack, Text } from '@mantine/core';
import type { ControlError } from '../api.ts';
import { useMessages } from '../messages/use-messages.ts';
import { CommandProblem } from './CommandProblem.tsx';
import { ModalFrame } from './ModalFrame.tsx';

interface ConfirmDialogProps {
  opened: boolean;
  title: string;
  /** What will be lost. */
  text: string;
  /** The act, as a verb; null where it cannot be done now, and the text says why. */
  confirm: string | null;
  /** What can be undone and may do as well. */
  instead?: { label: string; onChoose(): void } | undefined;
  isRunning: boolean;
  problem: ControlError | null;
  onConfirm(): void;
  onClose(): void;
}

/** Asks before something that cannot be undone. What is safe has the focus. */
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
