import { IconInfoCircle } from '@tabler/icons-react';
import { Link } from 'wouter';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import classes from './DemoNote.module.css';

/** Shown while the demo is the only enabled provider. */
export function DemoNote() {
  const { demoNote: names } = useMessages();
  const isDemoOnly = useControlState(({ views }) => {
    const usable = views?.providers.filter(({ enabled }) => enabled) ?? [];
    return usable.length > 0 && usable.every(({ isDemo }) => isDemo);
  });
  if (!isDemoOnly) return null;
  return (
    <p className={classes.note}>
      <IconInfoCircle className={classes.icon} size={18} aria-hidden />
      <span>
        {names.text} <Link href="/providers?add">{names.add}</Link>
      </span>
    </p>
  );
}
