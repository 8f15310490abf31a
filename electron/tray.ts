/** The tray icon with the menu of `tray-menu.ts`. Handles the differences between operating systems. */
import { join } from 'node:path';
import { Menu, type NativeImage, nativeImage, type Rectangle, Tray } from 'electron';
import type { ShellLanguage } from './shell-language.ts';
import { describeEngine, type TrayActions, type TrayStatus, trayMark, trayMenu, trayTitle } from './tray-menu.ts';

export interface TrayIcon {
  draw(status: TrayStatus): void;
  /** Makes the next `draw` redraw everything, even if nothing has changed. */
  invalidate(): void;
  bounds(): Rectangle;
  close(): void;
}

interface TrayPorts {
  /** Folder of the icons. */
  folder: string;
  platform: NodeJS.Platform;
  actions: TrayActions;
  language: ShellLanguage;
}

type Mark = ReturnType<typeof trayMark>;

export function openTray({ folder, platform, actions, language }: TrayPorts): TrayIcon {
  const icons = loadIcons(folder, platform);
  const tray = new Tray(icons.off);
  let menu = Menu.buildFromTemplate([]);
  let lastDrawn = '';
  // Linux needs the menu attached to the tray. Elsewhere, an attached menu would open on a left click, instead of the panel.
  if (platform === 'linux') tray.on('click', actions.openWindow);
  else {
    tray.on('click', actions.togglePanel);
    tray.on('right-click', () => tray.popUpContextMenu(menu));
  }
  return {
    draw(status) {
      // Replacing the menu closes it if it is open, so do so only if something has changed.
      const next = JSON.stringify([language.locale, status]);
      if (next === lastDrawn) return;
      lastDrawn = next;
      menu = Menu.buildFromTemplate(trayMenu(status, actions, language));
      if (platform === 'linux') tray.setContextMenu(menu);
      tray.setImage(icons[trayMark(status)]);
      // Digits of the same width, so that the icons beside it keep their places.
      if (platform === 'darwin') tray.setTitle(trayTitle(status, language), { fontType: 'monospacedDigit' });
      tray.setToolTip(`Sluice: ${describeEngine(status.engine, language.messages)}`);
    },
    invalidate() {
      lastDrawn = '';
    },
    bounds: () => tray.getBounds(),
    close: () => tray.destroy(),
  };
}

/** macOS colours template images itself. Elsewhere, the icons have colours that are visible on light and dark panels. */
function loadIcons(folder: string, platform: NodeJS.Platform): Record<Mark, NativeImage> {
  const load = (mark: Mark) => {
    const isTemplate = platform === 'darwin';
    const image = nativeImage.createFromPath(join(folder, `tray-${mark}${isTemplate ? 'Template' : ''}.png`));
    if (isTemplate) image.setTemplateImage(true);
    return image;
  };
  return { off: load('off'), serving: load('serving'), error: load('error') };
}
