import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { json, startUpstream } from '../support/upstream.ts';
import { accessibilityFaults } from './accessibility.ts';
import { fillWithOldRequests, fillWithRequests } from './filled-ledger.ts';
import { appearancesDownTo380, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();
const providers = [
  { id: 'openai', name: 'OpenAI', baseUrl: 'http://127.0.0.1:9/v1', models: ['gpt-x'] },
  { id: 'bare', name: 'Bare', baseUrl: 'http://127.0.0.1:9/v1', credentials: [{ id: 'c', secret: 'env:NOT_SET' }] },
];

it('says what was asked for, what it cost and how long it took', async () => {
  const { page, complaints } = await open({ config: { providers }, prepare: fillWithRequests });
  const usage = page.getByRole('region', { name: 'Usage' });
  await usage.getByRole('button', { name: 'Requests 600' }).waitFor();
  await usage.getByRole('button', { name: 'Cost $6.00' }).click();
  await expect.poll(() => page.url()).toContain('metric=cost');
  await usage.getByRole('figure', { name: 'Cost' }).getByText('gpt-0').waitFor();
  await usage.getByRole('button', { name: 'Failure rate 4%' }).click();
  const failureRate = usage.getByRole('figure', { name: 'Failure rate' });
  await failureRate.getByText('gpt-0').waitFor();
  await failureRate.getByText('0%', { exact: true }).waitFor();
  await usage.getByRole('button', { name: 'First byte' }).click();
  const firstByte = usage.getByRole('figure', { name: 'First byte' });
  await firstByte.getByText('95th percentile', { exact: true }).waitFor();
  await firstByte.getByText('Median of each').click();
  await firstByte.getByText('gpt-0').waitFor();
  await page.getByRole('region', { name: 'Most used' }).getByText('Providers').click();
  await firstByte.getByText('OpenAI').first().waitFor();
  await expect.poll(() => firstByte.locator('[data-line]').count()).toBe(2);
  await page.reload();
  await firstByte.getByText('OpenAI').first().waitFor();
  expect(complaints).toEqual([]);
});

it('tells usage by model, provider, key and group, and keeps the choice over a reload', async () => {
  const { page, complaints } = await open({ config: { providers }, prepare: fillWithRequests });
  const top = page.getByRole('region', { name: 'Most used' });
  await expect.poll(() => top.getByRole('row').nth(1).textContent()).toContain('gpt-0');
  await top.getByText('Providers').click();
  await top.getByRole('cell', { name: 'OpenAI' }).waitFor();
  await page.getByText('90 days').click();
  await expect.poll(() => page.url()).toContain('range=quarter');
  await page.reload();
  await top.getByRole('cell', { name: 'OpenAI' }).waitFor();
  expect(await page.getByRole('radio', { name: '90 days' }).isChecked()).toBe(true);
  expect(complaints).toEqual([]);
});

it('describes a step with its end and its sum, by keyboard too, and links to its requests', async () => {
  const { page } = await open({ config: { providers }, prepare: fillWithRequests });
  const chart = page.getByRole('slider', { name: 'Requests' });
  await chart.focus();
  for (let presses = 0; presses < 5; presses++) await page.keyboard.press('ArrowLeft');
  const told = (await chart.getAttribute('aria-valuetext')) ?? '';
  expect(told).toMatch(/\d\d:\d\d – \d\d:\d\d, Total \d+, others \d+/);
  const amounts = [...told.matchAll(/ (\d+)(?=,|$)/g)].map(([, amount]) => Number(amount));
  expect(amounts[0]).toBe(amounts.slice(1).reduce((sum, amount) => sum + amount, 0));
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toMatch(/#\/requests\?since=\d+&until=\d+$/);
});

it('keeps the colour of a name, whatever is counted', async () => {
  const { page } = await open({ config: { providers }, prepare: fillWithRequests });
  const usage = page.getByRole('region', { name: 'Usage' });
  const colors = () =>
    usage
      .locator('[data-chart] li')
      .evaluateAll((items) =>
        items.map((item) => `${item.textContent} ${item.querySelector('span')?.style.background}`).sort(),
      );
  await usage.getByText('gpt-0').first().waitFor();
  const before = await colors();
  await usage.getByRole('button', { name: 'Tokens' }).click();
  await usage.getByRole('figure', { name: 'Tokens' }).getByText('gpt-0').waitFor();
  const after = await colors();
  const ofBoth = before.filter((each) => after.some((other) => other.split(' ')[0] === each.split(' ')[0]));
  expect(ofBoth.length).toBeGreaterThan(2);
  expect(after).toEqual(expect.arrayContaining(ofBoth));
});

it('leads from each figure to the requests that it counts', async () => {
  const { page } = await open({ config: { providers }, prepare: fillWithRequests });
  const usage = page.getByRole('region', { name: 'Usage' });
  const top = page.getByRole('region', { name: 'Most used' });
  const hrefOf = (name: string | RegExp, within = usage) =>
    within.getByRole('link', { name, exact: true }).first().getAttribute('href');
  await usage.getByRole('link', { name: '24 of 600 failed' }).waitFor();
  expect(await hrefOf('24 of 600 failed')).toMatch(/^#\/requests\?outcome=failed&since=\d+$/);
  expect(await hrefOf('Show requests')).toMatch(/^#\/requests\?since=\d+$/);
  expect(await hrefOf('gpt-0', top)).toMatch(/^#\/requests\?since=\d+&model=gpt-0$/);
  const failedOfModel = top.getByRole('row').filter({ hasText: 'gpt-0' }).getByRole('link').nth(1);
  expect(await failedOfModel.getAttribute('href')).toMatch(/^#\/requests\?outcome=failed&since=\d+&model=gpt-0$/);
  await failedOfModel.click();
  await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
});

it('links from what needs attention to its fix', async () => {
  const { page, complaints } = await open({ config: { providers } });
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByRole('link', { name: 'Bare' }).click();
  await page.getByRole('heading', { name: 'Bare' }).first().waitFor();
  expect(page.url()).toContain('#/providers/bare');
  expect(complaints).toEqual([]);
});

it('follows the requests as they end, and tells refusals from failures', async () => {
  const release = Promise.withResolvers<void>();
  const upstream = await startUpstream(async (_request, response) => {
    await release.promise;
    json(response, { error: { message: 'no', type: 'server_error', code: null } }, 500);
  });
  const config = { providers: [{ id: 'p1', baseUrl: upstream.baseUrl, models: ['gpt-x'] }] };
  const { page, gateway } = await open({ config, prepare: fillWithOldRequests });
  const chat = (model: string) =>
    gateway.client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }] }).catch(() => null);
  const live = page.getByRole('region', { name: 'Now' });
  await chosenRange(page, '7 days');
  await page.getByText('1 h', { exact: true }).click();
  await page.getByText('No requests in this period').waitFor();
  const asked = chat('gpt-x');
  await page.getByText('One request is running').waitFor();
  await live.getByRole('link', { name: 'first' }).waitFor();
  release.resolve();
  await asked;
  await page.getByRole('button', { name: 'Requests 1' }).waitFor();
  await chat('no-such-model');
  const usage = page.getByRole('region', { name: 'Usage' });
  await usage.getByRole('button', { name: 'Requests 2' }).waitFor();
  await usage.getByRole('button', { name: 'Failure rate 100%' }).waitFor();
  expect(await usage.getByRole('link', { name: '1 refused, not counted' }).getAttribute('href')).toContain(
    'outcome=refused',
  );
  await usage.getByRole('link', { name: '1 of 1 failed' }).waitFor();
  await upstream.stop();
  // Each figure opens as many rows as it says.
  await usage.getByRole('link', { name: '1 refused, not counted' }).click();
  const rows = page.locator('tbody tr');
  await page.getByText('1 request, 0 failed · 1 refused.').waitFor();
  expect(await rows.allTextContents()).toEqual([expect.stringContaining('404 refused')]);
  await page
    .getByRole('link', { name: /no-such-model|chat\/completions/ })
    .first()
    .click();
  await page.getByText('Refused by Sluice with 404').waitFor();
  await page.goto(`${gateway.origin}/#/requests`);
  const summary = page.getByText('12 requests, 1 failed · 1 refused.');
  for (const [figure, said] of [
    ['1 failed', '500 error'],
    ['1 refused', '404 refused'],
  ] as const) {
    await summary.getByRole('link', { name: figure }).click();
    await expect.poll(() => rows.allTextContents()).toEqual([expect.stringContaining(said)]);
    await page.goBack();
  }
  const panel = await page.context().newPage();
  await panel.goto(`${gateway.origin}/panel`);
  expect(await panel.getByRole('link', { name: '1 refused' }).getAttribute('href')).toMatch(
    /^\/#\/requests\?outcome=refused&since=\d+$/,
  );
  await panel.getByText('404 refused').waitFor();
  await panel.close();
});

it('looks back as far as there are records', async () => {
  const { page } = await open({ config: { providers }, prepare: fillWithOldRequests });
  await chosenRange(page, '7 days');
});

it('has what runs and where it keeps its things in the settings, not here', async () => {
  const { page } = await open({ config: { providers }, prepare: fillWithRequests });
  await page.getByRole('region', { name: 'Usage' }).waitFor();
  expect(await page.getByText('Ledger').count()).toBe(0);
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'About' }).click();
  await page.getByRole('region', { name: 'About' }).getByText('recording').waitFor();
});

it.each(appearancesDownTo380)(
  'fits in $width px, $colorScheme, $locale, and axe finds nothing wrong',
  async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page, complaints } = await open({ config: { providers }, context, prepare: fillWithRequests });
    await page.locator('[data-chart=bars]').waitFor();
    await page.getByRole('button', { name: /^(First byte|首字节)/ }).click();
    await page.getByText(/^(Median of each|各自的中位数)$/).click();
    await page.locator('[data-line]').nth(2).waitFor();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await takePicture(page, `overview-${width}-${colorScheme}-${locale}`);
  },
);

async function chosenRange(page: Page, name: string): Promise<void> {
  const radio = page.getByRole('radio', { name });
  await radio.waitFor({ state: 'attached' });
  await expect.poll(() => radio.isChecked()).toBe(true);
}
