import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { accessibilityFaults } from '../e2e/accessibility.ts';
import { trackOf } from '../e2e/person.ts';
import { isChecked, labelOf, openDesktopsInSuite } from './desktop-suite.ts';

const open = openDesktopsInSuite();

it('the settings in the desktop’s window have what only the desktop can do', async () => {
  const desktop = await open();
  const page = await desktop.page();
  await page.evaluate(() => location.assign('#/settings?section=desktop'));
  const part = page.getByRole('region', { name: 'Desktop' });
  const login = part.getByRole('switch', { name: 'Start at login, in the tray' });
  await flip(login, true);
  await expect.poll(async () => isChecked(desktop, 'start-at-login')).toBe(true);
  await flip(login, false);
  await expect.poll(async () => isChecked(desktop, 'start-at-login')).toBe(false);
  await flip(part.getByRole('switch', { name: 'Notify me when a provider rejects a credential' }), false);
  await part.getByText('Updates come with this installation.').waitFor();
  await part.getByRole('button', { name: 'Show log folder' }).click();
  await expect.poll(async () => (await desktop.state()).shown.folders).toEqual([join(desktop.folder, 'data/logs')]);
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(desktop.complaints).toEqual([]);
});

it('tray and dialogs speak the language that is chosen in the window, also after the next start', async () => {
  const providers = [{ id: 'main', name: 'Main', baseUrl: 'http://127.0.0.1:9/v1', models: ['m'] }];
  const desktop = await open({ config: { providers } });
  const page = await desktop.page();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('combobox', { name: 'Language' }).selectOption('zh-CN');
  await expect.poll(async () => labelOf(desktop, 'quit')).toBe('退出 Sluice');
  const file = join(desktop.folder, 'data/config.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"Main"', '"Other"'));
  await desktop.order('clickMenu', { id: 'provider:main' });
  const refusal = `Sluice 运行期间，${file} 被其他程序更改了。请重新启动 Sluice 以使用它，然后再作更改。`;
  await expect.poll(async () => (await desktop.state()).shown.messages).toEqual([refusal]);
  expect(JSON.parse(readFileSync(join(desktop.folder, 'data/desktop.json'), 'utf8')).language).toBe('zh-CN');
});

/** Clicks, and waits until main confirms the change. */
async function flip(power: Locator, isOn: boolean): Promise<void> {
  await expect.poll(() => power.isChecked()).toBe(!isOn);
  await trackOf(power).click();
  await expect.poll(() => power.isChecked()).toBe(isOn);
}
