import { ActionIcon, Button, Progress, Switch, TextInput } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { type KeyboardEvent, useState } from 'react';
import { type HotkeyView, notificationKinds, type UpdateView } from '../../../../server/contract/ipc.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { isAppleKeyboard } from '../../../state/window/shortcuts.ts';
import { type Desktop, useDesktop } from '../../../state/window/use-desktop.ts';
import classes from '../Settings.module.css';
import { acceleratorOf, keysOf } from './accelerator.ts';
import { type NotesBlock, readNotes } from './read-notes.ts';

/** Settings of the desktop application: start at login, hotkey, notifications, updates, log. Absent in a browser. */
export function DesktopPart() {
  const desktop = useDesktop();
  const { desktop: names } = useMessages().settings;
  if (!desktop?.view) return null;
  const { view, problem, change, run } = desktop;
  return (
    <Section title={names.title}>
      <div className={classes.form}>
        <Switch
          label={names.startAtLogin}
          checked={view.startsAtLogin}
          onChange={(event) => change('setStartAtLogin', event.currentTarget.checked)}
        />
        {view.trayCost !== null && (
          <Switch
            label={names.trayCost}
            checked={view.trayCost}
            onChange={(event) => change('setTrayCost', event.currentTarget.checked)}
          />
        )}
        <HotkeyField hotkey={view.hotkey} onChange={(keys) => change('setHotkey', keys)} />
        {notificationKinds.map((kind) => (
          <Switch
            key={kind}
            label={names.notifications[kind]}
            checked={view.notifications[kind]}
            onChange={(event) => change('setNotification', { kind, isOn: event.currentTarget.checked })}
          />
        ))}
        <Update view={view.update} desktop={desktop} />
        {problem && <CommandProblem problem={problem} />}
        <div className={classes.acts}>
          <Button variant="default" onClick={() => run('showLogFolder', null)}>
            {names.showLogFolder}
          </Button>
        </div>
      </div>
    </Section>
  );
}

function Update({ view, desktop }: { view: UpdateView; desktop: Desktop }) {
  const { desktop: names } = useMessages().settings;
  return (
    <>
      <p className={classes.text} role="status">
        {names.update[view.state](view.version ?? '')} {view.problem}
      </p>
      {view.percent !== null && <Progress value={view.percent} aria-label={names.downloadProgress} />}
      {view.notes && <ReleaseNotes notes={view.notes} />}
      {view.state !== 'managed' && (
        <div className={classes.acts}>
          <UpdateAct state={view.state} desktop={desktop} />
        </div>
      )}
    </>
  );
}

function UpdateAct({ state, desktop: { change, run } }: { state: UpdateView['state']; desktop: Desktop }) {
  const { desktop: names } = useMessages().settings;
  if (state === 'ready') return <Button onClick={() => run('installUpdate', null)}>{names.installUpdate}</Button>;
  if (state === 'downloading') {
    return (
      <Button variant="default" onClick={() => run('cancelUpdate', null)}>
        {names.cancelDownload}
      </Button>
    );
  }
  return (
    <Button variant="default" loading={state === 'checking'} onClick={() => change('checkForUpdates', null)}>
      {names.checkForUpdates}
    </Button>
  );
}

interface HotkeyFieldProps {
  hotkey: HotkeyView;
  onChange(keys: string | null): void;
}

/** The keys that show Sluice from anywhere: the field takes those that are pressed in it. */
function HotkeyField({ hotkey, onChange }: HotkeyFieldProps) {
  const { hotkey: names } = useMessages().settings.desktop;
  const [isListening, setListening] = useState(false);
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    // Tab leaves the field, as it does everywhere.
    if (event.key === 'Tab' && !event.ctrlKey && !event.altKey && !event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape') return event.currentTarget.blur();
    const keys = acceleratorOf(event, isAppleKeyboard);
    if (keys !== null && keys !== hotkey.keys) onChange(keys);
  };
  return (
    <TextInput
      label={names.label}
      description={isListening ? names.press : names.hint}
      placeholder={names.none}
      value={hotkey.keys === null ? '' : keysOf(hotkey.keys, isAppleKeyboard)}
      error={hotkey.isTaken && names.taken}
      onFocus={() => setListening(true)}
      onBlur={() => setListening(false)}
      onKeyDown={press}
      readOnly
      rightSection={
        hotkey.keys !== null && (
          <ActionIcon variant="subtle" color="gray" aria-label={names.clear} onClick={() => onChange(null)}>
            <IconX size={14} />
          </ActionIcon>
        )
      }
    />
  );
}

/** The release notes of an update. They come from outside, so nothing in them is interpreted as HTML. */
function ReleaseNotes({ notes }: { notes: string }) {
  const { desktop: names } = useMessages().settings;
  return (
    <details className={classes.notes} open>
      <summary>{names.whatChanges}</summary>
      {readNotes(notes).map((block) => (
        <Block key={block.key} block={block} />
      ))}
    </details>
  );
}

function Block({ block }: { block: NotesBlock }) {
  if (block.type === 'list') {
    return (
      <ul>
        {block.items.map(({ key, text }) => (
          <li key={key}>{text}</li>
        ))}
      </ul>
    );
  }
  return block.type === 'heading' ? <h3>{block.text}</h3> : <p>{block.text}</p>;
}
