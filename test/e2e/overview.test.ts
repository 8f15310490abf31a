import { expect, it } from 'vitest';
import { accessibilityFaults } from './accessibility.ts';
import { fillWithRequests } from './filled-ledger.ts';
import { appearances, openInSuite, overflowOf } from './window-suite.ts';

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
  await usage.getByRole('button', { name: 'Error rate 4%' }).click();
  const errorRate = usage.getByRole('figure', { name: 'Error rate' });
  await errorRate.getByText('gpt-0').waitFor();
  await errorRate.getByText('0%', { exact: true }).waitFor();
  await usage.getByRole('button', { name: 'First byte' }).click();
  const firstByte = usage.getByRole('figure', { name: 'First byte' });
  await firstByte.getByText('95th percentile', { exact: true }).waitFor();
  await firstByte.getByText('Median of each').click();
  await firstByte.getByText('gpt-0').waitFor();
  await page.getByRole('region', { name: 'Most used' }).getByText('Providers').click();
  // The pointer may rest on the chart, whose tooltip names it too.
  await firstByte.getByText('OpenAI').first().waitFor();
  await expect.poll(() => firstByte.locator('.recharts-line').count()).toBe(2);
  await page.reload();
  // The pointer may rest on the chart, whose tooltip names it too.
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

it('leads from what needs attention to its mend', async () => {
  const { page, complaints } = await open({ config: { providers } });
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByRole('link', { name: 'Bare' }).click();
  await page.getByRole('heading', { name: 'Bare' }).first().waitFor();
  expect(page.url()).toContain('#/providers/bare');
  expect(complaints).toEqual([]);
});

it('says what to do where nothing was asked for yet', async () => {
  const { page, gateway } = await open();
  await page.getByText('No requests in this time').waitFor();
  await page.getByText('Only the demo answers').waitFor();
  await gateway.client.chat.completions.create({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] });
  await page.reload();
  await page.getByRole('button', { name: 'Requests 1' }).waitFor();
});

it.each([...appearances, { width: 380, colorScheme: 'light', locale: 'en-GB' }] as const)(
  'fits in $width px, $colorScheme, $locale, and axe finds nothing wrong',
  async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page, complaints } = await open({ config: { providers }, context, prepare: fillWithRequests });
    await page.locator('.recharts-bar').first().waitFor();
    await page.getByRole('button', { name: /^(First byte|首字节)/ }).click();
    await page.getByText(/^(Median of each|各自的中位数)$/).click();
    await page.locator('.recharts-line').nth(2).waitFor();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.screenshot({ path: `test-results/overview-${width}-${colorScheme}-${locale}.png`, fullPage: true });
  },
);
