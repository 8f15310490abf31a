/** Entry point of the window: connects the engine's API, the store and the page. Contains no decisions. */
import '@mantine/core/styles.css';
import './base.css';
import './code-face.css';
import { MantineProvider } from '@mantine/core';
import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { screenAt } from '../../server/contract/places.ts';
import { shownCurrency } from '../messages/formats.ts';
import { LocalizationProvider } from '../messages/LocalizationProvider.tsx';
import { createApi } from '../state/api/create-api.ts';
import { createControlStore } from '../state/control/control-store.ts';
import { ControlStoreProvider, useControlState } from '../state/control/use-control.ts';
import { currentPath } from '../state/window/hash-location.ts';
import { DesktopProvider } from '../state/window/use-desktop.ts';
import { App } from './App.tsx';
import { loadFile } from './screens/lazy-files.ts';
import { screens } from './screens/screens.ts';
import { theme } from './theme.ts';

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
const { control, desktop } = createApi();
const store = createControlStore(control);
// Loads the screen in parallel with the engine's first answer. If loading fails, the screen reports it.
const screen = screenAt(currentPath());
if (screen) loadFile(screens[screen]).catch(() => {});

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <ControlStoreProvider value={store}>
        <DesktopProvider value={desktop}>
          <Localized>
            <App />
          </Localized>
        </DesktopProvider>
      </ControlStoreProvider>
    </MantineProvider>
  </StrictMode>,
);

/** In the language of this browser, with amounts of money in the currency of the settings. */
function Localized({ children }: { children: ReactNode }) {
  const currency = useControlState((state) => state.views?.status.currency ?? null);
  return <LocalizationProvider currency={shownCurrency(currency)}>{children}</LocalizationProvider>;
}
