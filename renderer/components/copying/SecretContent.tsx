import { Button, Group, Stack, Text } from '@mantine/core';
import { useFocusTrap } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import { CopyButton } from './CopyButton.tsx';
import classes from './CopyLine.module.css';

/** A secret that the person asked to see. */
export interface ShownSecret {
  title: string;
  /** Name of the secret's owner. */
  name: string;
  secret: string;
  /** Whether it can be shown again. */
  isKept: boolean;
  /** Texts for a secret that is not a key's: a sentence, and a label for the copy button. */
  words?: { text: string; label: string };
}

interface SecretContentProps {
  shown: ShownSecret;
  onDone(): void;
  /** Further actions with the secret. */
  children?: ReactNode;
}

/** Shows a secret in a dialog. No other part of the window holds the secret. */
export function SecretContent({ shown, onDone, children }: SecretContentProps) {
  const { secret: messages, done } = useMessages();
  // The dialog may have shown other content before, which had the focus and is gone.
  const takeFocus = useFocusTrap();
  return (
    <Stack ref={takeFocus}>
      <Text>{shown.words?.text ?? (shown.isKept ? messages.kept(shown.name) : messages.once(shown.name))}</Text>
      <div className={classes.line}>
        <code className={classes.text} data-testid="secret">
          {shown.secret}
        </code>
      </div>
      {children}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onDone}>
          {done}
        </Button>
        <CopyButton value={shown.secret} label={shown.words?.label ?? messages.what} isMainAction />
      </Group>
    </Stack>
  );
}
