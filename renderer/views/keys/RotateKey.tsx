import { Button, Group, Stack, Text } from '@mantine/core';
import type { KeyView } from '../../../server/contract/access-views.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import type { ShownSecret } from '../../components/SecretContent.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/use-command.ts';

interface RotateKeyProps {
  view: KeyView;
  onCancel(): void;
  onRotated(secret: ShownSecret): void;
}

/** Asks before a key gets another secret, since the old one ends at once. What is safe has the focus. */
export function RotateKey({ view, onCancel, onRotated }: RotateKeyProps) {
  const { keys: names, cancel } = useMessages();
  const command = useCommand();
  const name = view.name ?? view.id;
  const rotate = async () => {
    const result = await command.run({ type: 'key.rotate', id: view.id });
    if (!result) return;
    onRotated({ title: names.rotated, name, secret: result.secret, isKept: result.key.canReveal });
  };
  return (
    <Stack>
      <Text>{names.rotateText(name)}</Text>
      {command.problem && <CommandProblem problem={command.problem} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onCancel} data-autofocus>
          {cancel}
        </Button>
        <Button color="red.8" loading={command.isRunning} onClick={() => void rotate()}>
          {names.rotateConfirm}
        </Button>
      </Group>
    </Stack>
  );
}
