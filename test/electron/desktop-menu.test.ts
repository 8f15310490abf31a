/** @suite long */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkout } from '../support/program.ts';
import { openDesktopsInSuite } from './desktop-suite.ts';

const open = openDesktopsInSuite();

describe('the application’s menu', () => {
  it('opens the settings and the palette, and loads the data of the screen again', async () => {
    const desktop = await open();
    const page = await desktop.page();
    await page.getByRole('status').getByText('Serving').waitFor();
    await desktop.order('useApplicationMenu', { id: 'find' });
    await page.getByRole('dialog').getByRole('combobox').waitFor();
    await page.keyboard.press('Escape');
    await desktop.order('useApplicationMenu', { id: 'settings' });
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    // Where one is already, nothing is loaded anew, which would ask about what was typed there.
    await desktop.order('useApplicationMenu', { id: 'settings' });
    await desktop.order('useApplicationMenu', { id: 'place:connect' });
    await page.getByRole('heading', { name: 'Connect', level: 1 }).waitFor();
    const loads = ['', '#/settings', '#/connect'].map((hash) => `sluice-window://app/${hash}`);
    expect((await desktop.state()).windows).toMatchObject([{ loads }]);
    await desktop.order('useApplicationMenu', { id: 'reload-data' });
    await page.getByRole('status').getByText('Serving').waitFor();
    expect(desktop.complaints).toEqual([]);
  });

  it('has no bar outside macOS, and speaks the language that is chosen in the window', async () => {
    const desktop = await open();
    const page = await desktop.page();
    await page.getByRole('status').getByText('Serving').waitFor();
    const { windows, applicationMenu } = await desktop.state();
    expect(windows).toMatchObject([{ hasMenuBar: false }]);
    expect(applicationMenu.map(({ label }) => label)).toEqual(['Sluice', 'Edit', 'View', 'Window', 'Help']);
    expect(applicationMenu[0]?.items).toEqual(['Settings… CmdOrCtrl+,']);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('combobox', { name: 'Language' }).selectOption('zh-CN');
    await expect.poll(async () => (await desktop.state()).applicationMenu[1]?.label).toBe('编辑');
  });

  it('has on macOS what programs have there, with Sluice’s own version', async () => {
    const desktop = await open({ args: ['--hidden'], env: { DOUBLE_PLATFORM: 'darwin' } });
    await desktop.baseUrl();
    const { applicationMenu, about, isInDock } = await desktop.state();
    expect(applicationMenu[0]?.items).toEqual([
      ...['about', '-', 'Settings… CmdOrCtrl+,', '-', 'services', '-', 'hide', 'hideOthers', 'unhide', '-', 'quit'],
    ]);
    expect(applicationMenu.find(({ label }) => label === 'View')?.items).not.toContain('toggleDevTools');
    expect(about).toEqual({ applicationName: 'Sluice', applicationVersion: '0.0.0-double' });
    expect(isInDock).toBe(false);
  });

  it('shows the developer’s tools to those who ask for them', async () => {
    const desktop = await open({ args: ['--hidden'], env: { SLUICE_DEVTOOLS: 'on' } });
    await desktop.baseUrl();
    const { applicationMenu } = await desktop.state();
    expect(applicationMenu.find(({ label }) => label === 'View')?.items).toContain('toggleDevTools');
  });
});

it('an installed program names itself to Windows as its shortcut does, or its notifications would not be shown', async () => {
  const { appId } = JSON.parse(readFileSync(join(checkout, 'build/electron-builder.json'), 'utf8'));
  const desktop = await open({ args: ['--hidden'], env: { DOUBLE_PLATFORM: 'win32', DOUBLE_PACKAGED: '1' } });
  await desktop.baseUrl();
  expect((await desktop.state()).appUserModelId).toBe(appId);
});

describe('the hotkey', () => {
  it('shows and hides the window, once it is chosen in the settings', async () => {
    const desktop = await open({ env: { DOUBLE_TAKEN_KEYS: 'Control+Alt+T' } });
    const page = await desktop.page();
    await page.evaluate(() => location.assign('#/settings?section=desktop'));
    expect((await desktop.state()).hotkeys).toEqual([]);
    const field = page.getByRole('textbox', { name: 'Hotkey' });
    await field.press('Control+Alt+KeyT');
    await page.getByText('Another program uses Control+Alt+T, or the system keeps it for itself.').waitFor();
    expect(await field.inputValue()).toBe('');
    await field.press('Control+Alt+KeyS');
    await expect.poll(() => field.inputValue()).toBe('Ctrl Alt S');
    expect((await desktop.state()).hotkeys).toEqual(['Control+Alt+S']);
    const isShown = async () => (await desktop.state()).windows[0]?.isShown;
    await desktop.order('closeWindow');
    await desktop.order('pressHotkey', { keys: 'Control+Alt+S' });
    expect(await isShown()).toBe(true);
    // Behind another program it comes to the front first.
    await desktop.order('blurWindow');
    await desktop.order('pressHotkey', { keys: 'Control+Alt+S' });
    expect(await isShown()).toBe(true);
    await desktop.order('pressHotkey', { keys: 'Control+Alt+S' });
    expect(await isShown()).toBe(false);
    await desktop.order('clickMenu', { id: 'open' });
    await page.getByRole('button', { name: 'No hotkey' }).click();
    await expect.poll(async () => (await desktop.state()).hotkeys).toEqual([]);
    expect(desktop.complaints).toEqual([]);
  });
});
