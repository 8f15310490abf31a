/** The frame of the window and which screen is in it. Knows no screen's inside. */
import classes from './App.module.css';
import { ConnectionNotice } from './components/ConnectionNotice.tsx';
import { TopBar } from './components/TopBar.tsx';
import { useControlState } from './state/use-control.ts';
import { Overview } from './views/overview/Overview.tsx';
import { SignedOut } from './views/signed-out/SignedOut.tsx';

export function App() {
  const connection = useControlState((state) => state.connection);
  return (
    <div className={classes.page}>
      <TopBar />
      {connection === 'signed-out' ? (
        <SignedOut />
      ) : (
        <main>
          <ConnectionNotice />
          <Overview />
        </main>
      )}
    </div>
  );
}
