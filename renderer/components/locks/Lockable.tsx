import { VisuallyHidden } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { type ReactNode, useId } from 'react';
import type { Lock } from '../../../server/contract/lock.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import classes from './Lockable.module.css';

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

interface LockMarkProps {
  lock: Lock | null;
  /** Lets other elements refer to it as their description. */
  id?: string;
}

/**
 * Who locked a setting; on hover, and for screen readers, also why and whom to contact. Renders nothing if there is no
 * lock.
 */
export function LockMark({ lock, id }: LockMarkProps) {
  const {
    messages: { team },
    formats,
  } = useLocalization();
  if (!lock) return null;
  const reason = [team.lockReason, ...(lock.contact === null ? [] : [team.ask(lock.contact)])].join(formats.gap);
  return (
    <span className={classes.mark} title={reason} id={id}>
      <IconLock className={classes.icon} size={13} aria-hidden />
      <span>{team.setBy(lock.by)}</span>
      <VisuallyHidden>. {reason}</VisuallyHidden>
    </span>
  );
}
