/** The tray icon: draws the menu of `tray-menu.ts`. Handles differences between systems; decides nothing. */
import { join } from 'node:path';
import { Menu, type NativeImage, nativeImage, type Rectangle, Tray } from 'electron';
import type { ShellLanguage } from './shell-language.ts';
import { describeEngine, type TrayActions, type TrayStatus, trayMark, trayMenu } from './tray-menu.ts';

export interface TrayIcon {
  draw(status: TrayStatus): void;
  /** The next time everything is drawn, whether it has changed or not. */
  forget(): void;
  bounds(): Rectangle;
  close(): void;
}

interface TrayPorts {
  /** Of the icons. */
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
  let drawn = '';
  tray.on('click', actions.openWindow);
  // On Linux the tray itself must have the menu; elsewhere a left click would open it instead of the window.
  if (platform !== 'linux') tray.on('right-click', () => tray.popUpContextMenu(menu));
  return {
    draw(status) {
      // A menu that is open must not be replaced for nothing.
      const next = JSON.stringify([language.locale, status]);
      if (next === drawn) return;
      drawn = next;
      menu = Menu.buildFromTemplate(trayMenu(status, actions, language));
      if (platform === 'linux') tray.setContextMenu(menu);
      tray.setImage(icons[trayMark(status)]);
      tray.setToolTip(`Sluice: ${describeEngine(status.engine, language.messages)}`);
    },
    forget() {
      drawn = '';
    },
    bounds: () => tray.getBounds(),
    close: () => tray.destroy(),
  };
}

/** macOS colours a template image itself; elsewhere the icon has its own colours, visible on light and dark. */
function loadIcons(folder: string, platform: NodeJS.Platform): Record<Mark, NativeImage> {
  const load = (mark: Mark) => {
    const isTemplate = platform === 'darwin';
    const image = nativeImage.createFromPath(join(folder, `tray-${mark}${isTemplate ? 'Template' : ''}.png`));
    if (isTemplate) image.setTemplateImage(true);
    return image;
  };
  return { off: load('off'), serving: load('serving'), error: load('error') };
}
