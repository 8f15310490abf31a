/** Cassettes in the window: recorded for a group, replayed for a key, and indicated where a request is shown. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { accessibilityFaults } from './accessibility.ts';
import { appearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-cassette-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function choose(page: Page, mode: string): Promise<void> {
  await page.getByRole('button', { name: 'Testing…' }).click();
  const drawer = drawerOf(page);
  await drawer.getByLabel('Cassette').selectOption(mode);
  await drawer.getByLabel('Folder').fill(folder);
  await cassettePart(page).getByRole('button', { name: 'Save' }).click();
  await cassettePart(page).getByRole('status').waitFor();
}

const drawerOf = (page: Page) => page.getByRole('dialog', { name: /^(Testing|测试)$/ });

const cassettePart = (page: Page) => drawerOf(page).getByRole('region', { name: 'Record and replay' });

it('records a group, replays a key, starts over, and says so at the request', async () => {
  const { page, gateway, clientWith, complaints } = await open({ screen: '/groups/default' });
  const client = clientWith(testKey);
  const ask = () =>
    client.chat.completions.create({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hi' }] }).withResponse();
  await choose(page, 'Record');
  await page.keyboard.press('Escape');
  await page.getByText(`On now: Record: ${folder}`).waitFor();
  await ask();
  await page.getByRole('link', { name: 'Access', exact: true }).first().click();
  await page.getByRole('button', { name: 'Change first' }).click();
  await choose(page, 'Replay');
  // Above the dialog of the key, which Escape leaves open.
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Change this key' }).getByText(`On now: Replay: ${folder}`).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('replays', { exact: true }).waitFor();
  expect((await ask()).response.headers.get('x-sluice-replay')).toBe('hit');

  await page.keyboard.press('Control+k');
  await page.keyboard.type('cassette');
  await page.getByRole('option', { name: 'Testing: faults, cassettes, cache' }).click();
  await drawerOf(page).getByRole('button', { name: 'Change the tests of first' }).click();
  await page.getByText('1 recording · 1 replayed').waitFor();
  await page.getByRole('button', { name: 'Start over' }).click();
  await page.getByText('Not used yet').waitFor();
  // Whatever changes the address closes it.
  await page.evaluate((hash) => location.assign(hash), '#/settings?section=prices');
  await drawerOf(page).waitFor({ state: 'detached' });
  const [view] = (await gateway.gateway.query({ type: 'cassettes' })).filter(({ mode }) => mode === 'replay');
  expect(view).toMatchObject({ folder, recordings: null });

  await page.getByRole('link', { name: 'Traffic', exact: true }).first().click();
  await page.getByRole('cell', { name: 'Cassette' }).waitFor();
  await page.getByRole('link', { name: 'POST /v1/chat/completions' }).first().click();
  await page.getByText('replayed', { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

it('names the file and field of a cassette that cannot be used, and changes nothing', async () => {
  writeFileSync(join(folder, '0001-chat-000000.json'), '{ "version": 1 }');
  const { page, gateway } = await open({ screen: '/groups/default' });
  await page.getByRole('button', { name: 'Testing…' }).click();
  await page.getByLabel('Cassette').selectOption('Replay');
  await page.getByLabel('Folder').fill('cassettes');
  await page.getByText('Enter an absolute path').waitFor();
  await page.getByLabel('Folder').fill(folder);
  await cassettePart(page).getByRole('button', { name: 'Save' }).click();
  await page.getByText(/0001-chat-000000\.json cannot be used: request:/).waitFor();
  const [group] = await gateway.gateway.query({ type: 'groups' });
  expect(group?.cassette).toBeNull();
});

it.each(appearances)('is in order in $width px, $colorScheme, $locale', async ({ width, colorScheme, locale }) => {
  const context = { viewport: { width, height: 800 }, colorScheme, locale };
  const { page, gateway } = await open({ context, screen: '/groups/default' });
  const cassette = { mode: 'replay-or-record', folder } as const;
  await gateway.gateway.execute({ type: 'group.put', group: { id: 'default', cassette } });
  const check = async (name: string) => {
    await takePicture(page, `cassettes-${name}-${width}-${colorScheme}`);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
  };
  await page.getByText(/^(On now|已开启)/).waitFor();
  await check('group-form');
  await page.getByRole('button', { name: /^(Testing|测试)…$/ }).click();
  await page.getByRole('button', { name: /^(Start over|从头开始)$/ }).waitFor();
  await check('group');
  await page.keyboard.press('Escape');
  await gateway.gateway.execute({ type: 'key.update', id: 'k1', changes: { cassette: { mode: 'replay', folder } } });
  await page
    .getByRole('link', { name: /^(Access|访问控制)$/ })
    .first()
    .click();
  await page.getByRole('button', { name: /^(Change|修改) first$/ }).click();
  await page.getByText(/^(On now|已开启)/).waitFor();
  await check('key-form');
  await page.getByRole('button', { name: /^(Testing|测试)…$/ }).click();
  await drawerOf(page)
    .getByLabel(/^(Folder|文件夹)/)
    .waitFor();
  await check('key');
  await drawerOf(page).getByRole('combobox').first().selectOption('');
  await check('all');
});
