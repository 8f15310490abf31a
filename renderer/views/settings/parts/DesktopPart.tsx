import { Button, Progress, Switch } from '@mantine/core';
import { notificationKinds, type UpdateView } from '../../../../server/contract/ipc.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { type Desktop, useDesktop } from '../../../state/window/use-desktop.ts';
import classes from '../Settings.module.css';
import { HotkeyField } from './HotkeyField.tsx';
import { ReleaseNotes } from './ReleaseNotes.tsx';

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
