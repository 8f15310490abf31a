import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { KeyView } from '../../../../server/contract/access-views.ts';
import type { ShownSecret } from '../../../components/copying/CopyButton.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';

interface RotateKeyProps {
  view: KeyView;
  onCancel(): void;
  onRotated(secret: ShownSecret): void;
}

/** The last value is the maximum that the engine accepts. */
const graceHours = [0, 1, 24, 168] as const;

/**
 * Asks for confirmation before a key gets a new secret, and when the old one should end. The safe choice has the focus.
 */
export function RotateKey({ view, onCancel, onRotated }: RotateKeyProps) {
  const { keys: names, cancel } = useMessages();
  const [grace, setGrace] = useState<(typeof graceHours)[number]>(0);
  const command = useCommand();
  const name = view.name ?? view.id;
  const rotate = async () => {
    const result = await command.run({ type: 'key.rotate', id: view.id, graceHours: grace });
    if (!result) return;
    onRotated({ title: names.rotated, name, secret: result.secret, isKept: result.key.canReveal });
  };
  return (
    <Stack>
      <Text>{grace === 0 ? names.rotateText(name) : names.rotateTextGrace(name)}</Text>
      <NativeSelect
        label={names.grace}
        value={String(grace)}
        data={graceHours.map((hours) => ({ value: String(hours), label: names.graces[hours] }))}
        onChange={({ currentTarget }) =>
          setGrace(graceHours.find((hours) => String(hours) === currentTarget.value) ?? 0)
        }
      />
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
