/** @suite long */
import { describe, expect, it } from 'vitest';
import { trackOf } from '../e2e/person.ts';
import { chat, labelOf, openDesktopsInSuite } from './desktop-suite.ts';
import type { OpenedDesktop } from './open-desktop.ts';

const open = openDesktopsInSuite();

const isShown = async (desktop: OpenedDesktop) => (await desktop.state()).panel?.isShown;

describe.each(['darwin', 'win32'])('the panel at the tray (%s)', (platform) => {
  const openHidden = () => open({ args: ['--hidden'], env: { DOUBLE_PLATFORM: platform } });

  it('exists out of sight before the first click, which shows it at the icon', async () => {
    const desktop = await openHidden();
    const page = await desktop.panelPage();
    expect(await page.evaluate(() => document.hidden)).toBe(true);
    expect((await desktop.state()).panel).toMatchObject({
      url: 'sluice-window://app/panel.html',
      isShown: false,
      preferences: { contextIsolation: true, sandbox: true, nodeIntegration: false },
    });
    expect((await desktop.state()).windows).toEqual([]);
    await desktop.order('clickTray');
    // Above the bar at the bottom, and within the display although the icon is at its edge.
    const bounds = { x: 920, y: 248, width: 360, height: 520 };
    expect((await desktop.state()).panel).toMatchObject({ isShown: true, bounds });
    await expect.poll(() => page.evaluate(() => document.hidden)).toBe(false);
    await page
      .getByRole('button', { name: 'Open Sluice' })
      .or(page.getByRole('link', { name: 'Open Sluice' }))
      .waitFor();
    // It has no dock icon, unlike the window.
    expect((await desktop.state()).isInDock).toBe(platform !== 'darwin');
    expect(desktop.complaints).toEqual([]);
  });

  it('hides at Escape, at a second click, and when the person goes on elsewhere', async () => {
    const desktop = await openHidden();
    const page = await desktop.panelPage();
    await desktop.order('clickTray');
    await page.getByText('Open Sluice').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => isShown(desktop)).toBe(false);
    await desktop.order('clickTray');
    expect(await isShown(desktop)).toBe(true);
    await desktop.order('blurPanel');
    expect(await isShown(desktop)).toBe(false);
    // A click right after it belongs to it, a later one does not.
    await expect
      .poll(async () => (await isShown(desktop)) || (await desktop.order('clickTray').then(() => isShown(desktop))))
      .toBe(true);
    // On Windows, the click takes the focus from the panel before it arrives, and does not show it again.
    await desktop.order('clickTrayBesidePanel');
    expect(await isShown(desktop)).toBe(false);
    await desktop.order('clickTray');
    expect(await isShown(desktop)).toBe(true);
    await desktop.order('clickTray');
    expect(await isShown(desktop)).toBe(false);
  });

  it('asks the engine nothing while it is out of sight', async () => {
    const desktop = await openHidden();
    const page = await desktop.panelPage();
    await desktop.order('clickTray');
    await page.getByText('Open Sluice').waitFor();
    await desktop.order('blurPanel');
    await expect.poll(() => page.evaluate(() => document.hidden)).toBe(true);
    await expect.poll(async () => (await desktop.state()).panel?.calls.at(-1)).toBe('sluice:unsubscribe');
    const before = (await desktop.state()).panel?.calls.length;
    expect(await chat(await desktop.client(), 'demo-chat')).toMatchObject({ object: 'chat.completion' });
    const today = async () => {
      await desktop.order('rightClickTray');
      return labelOf(desktop, 'today');
    };
    await expect.poll(today).toMatch(/^Today: 1 request,/);
    expect((await desktop.state()).panel?.calls.length).toBe(before);
  });

  it('leaves the native menu to the right button, and is back after its page has crashed', async () => {
    const desktop = await openHidden();
    const page = await desktop.panelPage();
    await desktop.order('rightClickTray');
    expect(await labelOf(desktop, 'quit')).toBe('Quit Sluice');
    expect((await desktop.state()).tray?.hasPoppedUp).toBe(true);
    expect(await isShown(desktop)).toBe(false);
    await desktop.order('crashPanel');
    await expect.poll(() => page.isClosed()).toBe(true);
    expect((await desktop.state()).panel).toBeNull();
    await desktop.order('clickTray');
    await (await desktop.panelPage()).getByText('Open Sluice').waitFor();
    expect(await isShown(desktop)).toBe(true);
  });

  it('opens the window', async () => {
    const desktop = await openHidden();
    await desktop.order('clickTray');
    await (await desktop.panelPage()).getByText('Open Sluice').click();
    await (await desktop.page()).getByRole('status').getByText('Serving').waitFor();
    await expect
      .poll(async () => (await desktop.state()).windows)
      .toMatchObject([{ isShown: true, url: expect.stringMatching(/^sluice-window:\/\/app\//) }]);
  });
});

it('Linux has the native menu instead of a panel', async () => {
  const desktop = await open({ args: ['--hidden'], env: { DOUBLE_PLATFORM: 'linux' } });
  await desktop.baseUrl();
  await expect.poll(async () => labelOf(desktop, 'state')).toMatch(/^Serving/);
  await desktop.order('clickTray');
  await expect.poll(async () => (await desktop.state()).windows).toMatchObject([{ isShown: true }]);
  expect((await desktop.state()).panel).toBeNull();
});

it('macOS shows today’s cost beside the icon, if that is wanted', async () => {
  const prices = { 'demo-chat': { input: 2_000, output: 2_000 } };
  const desktop = await open({ env: { DOUBLE_PLATFORM: 'darwin' }, config: { settings: { port: 0, prices } } });
  const page = await desktop.page();
  await page.evaluate(() => location.assign('#/settings?section=desktop'));
  const title = async () => (await desktop.state()).tray?.title;
  expect(await title()).toBe('');
  await trackOf(page.getByRole('switch', { name: 'Show today’s cost in the menu bar' })).click();
  await expect.poll(title).toMatch(/^\$0\.00$/);
  await chat(await desktop.client(), 'demo-chat');
  await expect.poll(title).toMatch(/^\$0\.0[1-9]|^\$0\.[1-9]/);
  await desktop.order('clickTray');
  expect(desktop.complaints).toEqual([]);
});
