/** Entry point of the window: connects the engine's API, the store and the page. Contains no decisions. */
import '@mantine/core/styles.css';
import './base.css';
import './code-face.css';
import { MantineProvider } from '@mantine/core';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { screenAt } from '../../server/contract/places.ts';
import { LocalizationProvider } from '../messages/LocalizationProvider.tsx';
import { createApi } from '../state/api/create-api.ts';
import { createControlStore } from '../state/control/control-store.ts';
import { ControlStoreProvider } from '../state/control/use-control.ts';
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
      <LocalizationProvider>
        <ControlStoreProvider value={store}>
          <DesktopProvider value={desktop}>
            <App />
          </DesktopProvider>
        </ControlStoreProvider>
      </LocalizationProvider>
    </MantineProvider>
  </StrictMode>,
);
