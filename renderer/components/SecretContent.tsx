import { Button, Group, Stack, Text } from '@mantine/core';
import { useFocusTrap } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useMessages } from '../messages/use-messages.ts';
import { CopyButton } from './CopyButton.tsx';
import classes from './CopyLine.module.css';

/** A secret that the person asked to see. */
export interface ShownSecret {
  title: string;
  /** Of what it is the secret. */
  name: string;
  secret: string;
  /** It can be shown again. */
  isKept: boolean;
  /** What it is, where it is not the secret of a key: in a sentence, and for the copy button. */
  words?: { text: string; what: string };
}

interface SecretContentProps {
  shown: ShownSecret;
  onDone(): void;
  /** What can be done with it. */
  children?: ReactNode;
}

/** What a dialog shows of a secret; nothing else in the window holds it. */
export function SecretContent({ shown, onDone, children }: SecretContentProps) {
  const { secret: messages, done } = useMessages();
  // The dialog may have shown something else before, whose focus went with it.
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
        <CopyButton value={shown.secret} what={shown.words?.what ?? messages.what} isMainAct />
      </Group>
    </Stack>
  );
}
