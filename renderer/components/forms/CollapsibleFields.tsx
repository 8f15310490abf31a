import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { type ReactNode, useId, useState } from 'react';
import type { Lock } from '../../../server/contract/lock.ts';
import { Lockable, LockMark } from '../locks/Lockable.tsx';
import classes from './CollapsibleFields.module.css';

interface CollapsibleFieldsProps {
  title: string;
  /** The current settings in a few words, visible while the part is folded. */
  summary: string;
  /**
   * Whether the settings differ from the defaults. The part is then open at first, and opens when they start to differ.
   */
  isSet: boolean;
  /** Shows the content even if the person has folded the part. */
  isForcedOpen?: boolean;
  /** Null if the settings in it are not locked. */
  lock: Lock | null;
  children: ReactNode;
}

/**
 * Related fields of a long form, folded behind a line that summarises the settings. A line above separates them from
 * the previous ones.
 */
export function CollapsibleFields({
  title,
  summary,
  isSet,
  isForcedOpen = false,
  lock,
  children,
}: CollapsibleFieldsProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(isSet);
  const [wasSet, setWasSet] = useState(isSet);
  if (isSet !== wasSet) {
    setWasSet(isSet);
    if (isSet) setOpen(true);
  }
  const isShown = isOpen || isForcedOpen;
  const Chevron = isShown ? IconChevronDown : IconChevronRight;
  return (
    // The browser cannot show its validation messages on hidden fields, so an invalid field opens the part.
    <div className={classes.part} onInvalidCapture={() => setOpen(true)}>
      <fieldset className={classes.fields} aria-labelledby={`${id}-title`}>
        <div className={classes.head}>
          <h3 className={classes.title}>
            <button
              type="button"
              id={`${id}-title`}
              className={classes.toggle}
              aria-expanded={isShown}
              aria-describedby={`${id}-summary`}
              onClick={() => setOpen(!isShown)}
            >
              <Chevron size={16} className={classes.chevron} aria-hidden />
              {title}
            </button>
          </h3>
          <span id={`${id}-summary`} className={classes.summary} data-is-set={isSet || undefined}>
            {summary}
          </span>
        </div>
        {!isShown && lock && (
          <div className={classes.lock}>
            <LockMark lock={lock} />
          </div>
        )}
        <div className={classes.content} hidden={!isShown}>
          <Lockable lock={lock}>
            <div className={classes.inner}>{children}</div>
          </Lockable>
        </div>
      </fieldset>
    </div>
  );
}
