import { type MantineColorScheme, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { IconLanguage, IconMoon, IconSun } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { languages } from '../../messages/languages.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { doneSteps, stepCount, useFirstRun } from '../../state/first-run/use-first-run.ts';
import { SettingsGear } from '../frame/Navigation.tsx';
import { AccountMenu } from './AccountMenu.tsx';
import { CaptureMark } from './CaptureMark.tsx';
import { ChoiceMenu } from './ChoiceMenu.tsx';
import { ConnectionMark } from './ConnectionMark.tsx';
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

const schemes: readonly MantineColorScheme[] = ['auto', 'light', 'dark'];

/** Light, dark, or the system's colour scheme. */
function AppearanceMenu() {
  const { appearance, schemes: names } = useMessages();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const Icon = useComputedColorScheme() === 'dark' ? IconMoon : IconSun;
  return (
    <ChoiceMenu
      label={appearance}
      icon={<Icon size={18} />}
      choices={schemes.map((scheme) => ({ value: scheme, label: names[scheme] }))}
      value={colorScheme}
      onChange={setColorScheme}
    />
  );
}

const choices = languages.map(({ id, name }) => ({ value: id, label: name }));

function LanguageMenu() {
  const { language, setLanguage, messages } = useLocalization();
  return (
    <ChoiceMenu
      label={messages.language}
      icon={<IconLanguage size={18} />}
      choices={choices}
      value={language}
      onChange={setLanguage}
    />
  );
}
