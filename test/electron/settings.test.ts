import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { accessibilityFaults } from '../e2e/accessibility.ts';
import { trackOf } from '../e2e/person.ts';
import { skipWithoutChromium } from '../support/chromium.ts';
import { ensureBuilt } from '../support/program.ts';
import { type OpenedDesktop, openDesktop } from './open-desktop.ts';

let opened: OpenedDesktop | undefined;

skipWithoutChromium();
beforeAll(ensureBuilt);
afterEach(async () => {
  await opened?.close();
  opened = undefined;
});

it('the settings in the desktop’s window have what only the desktop can do', async () => {
  opened = await openDesktop();
  const desktop = opened;
  const page = await desktop.page();
  await page.getByRole('link', { name: 'Settings' }).click();
  const part = page.getByRole('region', { name: 'Desktop' });
  const login = part.getByRole('switch', { name: 'Start at login, in the tray' });
  await flip(login, true);
  await expect.poll(async () => isChecked(desktop, 'start-at-login')).toBe(true);
  await flip(login, false);
  await expect.poll(async () => isChecked(desktop, 'start-at-login')).toBe(false);
  await flip(part.getByRole('switch', { name: 'Tell me when a provider refuses a credential' }), false);
  await part.getByText('Updates come with this installation.').waitFor();
  await part.getByRole('button', { name: 'Show the log folder' }).click();
  await expect.poll(async () => (await desktop.state()).shown.folders).toEqual([join(desktop.folder, 'data/logs')]);
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(desktop.complaints).toEqual([]);
});

/** By a click, and waits until main says that it is so. */
async function flip(power: Locator, isOn: boolean): Promise<void> {
  await expect.poll(() => power.isChecked()).toBe(!isOn);
  await trackOf(power).click();
  await expect.poll(() => power.isChecked()).toBe(isOn);
}

async function isChecked(desktop: OpenedDesktop, id: string): Promise<boolean | null | undefined> {
  return (await desktop.state()).tray?.menu.find((item) => item.id === id)?.checked;
}
