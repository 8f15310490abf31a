import { Button } from '@mantine/core';
import { IconAlertTriangle, IconPlugConnectedX } from '@tabler/icons-react';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState, useControlStore } from '../../state/control/use-control.ts';
import classes from './Notices.module.css';

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

interface EditConflictNoticeProps {
  onReload(): void;
  onKeep(): void;
}

/** Reports that the edited values were changed elsewhere meanwhile, and asks which to keep. */
export function EditConflictNotice({ onReload, onKeep }: EditConflictNoticeProps) {
  const { overtaken: names } = useMessages();
  return (
    <div className={classes.notice} role="alert">
      <IconAlertTriangle className={classes.icon} size={20} aria-hidden />
      <p className={classes.text}>{names.text}</p>
      <Button size="xs" variant="default" onClick={onReload}>
        {names.reload}
      </Button>
      <Button size="xs" variant="default" onClick={onKeep}>
        {names.keep}
      </Button>
    </div>
  );
}
