/** The overlays that can cover every screen, and their files. */
import type { OverlayName } from '../../state/window/overlay.ts';
import type { LazyFile } from '../screens/lazy-files.ts';

export const overlayFiles: Record<OverlayName, LazyFile> = {
  palette: {
    name: 'palette',
    load: async () => (await import('../palette/Palette.tsx')).Palette,
  },
  shortcuts: {
    name: 'shortcuts',
    load: async () => (await import('../palette/ShortcutSheet.tsx')).ShortcutSheet,
  },
  testing: {
    name: 'testing',
    load: async () => (await import('../../components/testing/TestingDrawer.tsx')).TestingDrawer,
  },
};
