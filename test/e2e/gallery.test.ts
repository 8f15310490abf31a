/**
 * Shows every screen of a furnished Sluice, narrow and wide, light and dark, in both languages. Takes pictures for
 * people (`test-results/gallery/`), and checks that nothing overflows and the page reports no errors. `npm run gallery`
 * uses four looks that cover each pair of width, colours and language. With SLUICE_GALLERY=all, it uses all eight,
 * which include the README's pictures.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { checkout } from '../support/program.ts';
import { furnish, furnishedConfig, furnishedEnv } from './filled-ledger.ts';
import { appearances, createKeptKey, openInSuite, overflowOf } from './window-suite.ts';

const open = openInSuite();
const folder = join(checkout, 'test-results/gallery');
mkdirSync(folder, { recursive: true });

const allLooks = [420, 1280].flatMap((width) =>
  (['light', 'dark'] as const).flatMap((colorScheme) =>
    (['en-GB', 'zh-CN'] as const).map((locale) => ({ width, colorScheme, locale })),
  ),
);
const looks = process.env.SLUICE_GALLERY === 'all' ? allLooks : appearances;

interface Shot {
  name: string;
  path: string;
  /** Waits for the content, after acting if necessary. */
  ready(page: Page): Promise<void>;
}

const shots: readonly Shot[] = [
  { name: 'overview', path: '/', ready: (page) => page.locator('[data-chart]').waitFor() },
  { name: 'providers', path: '/providers', ready: (page) => page.getByText('Ollama', { exact: true }).waitFor() },
  { name: 'provider', path: '/providers/openai', ready: (page) => page.getByText('gpt-image-1').first().waitFor() },
  {
    name: 'add-provider',
    path: '/providers',
    async ready(page) {
      await page.getByRole('button', { name: /^(Add provider|添加服务商)$/ }).click();
      await page.getByRole('dialog').getByText('https://api.openai.com/v1').waitFor();
    },
  },
  {
    name: 'models',
    path: '/models',
    async ready(page) {
      await page.getByRole('button', { name: /fast/ }).first().click();
      await page.getByRole('status').getByText('Ollama').first().waitFor();
    },
  },
  { name: 'groups', path: '/groups', ready: (page) => page.getByText('Coding agents').first().waitFor() },
  { name: 'group', path: '/groups/agents', ready: (page) => page.getByText('gpt-5-mini').first().waitFor() },
  { name: 'keys', path: '/keys', ready: (page) => page.getByText('Notes app').first().waitFor() },
  { name: 'requests', path: '/requests', ready: (page) => page.locator('tbody tr').nth(5).waitFor() },
  {
    name: 'request',
    path: '/requests',
    async ready(page) {
      await page.getByRole('link', { name: 'POST /v1/chat/completions' }).nth(1).click();
      // A sheet on narrow screens, otherwise beside the list.
      await page.locator('[role=dialog] dl, aside dl').first().waitFor();
    },
  },
  {
    name: 'playground',
    path: '/playground/chat',
    async ready(page) {
      const model = page.getByLabel(/^(Model|模型)$/).first();
      // A suggestion that arrives while the field is being filled would be combined with the text.
      await expect.poll(() => model.inputValue()).not.toBe('');
      await model.fill('demo-chat');
      await page.locator('textarea').first().fill('Hello! What can I try here?');
      // Enabled once the key is known.
      await page.locator('button[type=submit]').click();
      // The facts under the answer.
      await page.locator('li a[href*="/requests/"]').waitFor();
    },
  },
  {
    name: 'connect',
    path: '/connect',
    ready: (page) =>
      page
        .getByText(/YOUR_KEY/)
        .first()
        .waitFor(),
  },
  {
    name: 'settings',
    path: '/settings?section=address',
    ready: (page) => page.locator('#settings-address input').first().waitFor(),
  },
];

it.each(looks)('$width px, $colorScheme, $locale', { timeout: 180_000 }, async ({ width, colorScheme, locale }) => {
  const context = { viewport: { width, height: 800 }, colorScheme, locale };
  const window = await open({ context, config: furnishedConfig, env: furnishedEnv, prepare: furnish });
  const { page, gateway, complaints } = window;
  const fileOf = (name: string) => join(folder, `${name}-${width}-${colorScheme}-${locale.slice(0, 2)}.png`);
  for (const { name, path, ready } of shots) {
    if (name === 'playground') await createKeptKey(window, 'Try-out');
    await page.goto(`${gateway.origin}/#${path}`);
    await page.reload();
    await ready(page);
    expect(await overflowOf(page), name).toBeLessThanOrEqual(0);
    await page.screenshot({ path: fileOf(name), animations: 'disabled' });
    if (width !== 420) continue;
    // The smallest supported window.
    await page.setViewportSize({ width: 380, height: 800 });
    await expect.poll(() => overflowOf(page), { message: `${name} at 380 px` }).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width, height: 800 });
  }
  expect(complaints).toEqual([]);
  await gateway.gateway.execute({ type: 'window.sign-out-everywhere' });
  await page.getByRole('heading', { name: /^(This window has been signed out|此窗口已退出登录)$/ }).waitFor();
  expect(await overflowOf(page), 'signed-out').toBeLessThanOrEqual(0);
  await page.screenshot({ path: fileOf('signed-out'), animations: 'disabled' });
});
