/** @suite long */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { onlyIf } from '../support/only-if.ts';
import { chat, labelOf, logOf, openDesktopsInSuite } from './desktop-suite.ts';
import { startMain } from './open-desktop.ts';

const open = openDesktopsInSuite();

describe('the desktop’s window', () => {
  it('is hidden when it is closed, goes on serving, and is back with its page at once', async () => {
    const desktop = await open();
    const page = await desktop.page();
    await page.getByRole('status').getByText('Serving').waitFor();
    await expect.poll(async () => (await desktop.state()).windows).toMatchObject([{ isShown: true }]);
    await page.evaluate(() => (document.body.dataset.seen = 'yes'));
    const bounds = { x: 40, y: 50, width: 700, height: 570 };
    await desktop.order('moveWindow', { bounds });
    await desktop.order('closeWindow');
    expect((await desktop.state()).windows).toMatchObject([{ isShown: false }]);
    expect(await chat(await desktop.client(), 'demo-chat')).toMatchObject({ object: 'chat.completion' });
    await desktop.order('clickMenu', { id: 'open' });
    expect((await desktop.state()).windows).toMatchObject([{ isShown: true, bounds }]);
    expect(await page.evaluate(() => document.body.dataset.seen)).toBe('yes');
  });

  it('leaves full screen before it is hidden, which would leave a black screen on macOS', async () => {
    const desktop = await open();
    await expect.poll(async () => (await desktop.state()).windows).toMatchObject([{ isShown: true }]);
    await desktop.order('fillScreen');
    await desktop.order('closeWindow');
    await expect.poll(async () => (await desktop.state()).windows).toMatchObject([{ isShown: false }]);
  });

  it('opens in the middle of the display where the person is, until they move it there', async () => {
    const desktop = await open();
    const isAt = (bounds: object) =>
      expect.poll(async () => (await desktop.state()).windows).toMatchObject([{ isShown: true, bounds }]);
    const openFrom = async (x: number, y: number) => {
      await desktop.order('closeWindow');
      await desktop.order('moveCursor', { at: { x, y } });
      await desktop.order('clickMenu', { id: 'open' });
    };
    // As high as the display is without its bar.
    await isAt({ x: 50, y: 0, width: 1180, height: 770 });
    await openFrom(-40, 1044);
    await isAt({ x: -1550, y: 130, width: 1180, height: 780 });
    const moved = { x: -1000, y: 100, width: 600, height: 600 };
    await desktop.order('moveWindow', { bounds: moved });
    await openFrom(600, 0);
    await isAt({ x: 50, y: 0, width: 1180, height: 770 });
    await openFrom(-40, 1044);
    await isAt(moved);
    // Another start remembers it, too.
    const { places } = JSON.parse(readFileSync(join(desktop.folder, 'data/desktop.json'), 'utf8'));
    expect(places).toEqual({ 2: moved });
  });

  it('shows the first one’s window when it is started again', async () => {
    const desktop = await open({ args: ['--hidden'] });
    await desktop.baseUrl();
    await expect.poll(async () => labelOf(desktop, 'state')).toMatch(/^Serving/);
    expect((await desktop.state()).windows).toEqual([]);
    const second = startMain(desktop.folder, {});
    expect(await second.ended).toBe(0);
    await (await desktop.page()).getByRole('status').getByText('Serving').waitFor();
    expect((await desktop.state()).windows).toHaveLength(1);
  });

  it.runIf(onlyIf(process.platform === 'linux', 'only Linux has desktops without a tray'))(
    'shows its window where there is no tray, even if it was started without',
    async () => {
      const desktop = await open({ args: ['--hidden'], env: { DOUBLE_TRAY: 'false' } });
      await (await desktop.page()).getByRole('status').getByText('Serving').waitFor();
      await expect.poll(async () => (await desktop.state()).windows).toMatchObject([{ isShown: true }]);
    },
  );

  it('goes on serving when the window’s process crashes, and opens a new one', async () => {
    const desktop = await open();
    await (await desktop.page()).getByRole('status').getByText('Serving').waitFor();
    await desktop.order('crashPage');
    await expect.poll(async () => (await desktop.state()).windows).toEqual([]);
    expect(await chat(await desktop.client(), 'demo-chat')).toMatchObject({ object: 'chat.completion' });
    await desktop.order('clickMenu', { id: 'open' });
    await expect.poll(async () => (await desktop.state()).windows).toMatchObject([{ isShown: true }]);
    await expect.poll(() => logOf(desktop)).toContain('the window’s process is gone');
  });

  it('shows its window only when the engine is on, whenever that is requested', async () => {
    const desktop = await open({ args: ['--hidden'], env: { DOUBLE_ACTIVATED: '1' } });
    await desktop.page();
    expect((await desktop.state()).windows).toMatchObject([{ trayWhenOpened: expect.stringMatching(/Serving at/) }]);
  });

  it('goes on serving when the place of its window cannot be written', async () => {
    const desktop = await open();
    await (await desktop.page()).getByRole('status').getByText('Serving').waitFor();
    rmSync(join(desktop.folder, 'data/desktop.json'), { force: true });
    mkdirSync(join(desktop.folder, 'data/desktop.json'));
    await desktop.order('moveWindow', { bounds: { x: 40, y: 50, width: 700, height: 600 } });
    await desktop.order('closeWindow');
    await expect.poll(() => logOf(desktop)).toContain('what the desktop remembers was not written');
    expect(await chat(await desktop.client(), 'demo-chat')).toMatchObject({ object: 'chat.completion' });
  });

  it('asks before a window with unsaved changes closes, which Electron does not', async () => {
    const desktop = await open();
    await expect.poll(async () => (await desktop.state()).windows).toHaveLength(1);
    expect(await desktop.order('leaveUnsaved', { answer: 0 })).toBe(false);
    expect(await desktop.order('leaveUnsaved', { answer: 1 })).toBe(true);
    expect((await desktop.state()).shown.messages).toEqual(['Discard unsaved changes?', 'Discard unsaved changes?']);
  });

  it('serves where the files of its window have no place in the data folder', async () => {
    const desktop = await open({ occupied: 'desktop' });
    await (await desktop.page()).getByRole('status').getByText('Serving').waitFor();
    expect(desktop.output.stderr).toContain(`The window keeps its files in ${desktop.folder}/.config/sluice`);
    expect(await chat(await desktop.client(), 'demo-chat')).toMatchObject({ object: 'chat.completion' });
  });
});
