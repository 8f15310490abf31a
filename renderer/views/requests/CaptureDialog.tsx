import { Stack, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { DialogActions, ModalFrame } from '../../components/dialogs/ModalFrame.tsx';
import type { Chosen } from '../../components/selects/chosen.ts';
import { FindSelect } from '../../components/selects/FindSelect.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';

interface CaptureDialogProps {
  opened: boolean;
  hint: string;
  minutes: number;
  onClose(): void;
}

/** Chooses the group or key whose requests are captured, of more than a menu holds. */
export function CaptureDialog({ opened, onClose, ...form }: CaptureDialogProps) {
  const { timedCapture: names } = useMessages();
  return (
    <ModalFrame opened={opened} onClose={onClose} title={names.choose}>
      <CaptureForm {...form} onClose={onClose} />
    </ModalFrame>
  );
}

function CaptureForm({ hint, minutes, onClose }: Omit<CaptureDialogProps, 'opened'>) {
  const { timedCapture: names } = useMessages();
  const [chosen, choose] = useState<Chosen | null>(null);
  const command = useCommand();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!chosen) return;
    if (await command.run({ type: 'capture.start', minutes, [chosen.kind]: chosen.id })) onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <Text size="sm">{hint}</Text>
        <FindSelect kinds={['group', 'key']} label={names.whose} chosen={chosen} onChange={choose} />
        <DialogActions command={command} submit={names.act} isBlocked={chosen === null} onLeave={onClose} />
      </Stack>
    </form>
  );
}
