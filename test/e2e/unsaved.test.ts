import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { accessibilityFaults } from './accessibility.ts';
import { openInSuite } from './window-suite.ts';

const open = openInSuite();
const config = {
  providers: [{ id: 'alpha', name: 'Alpha', baseUrl: 'http://127.0.0.1:9/v1', models: ['gpt-a'] }],
  groups: [{ id: 'default' }, { id: 'second' }],
};

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Discard unsaved changes?' });
const keep = (page: Page) => dialogOf(page).getByRole('button', { name: 'Keep editing' }).click();
const discard = (page: Page) => dialogOf(page).getByRole('button', { name: 'Discard changes' }).click();

describe('what was typed and not saved', () => {
  it.each([
    { screen: '/groups/default', label: 'Name' },
    { screen: '/providers/alpha', label: 'Name' },
    { screen: '/settings?section=address', label: 'Port' },
  ])('is not lost by a step to another screen from $screen', async ({ screen, label }) => {
    const { page, complaints } = await open({ screen, config });
    const field = page.getByLabel(label, { exact: true }).first();
    await field.fill('4321');
    await page.getByRole('link', { name: 'Access', exact: true }).click();
    await dialogOf(page).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await keep(page);
    expect(await field.inputValue()).toBe('4321');
    await page.getByRole('link', { name: 'Access', exact: true }).click();
    await discard(page);
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Models', exact: true }).click();
    await page.getByRole('heading', { name: 'Providers', level: 1 }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('is not lost by Back, nor by an address that is typed in', async () => {
    const { page, gateway } = await open({ screen: '/keys', config });
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Groups', exact: true }).click();
    await page.getByRole('link', { name: 'default', exact: true }).click();
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Mine');
    await page.evaluate(() => history.go(-2));
    await keep(page);
    expect(await name.inputValue()).toBe('Mine');
    await expect.poll(() => page.url()).toContain('#/groups/default');
    await page.evaluate(() => location.assign('#/settings'));
    await keep(page);
    await expect.poll(() => page.url()).toContain('#/groups/default');
    await page.evaluate(() => history.go(-2));
    await discard(page);
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    expect(page.url()).toBe(`${gateway.origin}/#/keys`);
    await page.goForward();
    await page.getByRole('heading', { name: 'Groups', level: 1 }).waitFor();
  });

  it('is asked about by the browser before the window closes, and no longer once it is saved', async () => {
    const { page } = await open({ screen: '/groups/default', config });
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      void dialog.dismiss();
    });
    await page.getByLabel('Name', { exact: true }).fill('Mine');
    await page.close({ runBeforeUnload: true });
    await expect.poll(() => asked).toEqual(['beforeunload']);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Mine' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Mine' }).waitFor();
    expect(asked).toHaveLength(1);
  });

  it('is not lost by Escape in a dialog, and a dialog without any closes at once', async () => {
    const { page } = await open({ screen: '/keys', config });
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog', { name: 'New key' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New key' }).click();
    await dialog.getByLabel('Name').fill('typed');
    await page.keyboard.press('Escape');
    await keep(page);
    expect(await dialog.getByLabel('Name').inputValue()).toBe('typed');
    await page.keyboard.press('Escape');
    await discard(page);
    await dialog.waitFor({ state: 'detached' });
  });

  it('causes no question if it was what has just been created', async () => {
    const { page } = await open({ screen: '/groups', config });
    await page.getByRole('button', { name: 'New group' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Writers');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Writers' }).waitFor();
    expect(await dialogOf(page).count()).toBe(0);
  });
});

it.each([
  { width: 1280, height: 800 },
  { width: 420, height: 700 },
])('a conflict stands beside Save, in sight at $width px', async (viewport) => {
  const { page, gateway } = await open({ screen: '/groups/default', config, context: { viewport } });
  await page.getByLabel('Name', { exact: true }).fill('Mine');
  await gateway.gateway.execute({ type: 'group.put', group: { id: 'default', name: 'Theirs' } });
  const notice = page.getByRole('alert').filter({ hasText: 'changed elsewhere' });
  await notice.waitFor();
  for (const part of [notice, page.getByRole('button', { name: 'Save' })]) {
    const box = await part.boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual(viewport.height);
  }
  expect(await accessibilityFaults(page)).toEqual([]);
});

it('what is wrong with a field can be read, light and dark', async () => {
  const { page } = await open({ screen: '/providers/alpha', config });
  await page.getByRole('textbox', { name: 'Base URL' }).fill('ftp://nowhere');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('[id$="-error"]').first().waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await accessibilityFaults(page), colorScheme).toEqual([]);
  }
});
