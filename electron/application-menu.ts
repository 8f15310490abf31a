/**
 * Builds the application's menu. macOS shows it in its bar; elsewhere there is no menu bar, and only its shortcuts work.
 * Pure.
 */
import type { MenuItemConstructorOptions } from 'electron';
import { pathOf, places } from '../server/contract/places.ts';
import type { ShellMessages } from './messages.ts';

export interface MenuActs {
  /** Shows the window, at this screen if given. */
  open(path?: string): void;
  findAnything(): void;
  reloadData(): void;
  showLogFolder(): void;
}

interface MenuFacts {
  isMac: boolean;
  /** Whether the page can be reloaded and inspected, which only developers want. */
  hasDeveloperTools: boolean;
}

type Item = MenuItemConstructorOptions;

const separator: Item = { type: 'separator' };

export function applicationMenu(facts: MenuFacts, acts: MenuActs, messages: ShellMessages): Item[] {
  const { menu } = messages;
  return [
    facts.isMac ? macMenu(acts, messages) : { label: 'Sluice', submenu: [settingsItem(acts, messages)] },
    { label: menu.edit, submenu: editItems(messages) },
    { label: menu.view, submenu: viewItems(facts, acts, messages) },
    {
      role: 'window',
      label: menu.window,
      submenu: [
        { role: 'minimize', label: menu.minimize },
        { role: 'close', label: menu.close },
        ...(facts.isMac ? [separator, { role: 'front', label: menu.bringAllToFront } satisfies Item] : []),
      ],
    },
    {
      role: 'help',
      label: menu.help,
      submenu: [{ id: 'menu-log-folder', label: messages.showLogFolder, click: acts.showLogFolder }],
    },
  ];
}

function macMenu(acts: MenuActs, messages: ShellMessages): Item {
  const { menu } = messages;
  return {
    label: 'Sluice',
    submenu: [
      { role: 'about', label: menu.about },
      separator,
      settingsItem(acts, messages),
      separator,
      { role: 'services', label: menu.services },
      separator,
      { role: 'hide', label: menu.hide },
      { role: 'hideOthers', label: menu.hideOthers },
      { role: 'unhide', label: menu.showAll },
      separator,
      { role: 'quit', label: messages.quit },
    ],
  };
}

function settingsItem({ open }: MenuActs, { menu }: ShellMessages): Item {
  return { id: 'settings', label: menu.settings, accelerator: 'CmdOrCtrl+,', click: () => open('/settings') };
}

function editItems({ menu }: ShellMessages): Item[] {
  return [
    { role: 'undo', label: menu.undo },
    { role: 'redo', label: menu.redo },
    separator,
    { role: 'cut', label: menu.cut },
    { role: 'copy', label: menu.copy },
    { role: 'paste', label: menu.paste },
    { role: 'pasteAndMatchStyle', label: menu.pasteAsText },
    { role: 'delete', label: menu.delete },
    separator,
    { role: 'selectAll', label: menu.selectAll },
  ];
}

/** In the order of the navigation. Settings has keys of its own. */
function placeItems({ open }: MenuActs, menu: ShellMessages['menu']): Item[] {
  return places
    .filter(({ id }) => id !== 'settings')
    .map(({ id, screens }, index) => ({
      id: `place:${id}`,
      label: menu.places[id],
      accelerator: `CmdOrCtrl+${index + 1}`,
      click: () => open(pathOf(screens[0])),
    }));
}

function viewItems({ hasDeveloperTools }: MenuFacts, acts: MenuActs, { menu }: ShellMessages): Item[] {
  const developerItems: Item[] = [
    separator,
    { role: 'forceReload', label: menu.reloadPage },
    { role: 'toggleDevTools', label: menu.developerTools },
  ];
  return [
    ...placeItems(acts, menu),
    separator,
    { id: 'find', label: menu.find, accelerator: 'CmdOrCtrl+K', click: acts.findAnything },
    { id: 'reload-data', label: menu.reloadData, accelerator: 'CmdOrCtrl+R', click: acts.reloadData },
    separator,
    { role: 'resetZoom', label: menu.actualSize },
    { role: 'zoomIn', label: menu.zoomIn },
    { role: 'zoomOut', label: menu.zoomOut },
    { role: 'togglefullscreen', label: menu.fullScreen },
    ...(hasDeveloperTools ? developerItems : []),
  ];
}
