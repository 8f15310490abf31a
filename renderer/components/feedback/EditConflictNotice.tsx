import { Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './ConnectionNotice.module.css';

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
