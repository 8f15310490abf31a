import type { MenuItemConstructorOptions } from 'electron';
import { describe, expect, it } from 'vitest';
import { applicationMenu, type MenuActs } from '../../electron/application-menu.ts';
import { messagesFor } from '../../electron/messages.ts';

const acts: MenuActs = { open() {}, findAnything() {}, reloadData() {}, showLogFolder() {} };

function menuOf(isMac: boolean, locale: string, hasDeveloperTools = false): MenuItemConstructorOptions[] {
  return applicationMenu({ isMac, hasDeveloperTools }, acts, messagesFor(locale));
}

function allItems(items: MenuItemConstructorOptions[]): MenuItemConstructorOptions[] {
  return items.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? allItems(item.submenu) : [])]);
}

describe('the application’s menu', () => {
  it.each([true, false])(
    'names every item in the language of the window, where Electron would in English (macOS: %s)',
    (isMac) => {
      for (const locale of ['en', 'zh-CN']) {
        for (const { type, label } of allItems(menuOf(isMac, locale, true))) {
          if (type !== 'separator') expect(label).toMatch(locale === 'en' ? /^[A-Z][\w …]+$/ : /[一-鿿]|^Sluice$/);
        }
      }
    },
  );

  it('reloads and inspects the page for developers only', () => {
    const rolesOf = (items: MenuItemConstructorOptions[]) => allItems(items).map(({ role }) => role);
    expect(rolesOf(menuOf(true, 'en', true))).toEqual(expect.arrayContaining(['forceReload', 'toggleDevTools']));
    const plain = rolesOf(menuOf(true, 'en'));
    for (const role of ['reload', 'forceReload', 'toggleDevTools'] as const) expect(plain).not.toContain(role);
  });

  it('opens the six places of the window by their numbers, in the window’s order', () => {
    const opened: (string | undefined)[] = [];
    const menu = applicationMenu(
      { isMac: true, hasDeveloperTools: false },
      { ...acts, open: (path) => void opened.push(path) },
      messagesFor('en'),
    );
    const numbered = allItems(menu).filter(({ accelerator }) => /\d$/.test(accelerator ?? ''));
    expect(numbered.map(({ label, accelerator }) => `${accelerator} ${label}`)).toEqual([
      ...['CmdOrCtrl+1 Home', 'CmdOrCtrl+2 Traffic', 'CmdOrCtrl+3 Playground'],
      ...['CmdOrCtrl+4 Models', 'CmdOrCtrl+5 Access', 'CmdOrCtrl+6 Connect'],
    ]);
    for (const { click } of numbered) if (click) Reflect.apply(click, undefined, []);
    expect(opened).toEqual(['/', '/requests', '/playground', '/providers', '/keys', '/connect']);
  });

  it('has no key twice', () => {
    const keys = allItems(menuOf(true, 'en', true)).flatMap(({ accelerator }) => accelerator ?? []);
    expect(keys).toEqual(expect.arrayContaining(['CmdOrCtrl+,', 'CmdOrCtrl+K', 'CmdOrCtrl+R']));
    expect(new Set(keys).size).toBe(keys.length);
  });
});
