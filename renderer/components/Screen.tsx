import { type ReactNode, useEffect, useRef } from 'react';
import { useMessages } from '../messages/use-messages.ts';
import type { ScreenName } from '../views/screens.ts';
import classes from './Screen.module.css';

export interface ScreenProps {
  name: ScreenName;
  /** At the end of the heading's line. */
  action?: ReactNode;
  children: ReactNode;
}

/** The first screen of a page leaves the focus where a page begins. */
let arrivals = 0;

/** What every screen has: its heading, which takes the focus on arrival so that who cannot see hears where they are. */
export function Screen({ name, action, children }: ScreenProps) {
  const { appName, screens } = useMessages();
  const heading = useRef<HTMLHeadingElement>(null);
  const title = screens[name];
  useEffect(() => {
    document.title = `${title} – ${appName}`;
  }, [title, appName]);
  useEffect(() => {
    if (arrivals++ > 0) heading.current?.focus();
  }, []);
  return (
    <div className={classes.screen}>
      <header className={classes.header}>
        <h1 className={classes.title} ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {action !== undefined && <div className={classes.action}>{action}</div>}
      </header>
      {children}
    </div>
  );
}
