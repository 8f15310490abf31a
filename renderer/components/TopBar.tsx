import { useMessages } from '../messages/use-messages.ts';
import { AppearanceMenu } from './AppearanceMenu.tsx';
import { CaptureMark } from './CaptureMark.tsx';
import { ConnectionMark } from './ConnectionMark.tsx';
import { LanguageMenu } from './LanguageMenu.tsx';
import classes from './TopBar.module.css';

/** Name, state, and how the window looks and speaks. */
export function TopBar() {
  const { appName, tagline } = useMessages();
  return (
    <header className={classes.bar}>
      <img className={classes.icon} src="./icon.svg" alt="" />
      <span className={classes.name}>{appName}</span>
      <span className={classes.tagline}>{tagline}</span>
      <div className={classes.end}>
        <CaptureMark />
        <ConnectionMark />
        <LanguageMenu />
        <AppearanceMenu />
      </div>
    </header>
  );
}
