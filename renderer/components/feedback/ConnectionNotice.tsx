import { Button } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState, useControlStore } from '../../state/control/use-control.ts';
import classes from './ConnectionNotice.module.css';

/** Shown as long as the engine does not answer. */
export function ConnectionNotice() {
  const { connection: messages } = useMessages();
  const { reconnect } = useControlStore();
  const isLost = useControlState((state) => state.connection === 'lost');
  const hasViews = useControlState((state) => state.views !== null);
  if (!isLost) return null;
  return (
    <div className={classes.notice} role="alert">
      <IconPlugConnectedX className={classes.icon} size={20} aria-hidden />
      <p className={classes.text}>
        <strong>{messages.lostTitle}</strong> {hasViews ? messages.lostStale : messages.lostNothing}
      </p>
      <Button size="xs" variant="default" onClick={reconnect}>
        {messages.retry}
      </Button>
    </div>
  );
}
