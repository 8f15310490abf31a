import {
  ActionIcon,
  Button,
  Group,
  type MantineColorScheme,
  Menu,
  Popover,
  Stack,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import {
  IconLanguage,
  IconMoon,
  IconPlayerRecordFilled,
  IconSearch,
  IconSun,
  IconUserCircle,
} from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { languages } from '../../messages/languages.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import type { ControlState } from '../../state/control/control-state.ts';
import { useControlState, useControlStore } from '../../state/control/use-control.ts';
import { doneSteps, stepCount, useFirstRun } from '../../state/first-run/use-first-run.ts';
import { describeRole, usePerson } from '../../state/rights/use-rights.ts';
import { overlay } from '../../state/window/overlay.ts';
import { isAppleKeyboard, keyCaps, shortcuts } from '../../state/window/shortcuts.ts';
import { SettingsGear } from '../frame/Navigation.tsx';
import { KeyCap } from '../palette/KeyCap.tsx';
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

/** The person signed in, with a sign-out button. Renders nothing if no sign-in is needed. */
function AccountMenu() {
  const { account } = useMessages();
  const { reconnect } = useControlStore();
  const person = usePerson();
  const [isOpen, setOpen] = useState(false);
  if (!person) return null;
  const signOut = async () => {
    const answer = await fetch('/control/sign-out', { method: 'POST' }).catch(() => null);
    // Reloading shows the sign-in page. Without it, the end of the session would look like a lost connection at first.
    if (answer?.ok) location.reload();
    else reconnect();
  };
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      transitionProps={{ duration: 0 }}
      withinPortal={false}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={account.label}
          title={person.name}
          onClick={() => setOpen(!isOpen)}
        >
          <IconUserCircle size={18} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="sm" align="start">
          <div>
            <Text size="sm" fw={600}>
              {person.name}
            </Text>
            {person.email !== null && person.email !== person.name && <Text size="sm">{person.email}</Text>}
            <Text size="sm" c="dimmed">
              {describeRole(person, account)}
            </Text>
          </div>
          <Group gap="xs">
            <Button component={Link} href="/account" variant="default" size="xs" onClick={() => setOpen(false)}>
              {account.open}
            </Button>
            <Button variant="default" size="xs" onClick={() => void signOut()}>
              {account.signOut}
            </Button>
          </Group>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

interface ChoiceMenuProps<Value extends string> {
  label: string;
  icon: ReactNode;
  choices: readonly { value: Value; label: string }[];
  value: Value;
  onChange(value: Value): void;
}

/** A menu behind an icon, to choose one of a few values. */
function ChoiceMenu<Value extends string>({ label, icon, choices, value, onChange }: ChoiceMenuProps<Value>) {
  const choose = (chosen: string) => {
    const choice = choices.find((each) => each.value === chosen);
    if (choice) onChange(choice.value);
  };
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} title={label}>
          {icon}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={value} onChange={choose}>
          {choices.map((choice) => (
            <Menu.RadioItem key={choice.value} value={choice.value} closeMenuOnClick>
              {choice.label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Shown on every screen while a timed capture runs, because it records what people write. */
function CaptureMark() {
  const { timedCapture: names } = useMessages();
  const isRunning = useControlState((state) => (state.views?.status.capture.length ?? 0) > 0);
  if (!isRunning) return null;
  return (
    <Link className={classes.capture} href="/requests">
      <IconPlayerRecordFilled size={12} aria-hidden />
      {names.mark}
    </Link>
  );
}

type Mark = ControlState['connection'] | 'notListening';

const dots: Record<Mark, string | undefined> = {
  connecting: undefined,
  open: classes.good,
  notListening: classes.bad,
  lost: classes.bad,
  'signed-out': undefined,
};

/** The state of the connection, in a word. */
function ConnectionMark() {
  const mark = useControlState(markOf);
  const { connection } = useMessages();
  return (
    <span className={classes.connection} role="status">
      <span className={`${classes.dot} ${dots[mark] ?? ''}`} aria-hidden />
      {connection[mark]}
    </span>
  );
}

function markOf({ connection, views }: ControlState): Mark {
  return connection === 'open' && views?.status.baseUrl === null ? 'notListening' : connection;
}

const shortcut = shortcuts.find(({ name }) => name === 'palette');

/** Opens the command palette and shows its shortcut. An icon in a narrow window. */
function PaletteButton() {
  const { palette: names } = useMessages();
  return (
    <button
      type="button"
      className={classes.palette}
      aria-haspopup="dialog"
      aria-keyshortcuts={isAppleKeyboard ? 'Meta+K' : 'Control+K'}
      title={names.open}
      onClick={() => overlay.open('palette')}
    >
      <IconSearch className={classes.paletteIcon} size={16} aria-hidden />
      <span className={classes.paletteText}>{names.open}</span>
      <span className={classes.keys} aria-hidden>
        {shortcut && keyCaps(shortcut).map((cap) => <KeyCap key={cap} cap={cap} />)}
      </span>
    </button>
  );
}

/**
 * The first tab stop: skips the bars and moves to the content of the screen. Visible while focused. Not a link, because
 * the part of the address after `#` names the screen.
 */
function SkipButton() {
  const { skipToContent } = useMessages();
  return (
    <button type="button" className={classes.skip} onClick={() => document.querySelector('main')?.focus()}>
      {skipToContent}
    </button>
  );
}
