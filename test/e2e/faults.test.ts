/** Faults on purpose in the window: enabled for a key, indicated on every screen, and stopped. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { accessibilityFaults } from './accessibility.ts';
import { appearances, createKeptKey, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();

const banner = (page: Page) => page.getByRole('status').filter({ hasText: 'Faults are on.' });

it('switches a profile on for a key, says so on every screen, and stops it', async () => {
  const opened = await open({ screen: '/keys' });
  const { page, gateway, clientWith, complaints } = opened;
  const secret = await createKeptKey(opened, 'agent');
  await page.getByRole('button', { name: 'More for agent' }).click();
  await page.getByRole('menuitem', { name: 'Testing…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Profile').selectOption('outage: no request is answered');
  await dialog.getByLabel('How long').selectOption('5 minutes');
  await dialog.getByRole('button', { name: 'Start' }).click();
  await dialog.getByText('Profile outage for key agent, until').waitFor();
  await page.keyboard.press('Escape');
  await banner(page).getByText('Profile outage for key agent, until').waitFor();
  const { faults } = await gateway.gateway.query({ type: 'status' });
  expect(faults).toMatchObject([{ kind: 'key', id: 'agent', profile: 'outage' }]);

  const client = clientWith(secret);
  const asked = client.chat.completions.create({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hi' }] });
  await expect(asked).rejects.toThrow();
  for (const screen of ['Home', 'Traffic', 'Settings']) {
    await page.getByRole('link', { name: screen, exact: true }).first().click();
    await banner(page).waitFor();
  }
  await page.getByRole('link', { name: 'Traffic', exact: true }).first().click();
  await page
    .getByText(/fault: (status|reset)/)
    .first()
    .waitFor();
  await page.getByRole('link', { name: 'POST /v1/chat/completions' }).first().click();
  await page.getByText(/A fault on purpose: (status|reset)/).waitFor();
  await page.getByRole('button', { name: 'Stop faults for key agent' }).click();
  await banner(page).waitFor({ state: 'detached' });
  expect((await gateway.gateway.query({ type: 'status' })).faults).toEqual([]);
  expect(complaints).toEqual([]);
});

it('takes rules of one’s own, and says in both languages what is wrong with one', async () => {
  const { page, gateway } = await open({ context: { locale: 'zh-CN' }, screen: '/keys' });
  const { key } = await gateway.gateway.execute({ type: 'key.create', name: 'agent' });
  await page.getByRole('button', { name: /agent/ }).last().click();
  await page.getByRole('menuitem', { name: '测试…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('方案').selectOption('自定义规则');
  await dialog.getByLabel('规则').fill('late-head;ms=5\nstall;after=x');
  await dialog.getByRole('button', { name: '开始' }).click();
  await dialog.getByText('第 2 条规则中“stall”的“after”不正确：').waitFor();
  await dialog.getByLabel('规则').fill('late-head;ms=5\n\n stall;after=4');
  await dialog.getByRole('button', { name: '开始' }).click();
  await dialog.getByText('密钥 agent：late-head;ms=5, stall;after=4').waitFor();
  const { faults } = await gateway.gateway.query({ type: 'status' });
  expect(faults).toMatchObject([{ id: key.id, profile: null, rules: ['late-head;ms=5', 'stall;after=4'] }]);
});

it.each(appearances)('is in order in $width px, $colorScheme, $locale', async ({ width, colorScheme, locale }) => {
  const context = { viewport: { width, height: 800 }, colorScheme, locale };
  const { page, gateway } = await open({ context, screen: '/keys' });
  const { key } = await gateway.gateway.execute({ type: 'key.create', name: 'agent' });
  await gateway.gateway.execute({ type: 'faults.start', key: key.id, profile: 'flaky-streams', minutes: 30 });
  const check = async (name: string) => {
    await takePicture(page, `faults-${name}-${width}-${colorScheme}`);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
  };
  await page.getByText(/flaky-streams/).waitFor();
  await check('banner');
  await page.getByRole('button', { name: /agent/ }).last().click();
  await page.getByRole('menuitem', { name: /^(Testing|测试)…$/ }).click();
  await check('running');
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^(Stop|停止)$/ })
    .click();
  await page.getByRole('dialog').locator('select:has(option[value="rules"])').selectOption('rules');
  await page.getByRole('dialog').getByRole('textbox').waitFor();
  await check('form');
});
