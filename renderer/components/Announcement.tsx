import { useSyncExternalStore } from 'react';
import { announcement } from '../state/announcement.ts';
import classes from './Announcement.module.css';

/** Says what has just been done by something that is gone. Always there, since an empty region is what screen readers watch. */
export function Announcement() {
  const text = useSyncExternalStore(announcement.subscribe, announcement.get);
  return (
    <div className={classes.announcement} aria-live="polite" data-shown={text !== ''}>
      {text}
    </div>
  );
}
