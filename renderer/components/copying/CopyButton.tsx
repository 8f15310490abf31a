import { ActionIcon, Button, Group, Stack, Text, Tooltip } from '@mantine/core';
import { useFocusTrap } from '@mantine/hooks';
import { IconAlertTriangle, IconCheck, IconCopy } from '@tabler/icons-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './CopyButton.module.css';

interface CopyButtonProps {
  /** The text to copy, or a function that fetches it and returns null if there is none. */
  value: string | (() => Promise<string | null>);
  /** Name of the text that is copied, for screen readers. */
  label: string;
  /** Whether this is the main action of its dialog: shown as a labelled button that has the focus. */
  isMainAction?: boolean;
}

type Outcome = 'copied' | 'failed' | null;

const outcomeShownMs = 1_500;
const byPointerAndKeyboard = { hover: true, focus: true, touch: false };

/** Copies a text and shows whether that succeeded. */
export function CopyButton({ value, label, isMainAction = false }: CopyButtonProps) {
  const messages = useMessages();
  const [outcome, setOutcome] = useState<Outcome>(null);
  useEffect(() => {
    if (outcome !== 'copied') return;
    const timer = setTimeout(() => setOutcome(null), outcomeShownMs);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => {
    const text = typeof value === 'string' ? value : await value();
    setOutcome(text !== null && (await writeToClipboard(text)) ? 'copied' : 'failed');
  };

  const name = messages.copyNamed(label);
  const feedback = { copied: messages.copied, failed: messages.copyFailed };
  const Icon = outcome === 'failed' ? IconAlertTriangle : outcome === 'copied' ? IconCheck : IconCopy;
  return (
    <Tooltip
      label={outcome ? feedback[outcome] : name}
      {...(outcome && { opened: true })}
      // A labelled button needs no tooltip, which might cover the text to copy.
      disabled={isMainAction && outcome !== 'failed'}
      position="bottom"
      openDelay={400}
      events={byPointerAndKeyboard}
    >
      {isMainAction ? (
        <Button onClick={copy} leftSection={<Icon size={16} />} miw={150} data-autofocus>
          {outcome === 'copied' ? messages.copied : name}
        </Button>
      ) : (
        <ActionIcon onClick={copy} variant="subtle" color="gray" aria-label={outcome ? feedback[outcome] : name}>
          <Icon size={16} />
        </ActionIcon>
      )}
    </Tooltip>
  );
}

interface CopyLineProps {
  value: string;
  /** What is copied, if that is not what is shown. */
  copied?: () => Promise<string | null>;
  /** Name of the text, for screen readers. */
  label: string;
  /** Truncate instead of wrapping. */
  oneLine?: boolean;
}

/** A text to be used elsewhere, such as an address or a command, with its copy button. */
export function CopyLine({ value, copied, label, oneLine = false }: CopyLineProps) {
  return (
    <div className={classes.line}>
      <code
        className={oneLine ? `${classes.text} ${classes.oneLine}` : classes.text}
        title={oneLine ? value : undefined}
      >
        {value}
      </code>
      <CopyButton value={copied ?? value} label={label} />
    </div>
  );
}

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

/** Returns false if the browser refused. */
export async function writeToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
