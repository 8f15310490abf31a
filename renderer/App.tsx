/** The frame of the window and the current screen in it. Knows nothing of the inside of a screen. */
import { Router } from 'wouter';
import classes from './App.module.css';
import { ConnectionNotice } from './components/ConnectionNotice.tsx';
import { CurrentScreen } from './components/CurrentScreen.tsx';
import { FaultBanner } from './components/FaultBanner.tsx';
import { Navigation } from './components/Navigation.tsx';
import { Overlays } from './components/Overlays.tsx';
import { TopBar } from './components/TopBar.tsx';
import { UnsavedDialog } from './components/UnsavedDialog.tsx';
import { useLocalization } from './messages/use-messages.ts';
import { useHashLocation } from './state/hash-location.ts';
import { useControlState } from './state/use-control.ts';
import { useSyncShellLanguage } from './state/use-desktop.ts';
import { ImportProvider } from './views/import/ImportProvider.tsx';
import { SignedOut } from './views/signed-out/SignedOut.tsx';

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
