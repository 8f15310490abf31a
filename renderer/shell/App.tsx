/** The frame of the window and the current screen in it. Knows nothing of the inside of a screen. */

import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconBolt, IconPlayerStop } from '@tabler/icons-react';
import { useEffect, useSyncExternalStore } from 'react';
import { Router } from 'wouter';
import type { TimedFaultsView } from '../../server/contract/faults.ts';
import { CommandProblem } from '../components/feedback/CommandProblem.tsx';
import { ConnectionNotice } from '../components/feedback/Notices.tsx';
import { ImportProvider } from '../components/import/ImportProvider.tsx';
import { useLocalization, useMessages } from '../messages/use-messages.ts';
import { useCommand } from '../state/control/use-command.ts';
import { useControlState } from '../state/control/use-control.ts';
import { useNameOf } from '../state/control/use-found.ts';
import { unsavedEdits } from '../state/edits/unsaved-edits.ts';
import { useMayStop } from '../state/rights/use-rights.ts';
import { useHashLocation } from '../state/window/hash-location.ts';
import { useSyncShellLanguage } from '../state/window/use-desktop.ts';
import { SignedOut } from '../views/signed-out/SignedOut.tsx';
import classes from './App.module.css';
import { CurrentScreen } from './frame/CurrentScreen.tsx';
import { Navigation } from './frame/Navigation.tsx';
import { Overlays } from './frame/Overlays.tsx';
import { TopBar } from './top-bar/TopBar.tsx';

export function App() {
  useSyncShellLanguage(useLocalization().language);
  const isSignedOut = useControlState((state) => state.connection === 'signed-out');
  return (
    <Router hook={useHashLocation}>
      <div className={classes.page}>
        <TopBar isSignedOut={isSignedOut} />
        {isSignedOut ? (
          <SignedOut />
        ) : (
          <ImportProvider>
            <FaultBanner />
            <div className={classes.body}>
              <Navigation />
              <main className={classes.main} tabIndex={-1}>
                <ConnectionNotice />
                <CurrentScreen />
              </main>
            </div>
            <UnsavedDialog />
            <Overlays />
          </ImportProvider>
        )}
      </div>
    </Router>
  );
}

/** Mantine's dialogs have 200, and drop-downs of fields 300. */
const aboveOtherDialogs = 400;

/** Asks for confirmation before unsaved edits are discarded. */
function UnsavedDialog() {
  const { unsaved: names, discard } = useMessages();
  const isAsking = useSyncExternalStore(unsavedEdits.subscribe, unsavedEdits.isAsking);
  useEffect(() => {
    // The browser asks in its own words.
    const guard = (event: BeforeUnloadEvent) => {
      if (unsavedEdits.has()) event.preventDefault();
    };
    addEventListener('beforeunload', guard);
    return () => removeEventListener('beforeunload', guard);
  }, []);
  return (
    <Modal
      opened={isAsking}
      onClose={unsavedEdits.keep}
      title={names.title}
      centered
      zIndex={aboveOtherDialogs}
      withCloseButton={false}
      transitionProps={{ duration: 0 }}
      attributes={{ header: { role: 'presentation' } }}
      styles={{ title: { fontWeight: 600, fontSize: 'var(--mantine-font-size-lg)' } }}
    >
      <Stack>
        <Text>{names.text}</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={unsavedEdits.keep} data-autofocus>
            {names.keep}
          </Button>
          <Button color="red.8" onClick={unsavedEdits.discard}>
            {discard}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

const none: readonly TimedFaultsView[] = [];

/** Shown on every screen while faults are injected, so that they are not taken for real failures. */
function FaultBanner() {
  const running = useControlState((state) => state.views?.status.faults ?? none);
  return running.map((each) => <RunningFaults key={`${each.kind} ${each.id}`} running={each} />);
}

function RunningFaults({ running }: { running: TimedFaultsView }) {
  const { kind, id, profile, rules, untilMs } = running;
  const { messages, formats } = useLocalization();
  const names = messages.faults;
  const { run, isRunning, problem } = useCommand();
  const mayStop = useMayStop(running);
  const subject = names[kind](useNameOf(kind, id) ?? id);
  const rulesText = profile === null ? rules.join(', ') : names.profile(profile);
  return (
    <div className={classes.fault} role="status">
      <IconBolt className={classes.faultIcon} size={20} aria-hidden />
      <p className={classes.faultText}>
        <strong>{names.on}</strong> {names.running(rulesText, subject, formats.clock(untilMs))} {names.why}
      </p>
      {mayStop && (
        <Button
          size="xs"
          variant="white"
          color="dark"
          loading={isRunning}
          leftSection={<IconPlayerStop size={14} aria-hidden />}
          aria-label={names.stopOf(subject)}
          onClick={() => void run({ type: 'faults.stop', [kind]: id })}
        >
          {names.stop}
        </Button>
      )}
      {problem && <CommandProblem problem={problem} />}
    </div>
  );
}
