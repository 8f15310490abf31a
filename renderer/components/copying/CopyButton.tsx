import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import { writeToClipboard } from './write-to-clipboard.ts';

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
