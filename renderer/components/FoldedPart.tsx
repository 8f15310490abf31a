import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { type ReactNode, useId, useState } from 'react';
import type { Lock } from '../../server/contract/lock.ts';
import classes from './FoldedPart.module.css';
import { Lockable } from './Lockable.tsx';
import { LockMark } from './LockMark.tsx';

interface FoldedPartProps {
  title: string;
  /** What is set, in a few words, for who does not open it. */
  summary: string;
  /** Differs from the defaults: open at first, and opened where it comes to differ. */
  isSet: boolean;
  /** Something in it is to be seen whatever the person chose. */
  mustShow?: boolean;
  /** Null: nobody has fixed what is in it. */
  lock: Lock | null;
  children: ReactNode;
}

/** Fields of a long form that belong together, behind a line that says what is set; a line parts them from what comes before. */
export function FoldedPart({ title, summary, isSet, mustShow = false, lock, children }: FoldedPartProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(isSet);
  const [wasSet, setWasSet] = useState(isSet);
  if (isSet !== wasSet) {
    setWasSet(isSet);
    if (isSet) setOpen(true);
  }
  const isShown = isOpen || mustShow;
  const Chevron = isShown ? IconChevronDown : IconChevronRight;
  return (
    // What the browser finds wrong as the form is sent cannot be said in fields that are not shown.
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
