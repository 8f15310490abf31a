import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashOf, testKey } from '../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';
import { accessibilityFaults } from './accessibility.ts';
import { appearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();
const usage = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 };

let upstream: ScriptedUpstream;
beforeEach(async () => {
  upstream = await startUpstream((_request, response) => json(response, { id: 'x', choices: [], usage }));
});
afterEach(() => upstream.stop());

function config() {
  const { baseUrl } = upstream;
  const limits = { budgets: [{ unit: 'usd' as const, per: 'day' as const, amount: 5, hard: false }] };
  return {
    providers: [
      { id: 'alpha', name: 'Alpha', baseUrl, models: ['gpt-4o', 'unheard-of', 'another'] },
      { id: 'beta', name: 'Beta', baseUrl, models: ['unheard-of'] },
    ],
    keys: [{ id: 'k1', name: 'first', group: 'default', hash: hashOf(testKey), limits }],
    settings: { prices: { kept: { input: 3 } } },
  };
}

const screen = '/settings?section=prices';
const partOf = (page: Page) => page.getByRole('region', { name: 'Prices' });
const rowsOf = (page: Page) => partOf(page).getByRole('list', { name: 'Prices' }).locator(':scope > li');

/** As if the public table had just been read, and had said this. */
function readJustNow(folder: string): void {
  const read = { triedAt: Date.now(), checkedAt: Date.now(), failure: null, date: null };
  const waiting = [
    { preset: 'openai', entry: 'gpt-4-turbo', amounts: { input: 8, output: 24 } },
    { preset: 'openai', entry: 'gpt-3.5-turbo', amounts: { input: 5, output: 1.5 } },
    { preset: 'openai', entry: 'gpt-9', amounts: { input: 1, output: 4 } },
  ];
  const prices = { ...read, etag: null, renewed: [], waiting };
  const rates = { ...read, date: '2026-11-27', perDollar: { EUR: 0.9 } };
  writeFileSync(join(folder, 'renewed-prices.json'), JSON.stringify({ version: 1, prices, rates }));
}

const renewing = () => {
  const { prices } = config().settings;
  const settings = { prices: { ...prices, another: { input: 8 } }, renewPrices: 'ask' as const };
  return { ...config(), settings: { ...settings, currency: { code: 'EUR', perDollar: null } } };
};

describe('the prices', () => {
  it('show what the public table would change, and apply it with a click, but for what is implausible', async () => {
    const opened = await open({ screen, config: renewing(), prepare: readJustNow });
    const { page, gateway, complaints } = opened;
    await page.getByRole('region', { name: '2 list prices would change' }).getByText('gpt-9').waitFor();
    const implausible = page.getByRole('region', { name: '1 price falls to 0 or changes more than fivefold' });
    expect(await implausible.textContent()).toContain('gpt-3.5-turboInput $0.50 → Input $5.00');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Apply these', exact: true }).click();
    await page.getByText('2 prices applied.').waitFor();
    const { renewal } = await gateway.gateway.query({ type: 'prices' });
    expect(renewal.waiting.map(({ entry }) => entry)).toEqual(['gpt-3.5-turbo']);
    await page.getByText('1 US dollar is €0.90 as of').waitFor();
    await page.getByLabel('Exchange rate').selectOption('fixed');
    await page.getByLabel('EUR for one dollar').fill('0.5');
    await page.getByLabel('EUR for one dollar').press('Enter');
    await opened.clientWith(testKey).chat.completions.create({ model: 'alpha/another', messages: [] });
    await page.goto(`${gateway.origin}/#/requests`);
    await expect.poll(() => page.locator('tbody tr').first().textContent()).toContain('€4.00');
    expect(complaints).toEqual([]);
  });

  it('begin with models that were used without one, and a price that is set holds for later requests', async () => {
    const opened = await open({ screen: '/keys', config: config() });
    const { page, gateway, complaints } = opened;
    const ask = () => opened.clientWith(testKey).chat.completions.create({ model: 'alpha/unheard-of', messages: [] });
    await ask();
    await ask();
    await page.goto(`${gateway.origin}/#/`);
    await page.getByRole('link', { name: /2 requests of key “first” have no known price.*Set prices/ }).click();
    await expect.poll(() => rowsOf(page).first().textContent()).toContain('unheard-ofAlphaNo price2 recent requests');
    await page.getByRole('button', { name: 'Set price: unheard-of at Alpha' }).click();
    const dialog = page.getByRole('dialog', { name: 'Price of unheard-of' });
    await dialog.getByLabel('Input (US dollars / 1M tokens)', { exact: true }).fill('2');
    await dialog.getByText(/Applies to requests from now on/).waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = rowsOf(page).filter({ hasText: 'unheard-ofAlpha' });
    await expect.poll(() => row.textContent()).toContain('YoursInput $2.00');
    const { settings } = (await gateway.gateway.query({ type: 'config' })).config;
    expect(settings.prices).toEqual({ kept: { input: 3 }, 'alpha/unheard-of': { input: 2 } });
    await ask();
    const costs = async () =>
      (await gateway.gateway.query({ type: 'requests' })).requests.map(({ costUsd }) => costUsd);
    await expect.poll(costs).toEqual([2, null, null]);
    expect(complaints).toEqual([]);
  });

  it('keep what was typed where it is no price, and change nothing', async () => {
    const { page, gateway, complaints } = await open({ screen, config: config() });
    await page.getByRole('button', { name: 'Set price: another at Alpha' }).click();
    const dialog = page.getByRole('dialog', { name: 'Price of another' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Enter at least one price; 0 means free of charge.').waitFor();
    const input = dialog.getByLabel('Input (US dollars / 1M tokens)', { exact: true });
    await input.fill('1,5');
    await dialog.getByText('A number, 0 or more, such as 0.25').waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    expect(await input.inputValue()).toBe('1,5');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Unsaved changes' }).waitFor();
    expect((await gateway.gateway.query({ type: 'config' })).revision).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('are reset to the built-in ones', async () => {
    const { page, gateway } = await open({ screen, config: config() });
    await page.getByRole('button', { name: 'Set your own: gpt-4o at Alpha' }).click();
    const dialog = page.getByRole('dialog', { name: 'Price of gpt-4o' });
    const input = dialog.getByLabel('Input (US dollars / 1M tokens)', { exact: true });
    expect(await input.inputValue()).toBe('2.5');
    await input.fill('2');
    await dialog.getByLabel('Applies to').selectOption('Every provider that serves it');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Reset to built-in: gpt-4o at Alpha' }).click();
    const { settings } = (await gateway.gateway.query({ type: 'config' })).config;
    expect(settings.prices['gpt-4o']).toMatchObject({ input: 2, output: 10 });
    const question = page.getByRole('dialog', { name: 'Reset to the built-in price' });
    await question.getByText(/Input \$2\.50, Output \$10\.00/).waitFor();
    await question.getByRole('button', { name: 'Reset to built-in' }).click();
    await page.getByRole('button', { name: 'Set your own: gpt-4o at Alpha' }).waitFor();
    const after = (await gateway.gateway.query({ type: 'config' })).config.settings;
    expect(after.prices).toEqual({ kept: { input: 3 } });
  });

  it('are added for a model that no provider lists', async () => {
    const { page, gateway } = await open({ screen: `${screen}&model=yet-unlisted`, config: config() });
    await partOf(page).getByText('No model matches “yet-unlisted”.').waitFor();
    await page.getByRole('button', { name: 'Add a price for “yet-unlisted”' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a price' });
    const model = dialog.getByLabel('Model', { exact: true });
    expect(await model.inputValue()).toBe('yet-unlisted');
    await model.fill('');
    await dialog.getByText('Images, audio, video, requests').click();
    await dialog.getByLabel('Per image (US dollars / image)').fill('0.04');
    await dialog.getByLabel('Applies to').selectOption('Beta only');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Enter the name of a model').waitFor();
    await model.fill('yet-unlisted');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => rowsOf(page).allTextContents()).toEqual([expect.stringContaining('Per image $0.04')]);
    const { settings } = (await gateway.gateway.query({ type: 'config' })).config;
    expect(settings.prices['beta/yet-unlisted']).toEqual({ image: 0.04 });
  });

  it('are searched, and shown by kind', async () => {
    const { page } = await open({ screen, config: config() });
    await expect.poll(() => rowsOf(page).count()).toBe(5);
    await partOf(page).getByLabel('Which prices are shown').selectOption('Your prices');
    await expect
      .poll(() => rowsOf(page).allTextContents())
      .toEqual([expect.stringMatching(/^keptYoursInput \$3\.00No/)]);
    await partOf(page).getByLabel('Which prices are shown').selectOption('Without a price');
    await partOf(page).getByLabel('Search models and providers').fill('beta');
    await expect.poll(() => rowsOf(page).allTextContents()).toEqual([expect.stringContaining('unheard-ofBeta')]);
  });

  it.each(appearances)('are legible in $width px, $colorScheme, $locale', async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page } = await open({ screen, config: renewing(), prepare: readJustNow, context });
    await page.getByText('gpt-9').waitFor();
    await takePicture(page, `prices-${width}-${colorScheme}-${locale}`);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    await page
      .getByRole('button', { name: /^(Set price|设置价格).*unheard-of.*Alpha|^设置价格.*unheard-of/ })
      .first()
      .click();
    await page.getByRole('textbox', { name: /^(Output|输出)/ }).fill('-1');
    await page.locator('[id$="-error"]').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  });
});
