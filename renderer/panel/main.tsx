/** Entry point of the panel at the tray: connects the engine's API, the store and the page. Contains no decisions. */
import '@mantine/core/styles/default-css-variables.css';
import '@mantine/core/styles/baseline.css';
import '../shell/base.css';
import './panel.css';
import { MantineProvider } from '@mantine/core';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { theme } from '../shell/theme.ts';
import { createApi } from '../state/api/create-api.ts';
import { Panel } from './Panel.tsx';
import { createPanelStore } from './panel-store.ts';
import { PanelWordsProvider } from './panel-words.tsx';
import { PanelDesktopProvider } from './Rows.tsx';

const root = document.getElementById('root');
if (!root) throw new Error('panel.html has no #root');
const { control, desktop } = createApi();
const store = createPanelStore(control);

// The desktop loads this page before it is first shown, and hides it instead of closing it. What was known last is there at once.
store.prepare();
followSight(() => store.show(!document.hidden));

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <PanelWordsProvider>
        <PanelDesktopProvider value={desktop}>
          <Panel store={store} />
        </PanelDesktopProvider>
      </PanelWordsProvider>
    </MantineProvider>
  </StrictMode>,
);

/** Calls back now, and whenever the page comes into sight or goes out of it. */
function followSight(follow: () => void): void {
  document.addEventListener('visibilitychange', follow);
  follow();
}
