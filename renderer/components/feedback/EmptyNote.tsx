import { IconAlertTriangle, IconInbox } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './EmptyNote.module.css';

interface EmptyNoteProps {
  title: string;
  /** How to make something appear here. */
  next: string;
  children?: ReactNode;
}

/** Shown in place of an empty list. */
export function EmptyNote({ title, next, children }: EmptyNoteProps) {
  return (
    <div className={classes.note}>
      <span className={classes.mark} aria-hidden>
        <IconInbox size={20} stroke={1.5} />
      </span>
      <p className={classes.title}>{title}</p>
      <p className={classes.text}>{next}</p>
      {children}
    </div>
  );
}

/** Above what is shown instead: what the address names does not exist. With a way on, if there is one. */
export function GoneNote({ text, children }: { text: string; children?: ReactNode }) {
  return (
    <p className={classes.gone} role="status">
      <IconAlertTriangle className={classes.goneMark} size={16} aria-hidden />
      <span>
        {text} {children}
      </span>
    </p>
  );
}
