import { Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useMessages } from '../messages/use-messages.ts';
import classes from './ConnectionNotice.module.css';

interface OvertakenNoticeProps {
  onReload(): void;
  onKeep(): void;
}

/** Says that what is edited was changed elsewhere meanwhile, and asks which is to hold. */
export function OvertakenNotice({ onReload, onKeep }: OvertakenNoticeProps) {
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
