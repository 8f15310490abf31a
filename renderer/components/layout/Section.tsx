import { type ReactNode, useId } from 'react';
import type { ScreenName } from '../../../server/contract/places.ts';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './Section.module.css';

interface SectionProps {
  title: string;
  /** The number of items, shown beside the title. */
  count?: string | undefined;
  /** Shown at the end of the title's line. */
  action?: ReactNode;
  /** Takes the height that a screen which fills the window has left. */
  fills?: boolean;
  children: ReactNode;
}

/** A titled panel. */
export function Section({ title, count, action, fills = false, children }: SectionProps) {
  const titleId = useId();
  return (
    <section className={`${classes.section} ${fills ? classes.fills : ''}`} aria-labelledby={titleId}>
      <header className={classes.header}>
        <h2 className={classes.title} id={titleId}>
          {title}
        </h2>
        {count !== undefined && <span className={classes.count}>{count}</span>}
        {action !== undefined && <div className={classes.action}>{action}</div>}
      </header>
      {children}
    </section>
  );
}

/** The main section of a screen, which needs no title besides the screen's. */
export function Panel({ name, children }: { name: ScreenName; children: ReactNode }) {
  const { screens } = useMessages();
  return (
    <section className={classes.section} aria-label={screens[name]}>
      {children}
    </section>
  );
}
