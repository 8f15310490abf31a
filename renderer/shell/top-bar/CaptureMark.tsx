import { IconPlayerRecordFilled } from '@tabler/icons-react';
import { Link } from 'wouter';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import classes from './CaptureMark.module.css';

/** Shown on every screen while a timed capture runs, because it records what people write. */
export function CaptureMark() {
  const { timedCapture: names } = useMessages();
  const isRunning = useControlState((state) => (state.views?.status.capture.length ?? 0) > 0);
  if (!isRunning) return null;
  return (
    <Link className={classes.mark} href="/requests">
      <IconPlayerRecordFilled size={12} aria-hidden />
      {names.mark}
    </Link>
  );
}
