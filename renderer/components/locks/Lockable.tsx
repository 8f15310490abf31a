import { type ReactNode, useId } from 'react';
import type { Lock } from '../../../server/contract/lock.ts';
import classes from './Lockable.module.css';
import { LockMark } from './LockMark.tsx';

interface LockableProps {
  /** Null if the fields are not locked. */
  lock: Lock | null;
  children: ReactNode;
}

/** A group of fields, disabled and marked if they are locked. */
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
