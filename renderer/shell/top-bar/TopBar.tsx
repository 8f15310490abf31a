import { useMessages } from '../../messages/use-messages.ts';
import { SettingsGear } from '../frame/Navigation.tsx';
import { AccountMenu } from './AccountMenu.tsx';
import { AppearanceMenu } from './AppearanceMenu.tsx';
import { CaptureMark } from './CaptureMark.tsx';
import { ConnectionMark } from './ConnectionMark.tsx';
import { GuideMark } from './GuideMark.tsx';
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
