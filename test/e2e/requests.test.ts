import { expect, it } from 'vitest';
import { refusalsListedPerMinute } from '../../server/contract/request-views.ts';
import { hashOf, testKey } from '../support/gateway.ts';
import { json, startUpstream } from '../support/upstream.ts';
import { accessibilityFaults } from './accessibility.ts';
import { fillWithRequests } from './filled-ledger.ts';
import { appearances, appearancesDownTo380, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();
const screen = '/requests';
const messages = [{ role: 'user' as const, content: 'Hello' }];
const providers = [{ id: 'openai', name: 'OpenAI', baseUrl: 'http://127.0.0.1:9/v1', models: ['gpt-x'] }];

it('shows a request as it runs and as it ends', async () => {
  let finish = () => {};
  const upstream = await startUpstream((_request, response) => {
    finish = () =>
      json(response, { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt-x', choices: [] });
  });
  const config = { providers: [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }] };
  const { page, gateway, complaints } = await open({ screen, config });
  await page.getByText('No requests yet').waitFor();
  const answer = gateway.client.chat.completions.create({ model: 'gpt-x', messages });
  const row = page.getByRole('row').nth(1);
  await row.getByText('running').waitFor();
  finish();
  await row.getByText('200 ok').waitFor();
  await answer;
  expect(await row.textContent()).toMatch(/\/chat\/completionsgpt-xopenai-nodemain/);
  expect(complaints).toEqual([]);
  await upstream.stop();
});

it('reports a program with a wrong key, for which no row exists', async () => {
  const { page, gateway, complaints } = await open({ screen });
  await page.getByText('No requests yet').waitFor();
  const headers = { authorization: 'Bearer sk-of-another-service', 'user-agent': 'OpenAI/Python 1.2' };
  for (let times = 0; times < 12; times++) await fetch(`${gateway.baseUrl}/models`, { headers });
  const notice = page.getByRole('region', { name: 'Refused in the last hour' });
  await notice
    .getByText(/^12 requests with an unknown key, the last from “OpenAI\/Python 1\.2” at \d\d:\d\d/)
    .waitFor();
  expect(await page.getByText('No requests yet').count()).toBe(1);
  const height = await notice.evaluate((part) => part.getBoundingClientRect().height);
  expect(height).toBeLessThan(40);
  const hiddenHeight = () => page.evaluate(() => document.documentElement.scrollHeight - innerHeight);
  expect(await hiddenHeight()).toBeLessThanOrEqual(0);
  // Nor do other lines above it push the list out of the window.
  const key = gateway.gateway.query({ type: 'keys' }).then(([first]) => first?.id ?? '');
  await gateway.gateway.execute({ type: 'faults.start', key: await key, profile: 'flaky-streams', minutes: 5 });
  await page
    .getByText(/flaky-streams/)
    .first()
    .waitFor();
  expect(await hiddenHeight()).toBeLessThanOrEqual(0);
  await fetch(`${gateway.baseUrl}/models`);
  await notice.getByText('1 more kind').click();
  await notice.getByText(/with an unknown key/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await notice.getByRole('button', { name: 'Close until the next one' }).click();
  await notice.waitFor({ state: 'detached' });
  await page.reload();
  await fetch(`${gateway.baseUrl}/models`, { headers });
  await notice.getByRole('link', { name: 'Open keys' }).first().click();
  await page.waitForURL(/\/keys$/);
  expect(complaints).toEqual([]);
});

/** A key that may send one request a minute, and a program with it that sends far more than are listed. */
const overLimit = {
  config: {
    settings: { demo: 'on' as const },
    keys: [{ id: 'k1', name: 'Loop', group: 'default', hash: hashOf(testKey), limits: { requestsPerMinute: 1 } }],
  },
  async begin({ baseUrl }: { baseUrl: string }) {
    const headers = {
      authorization: `Bearer ${testKey}`,
      'content-type': 'application/json',
      'user-agent': 'loop/1.0',
    };
    const body = JSON.stringify({ model: 'demo-chat', messages });
    for (let sent = 0; sent < 4 * refusalsListedPerMinute; sent++)
      await (await fetch(`${baseUrl}/chat/completions`, { method: 'POST', headers, body })).text();
  },
};

it('tells of a program in a loop over a limit, beside the requests that are listed', async () => {
  const { page, complaints } = await open({ screen, ...overLimit });
  const notice = page.getByRole('region', { name: 'Refused in the last hour' });
  await notice
    .getByText(
      /^\d+ requests over a limit for the key “Loop” \(30 a minute are listed\), the last from “loop\/1\.0” at/,
    )
    .waitFor();
  await notice.getByRole('link', { name: 'Open its limits' }).click();
  await page.waitForURL(/\/keys$/);
  expect(complaints).toEqual([]);
});

it.each(appearances)(
  'shows a program over a limit in $width px, $colorScheme, $locale',
  async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page, complaints } = await open({ screen, ...overLimit, context });
    await page.getByText('loop/1.0').first().waitFor();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await takePicture(page, `requests-over-limit-${width}-${colorScheme}-${locale}`, { fullPage: false });
  },
);

it('keeps few rows in the page, and brings older ones while it is scrolled', async () => {
  const { page, complaints } = await open({ screen, config: { providers }, prepare: fillWithRequests });
  const list = page.getByRole('region', { name: 'Requests' });
  const rows = list.locator('tbody tr');
  await rows.first().waitFor();
  expect(await rows.count()).toBeLessThan(60);
  // The oldest of the six hundred. The snapshot contained only a hundred.
  const last = rows.and(page.locator('[aria-rowindex="601"]'));
  await expect
    .poll(async () => {
      await list.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
      return last.count();
    })
    .toBe(1);
  expect(complaints).toEqual([]);
});

it('does not move while a person reads, and shows how many new requests arrived', async () => {
  const { page, gateway } = await open({ screen, prepare: fillWithRequests });
  const list = page.getByRole('region', { name: 'Requests' });
  const rows = list.locator('tbody tr');
  await rows.first().waitFor();
  await list.evaluate((element) => element.scrollTo({ top: 1_000 }));
  await page.locator('[aria-rowindex="35"]').waitFor();
  const read = await page.locator('[aria-rowindex="35"]').textContent();
  await gateway.client.chat.completions.create({ model: 'demo-chat', messages });
  await page.getByRole('button', { name: '1 new request' }).waitFor();
  expect(await page.locator('[aria-rowindex="35"]').textContent()).toBe(read);
  await page.getByRole('button', { name: '1 new request' }).click();
  await page.locator('[aria-rowindex="2"]').getByText('demo-chat').waitFor();
});

it('adds new requests beside an open one when they are asked for', async () => {
  const { page, gateway, complaints } = await open({ screen, prepare: fillWithRequests });
  await page.locator('tbody a[data-request]').first().click();
  const panel = page.getByRole('complementary', { name: 'Request' });
  await panel.getByRole('tab', { name: 'Summary' }).waitFor();
  await gateway.client.chat.completions.create({ model: 'demo-chat', messages });
  const button = page.getByRole('button', { name: '1 new request' });
  await button.click();
  await page.locator('[aria-rowindex="2"]').getByText('demo-chat').waitFor();
  await button.waitFor({ state: 'detached' });
  await panel.getByRole('tab', { name: 'Summary' }).waitFor();
  expect(complaints).toEqual([]);
});

it('loads on by itself once the engine is back', async () => {
  const { page, stopEngine, startEngine } = await open({ screen, prepare: fillWithRequests });
  await page.locator('tbody tr').first().waitFor();
  await stopEngine();
  await page.getByText('Connection lost').waitFor();
  await page.getByLabel('Search requests').fill('rate limit');
  await page.locator('main').getByText('The engine is not responding.').waitFor();
  await startEngine();
  await page.getByText('24 requests, 24 failed.').waitFor();
  await page.locator('tbody tr').nth(5).getByText('429 error').waitFor();
});

it('names the times of a link, and takes a range instead', async () => {
  const sinceMs = new Date(2026, 10, 3, 9).getTime();
  const { page } = await open({ screen: `/requests?since=${sinceMs}` });
  const range = page.getByLabel('Time range', { exact: true });
  const chosen = () => range.evaluate((select: HTMLSelectElement) => select.selectedOptions[0]?.label);
  await expect.poll(chosen).toBe('Since 3 Nov, 09:00');
  await page.goto(page.url().replace(/#.*/, `#/requests?since=${sinceMs}&until=${sinceMs + 3_600_000}`));
  await expect.poll(chosen).toBe('3 Nov, 09:00 – 10:00');
  await range.selectOption('Last hour');
  await expect.poll(() => page.url()).toMatch(/requests\?range=1h$/);
  expect(await range.locator('option').allTextContents()).not.toContain('Since 3 Nov, 09:00');
});

it('keeps the requests that match the filter, which is in the address', async () => {
  const { page, complaints } = await open({ screen, config: { providers }, prepare: fillWithRequests });
  await page.getByLabel('Outcome', { exact: true }).selectOption('error');
  await expect.poll(() => page.url()).toContain('#/requests?outcome=error');
  await expect.poll(() => page.locator('tbody tr').first().textContent()).toContain('429 error');
  await expect.poll(() => page.getByText('200 ok').count()).toBe(0);
  await page.reload();
  await expect.poll(() => page.locator('tbody tr').first().textContent()).toContain('429 error');
  await page.getByLabel('Outcome', { exact: true }).selectOption('interrupted');
  await page.getByText('No matching requests').waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByText('200 ok').first().waitFor();
  expect(complaints).toEqual([]);
});

it.each(appearancesDownTo380)(
  'fits in $width px, $colorScheme, $locale, and axe finds nothing wrong',
  async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page, complaints } = await open({ screen, config: { providers }, context, prepare: fillWithRequests });
    await page.locator('tbody tr').first().waitFor();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await takePicture(page, `requests-${width}-${colorScheme}-${locale}`, { fullPage: false });
  },
);
