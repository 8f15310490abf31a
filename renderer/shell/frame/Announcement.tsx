import { useSyncExternalStore } from 'react';
import { announcement } from '../../state/window/announcement.ts';
import classes from './Announcement.module.css';

/**
 * Announces the result of an action whose controls are gone. Always mounted, because screen readers only watch regions
 * that exist before their text changes.
 */
export function Announcement() {
  const text = useSyncExternalStore(announcement.subscribe, announcement.get);
  return (
    <div className={classes.announcement} aria-live="polite" data-shown={text !== ''}>
      {text}
    </div>
  );
}
