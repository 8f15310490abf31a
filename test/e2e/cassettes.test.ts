/** Cassettes in the window: recorded for a group, replayed for a key, and indicated where a request is shown. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { accessibilityFaults } from './accessibility.ts';
import { unfold } from './person.ts';
import { appearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-cassette-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function choose(page: Page, mode: string): Promise<void> {
  await page.getByLabel('Cassette').selectOption(mode);
  await page.getByLabel('Folder').fill(folder);
}

it('records a group, replays a key, starts over, and says so at the request', async () => {
  const { page, gateway, clientWith, complaints } = await open({ screen: '/groups/default' });
  const client = clientWith(testKey);
  const ask = () =>
    client.chat.completions.create({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hi' }] }).withResponse();
  await unfold(page, 'Record and replay');
  await choose(page, 'Record');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Not used yet').or(page.getByText('0 recordings')).waitFor();
  await ask();
  await page.getByRole('link', { name: 'Access', exact: true }).first().click();
  await page.getByRole('button', { name: 'Change first' }).click();
  await page.getByRole('button', { name: 'Testing and debugging' }).click();
  await choose(page, 'Replay');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText('replays', { exact: true }).waitFor();
  expect((await ask()).response.headers.get('x-sluice-replay')).toBe('hit');

  await page.getByRole('button', { name: 'Change first' }).click();
  await page.getByText('1 recording · 1 replayed').waitFor();
  await page.getByRole('button', { name: 'Start over' }).click();
  await page.getByText('Not used yet').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
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
  await unfold(page, 'Record and replay');
  await page.getByLabel('Cassette').selectOption('Replay');
  await page.getByLabel('Folder').fill('cassettes');
  await page.getByText('Enter an absolute path').waitFor();
  await page.getByLabel('Folder').fill(folder);
  await page.getByRole('button', { name: 'Save' }).click();
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
  await page.getByLabel(/^(Folder|文件夹)/).waitFor();
  await page.getByRole('button', { name: /^(Start over|从头开始)$/ }).waitFor();
  await check('group');
  await gateway.gateway.execute({ type: 'key.update', id: 'k1', changes: { cassette: { mode: 'replay', folder } } });
  await page
    .getByRole('link', { name: /^(Access|访问控制)$/ })
    .first()
    .click();
  await page.getByRole('button', { name: /^(Change|修改) first$/ }).click();
  await page.getByLabel(/^(Folder|文件夹)/).waitFor();
  await check('key');
});
