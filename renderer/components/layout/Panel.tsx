import type { ReactNode } from 'react';
import type { ScreenName } from '../../../server/contract/places.ts';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './Section.module.css';

/** The main section of a screen, which needs no title besides the screen's. */
export function Panel({ name, children }: { name: ScreenName; children: ReactNode }) {
  const { screens } = useMessages();
  return (
    <section className={classes.section} aria-label={screens[name]}>
      {children}
    </section>
  );
}
