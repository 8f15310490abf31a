/** The frame of the window and the current screen in it. Knows nothing of the inside of a screen. */
import { Router } from 'wouter';
import { ConnectionNotice } from '../components/feedback/ConnectionNotice.tsx';
import { ImportProvider } from '../components/import/ImportProvider.tsx';
import { useLocalization } from '../messages/use-messages.ts';
import { useControlState } from '../state/control/use-control.ts';
import { useHashLocation } from '../state/window/hash-location.ts';
import { useSyncShellLanguage } from '../state/window/use-desktop.ts';
import { SignedOut } from '../views/signed-out/SignedOut.tsx';
import classes from './App.module.css';
import { CurrentScreen } from './frame/CurrentScreen.tsx';
import { FaultBanner } from './frame/FaultBanner.tsx';
import { Navigation } from './frame/Navigation.tsx';
import { Overlays } from './frame/Overlays.tsx';
import { UnsavedDialog } from './frame/UnsavedDialog.tsx';
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
