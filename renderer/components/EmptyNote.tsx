import type { ReactNode } from 'react';
import classes from './EmptyNote.module.css';

interface EmptyNoteProps {
  title: string;
  /** What to do so that something appears. */
  next: string;
  children?: ReactNode;
}

/** In place of a list that holds nothing. */
export function EmptyNote({ title, next, children }: EmptyNoteProps) {
  return (
    <div className={classes.note}>
      <p className={classes.title}>{title}</p>
      <p className={classes.text}>{next}</p>
      {children}
    </div>
  );
}
