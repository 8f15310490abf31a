import { type ReactNode, useId } from 'react';
import type { Lock } from '../../server/contract/lock.ts';
import classes from './Lockable.module.css';
import { LockMark } from './LockMark.tsx';

interface LockableProps {
  /** Null: nobody has fixed it. */
  lock: Lock | null;
  children: ReactNode;
}

/** Fields that show what is set and can be changed, unless somebody has fixed them, which is said then. */
export function Lockable({ lock, children }: LockableProps) {
  const markId = useId();
  return (
    <div className={classes.part}>
      <fieldset
        className={classes.fields}
        disabled={lock !== null}
        role={lock ? 'group' : 'presentation'}
        aria-describedby={lock ? markId : undefined}
      >
        {children}
      </fieldset>
      <LockMark lock={lock} id={markId} />
    </div>
  );
}
