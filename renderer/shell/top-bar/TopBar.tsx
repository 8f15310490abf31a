import { Link, useLocation } from 'wouter';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { doneSteps, stepCount, useFirstRun } from '../../state/first-run/use-first-run.ts';
import { SettingsGear } from '../frame/Navigation.tsx';
import { AccountMenu } from './AccountMenu.tsx';
import { AppearanceMenu } from './AppearanceMenu.tsx';
import { CaptureMark } from './CaptureMark.tsx';
import { ConnectionMark } from './ConnectionMark.tsx';
import { LanguageMenu } from './LanguageMenu.tsx';
import { PaletteButton } from './PaletteButton.tsx';
import { SkipButton } from './SkipButton.tsx';
import classes from './TopBar.module.css';

/** The application's name and state, the palette, and the choice of appearance and language. */
export function TopBar({ isSignedOut }: { isSignedOut: boolean }) {
  const { appName, tagline } = useMessages();
  return (
    <header className={classes.bar}>
      {!isSignedOut && <SkipButton />}
      <img className={classes.icon} src="./icon.svg" alt="" />
      <span className={classes.name}>{appName}</span>
      <span className={classes.tagline}>{tagline}</span>
      <div className={classes.end}>
        {!isSignedOut && <PaletteButton />}
        {!isSignedOut && <GuideMark />}
        <CaptureMark />
        <ConnectionMark />
        <LanguageMenu />
        <AppearanceMenu />
        {!isSignedOut && <SettingsGear />}
        {!isSignedOut && <AccountMenu />}
      </div>
    </header>
  );
}

/** How far the first steps have come, wherever they are not shown, and the way back to them. */
function GuideMark() {
  const { messages, formats } = useLocalization();
  const { firstRun: names } = messages;
  const { isShown, progress } = useFirstRun();
  const [path] = useLocation();
  if (!isShown || path === '/') return null;
  const [done, all] = [doneSteps(progress), stepCount].map((count) => formats.number(count)) as [string, string];
  return (
    <Link className={classes.guide} href="/" aria-label={names.progressTitle(done, all)}>
      {names.progress(done, all)}
    </Link>
  );
}
