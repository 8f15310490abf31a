import { Button, Group, Stack, Text } from '@mantine/core';
import { useMessages } from '../messages/use-messages.ts';
import { CopyButton } from './CopyButton.tsx';
import classes from './CopyLine.module.css';
import { ModalFrame } from './ModalFrame.tsx';

/** A secret that the person asked to see. */
export interface ShownSecret {
  title: string;
  /** Of what it is the secret. */
  name: string;
  secret: string;
  /** It can be shown again. */
  isKept: boolean;
}

/** Shows a secret until it is closed; nothing else in the window holds it. */
export function SecretDialog({ shown, onClose }: { shown: ShownSecret | null; onClose(): void }) {
  const { secret: messages, done } = useMessages();
  return (
    <ModalFrame opened={shown !== null} onClose={onClose} title={shown?.title ?? ''} stays>
      {shown && (
        <Stack>
          <Text>
            {messages.label(shown.name)}. {shown.isKept ? messages.kept : messages.once}
          </Text>
          <div className={classes.line}>
            <code className={classes.text} data-testid="secret">
              {shown.secret}
            </code>
          </div>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {done}
            </Button>
            <CopyButton value={shown.secret} what={messages.what} wide />
          </Group>
        </Stack>
      )}
    </ModalFrame>
  );
}
