/** Searching, filtering, sorting, exporting and walking the list of requests, and capturing for some minutes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '../../server/database/database.ts';
import { createLedger } from '../../server/ledger/ledger.ts';
import { capturedExchange, finishedRow, rescuedRow, silent } from '../server/ledger/records.ts';
import { accessibilityFaults } from './accessibility.ts';
import { fillWithRequests } from './filled-ledger.ts';
import { openInSuite, overflowOf } from './window-suite.ts';

const open = openInSuite();
const screen = '/requests';
const messages = [{ role: 'user' as const, content: 'Hello' }];

/** The newest: a rescued stream, an expensive request of aider, and a captured one. */
function fillWithMarked(folder: string): void {
  fillWithRequests(folder);
  const database = openDatabase(join(folder, 'ledger.sqlite'));
  const ledger = createLedger({ database, log: silent });
  const startedAt = Date.now() - 500;
  ledger.finished(finishedRow('req_dear', { startedAt, client: 'aider/0.86', costUsd: 7, totalMs: 20 }));
  ledger.finished(finishedRow('req_kept', { startedAt, captured: 'group', costUsd: null }));
  ledger.capture('req_kept', capturedExchange('{"content":"write a sorting algorithm"}'));
  ledger.finished(rescuedRow('req_rescued', { startedAt, stream: true, firstByteMs: 100, totalMs: 2_100 }));
  ledger.close();
  database.close();
}

it('finds requests by text, counts them, and keeps search and filters in the address', async () => {
  const { page, complaints } = await open({ screen, prepare: fillWithMarked });
  const rows = page.locator('tbody tr');
  await page.getByText('603 requests, 24 failed.').waitFor();
  await page.getByLabel('Search requests').fill('sorting algorithm');
  await page.getByText('1 request, 0 failed.').waitFor();
  await expect.poll(() => page.locator('tbody a').getAttribute('data-request')).toBe('req_kept');
  expect(await page.getByLabel('Search requests').evaluate((box) => box === document.activeElement)).toBe(true);
  await page.getByLabel('Search requests').fill('rate limit');
  await page.getByText('24 requests, 24 failed.').waitFor();
  expect(page.url()).toContain('#/requests?q=rate+limit');
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByRole('button', { name: 'More filters' }).click();
  await page.getByLabel('Client').selectOption('aider/0.86');
  await page.getByText('1 request, 0 failed.').waitFor();
  expect(await rows.count()).toBe(1);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.reload();
  await page.getByText('1 request, 0 failed.').waitFor();
  expect(await page.getByLabel('Client').inputValue()).toBe('aider/0.86');
  await page.goBack();
  await page.getByText('603 requests, 24 failed.').waitFor();
  expect(complaints).toEqual([]);
});

it('marks a rescued stream in its row, and sorts by cost', async () => {
  const { page } = await open({ screen, prepare: fillWithMarked });
  const rescued = page.getByRole('row').filter({ has: page.locator('[data-request="req_rescued"]') });
  await rescued.getByRole('img', { name: '3 attempts: failed, failed, answered' }).waitFor();
  await rescued.getByRole('img', { name: 'streamed' }).waitFor();
  expect(await rescued.textContent()).toContain('100 ms2.1 s8');
  await page.getByLabel('Sort').selectOption('Most expensive first');
  await expect.poll(() => page.locator('tbody a').first().getAttribute('data-request')).toBe('req_dear');
  expect(page.url()).toContain('sort=-cost');
});

it('is one tab stop, through which keys lead, and Enter opens a request beside the list', async () => {
  const { page } = await open({ screen, prepare: fillWithMarked });
  await page.locator('tbody tr').first().waitFor();
  expect(await page.locator('tbody a[tabindex="0"]').count()).toBe(1);
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-request'));
  await page.locator('tbody a[tabindex="0"]').focus();
  await page.keyboard.press('ArrowDown');
  await expect.poll(focused).toBe('req_kept');
  await page.keyboard.press('j');
  await expect.poll(focused).toBe('req_dear');
  await page.keyboard.press('k');
  await expect.poll(focused).toBe('req_kept');
  await page.keyboard.press('End');
  // The last row is drawn first, and gets the focus then: until that, no row hears keys.
  await expect.poll(async () => ((await focused()) ?? 'req_kept') === 'req_kept').toBe(false);
  expect(await page.locator('tbody a[tabindex="0"]').count()).toBe(1);
  await page.keyboard.press('Home');
  await expect.poll(focused).toBe('req_rescued');
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Request' }).waitFor();
  await page.keyboard.press('j');
  await expect.poll(() => page.url()).toContain('#/requests/req_kept');
  expect(await page.locator('tbody a[aria-current="true"]').getAttribute('data-request')).toBe('req_kept');
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  await page.goBack();
  await expect.poll(() => page.url()).toMatch(/#\/requests$/);
});

it('exports what fits the filter', async () => {
  const { page, gateway } = await open({ screen: '/requests?client=aider%2F0.86', prepare: fillWithMarked });
  await page.getByText('1 request, 0 failed.').waitFor();
  await page.getByRole('button', { name: 'Export' }).click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'CSV (spreadsheet)' }).click();
  const download = await downloading;
  const file = join(gateway.folder, 'export.csv');
  await download.saveAs(file);
  const lines = readFileSync(file, 'utf8').trim().split('\r\n');
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain('req_dear');
  expect(download.suggestedFilename()).toBe('requests.csv');
});

it('remembers a filter by name', async () => {
  const { page } = await open({ screen: '/requests?outcome=failed', prepare: fillWithMarked });
  await page.getByText('24 requests, 24 failed.').waitFor();
  await page.getByRole('button', { name: 'Saved' }).click();
  await page.getByRole('menuitem', { name: 'Save this filter…' }).click();
  await page.getByLabel('Name').fill('Failures');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByText('603 requests, 24 failed.').waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Saved' }).click();
  await page.getByRole('menuitem', { name: 'Failures', exact: true }).click();
  await page.getByText('24 requests, 24 failed.').waitFor();
  expect(page.url()).toContain('outcome=failed');
});

it('captures all requests for ten minutes, shows it on every screen, and stops', async () => {
  const { page, gateway, complaints } = await open({ screen });
  await page.getByText('No requests yet').waitFor();
  await page.getByRole('button', { name: 'Capture', exact: true }).click();
  await page.getByRole('menuitem', { name: 'All requests' }).click();
  await page.getByText(/^Capturing: All requests · (10 min 0|9 min \d+) s left/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('link', { name: 'Keys' }).first().click();
  await page.getByRole('link', { name: 'Capturing' }).click();
  await gateway.client.chat.completions.create({ model: 'demo-chat', messages });
  const { requests } = await gateway.gateway.query({ type: 'requests' });
  expect(requests).toMatchObject([{ captured: 'timed' }]);
  await page.getByRole('button', { name: 'Stop capturing: All requests' }).click();
  await expect.poll(() => page.getByRole('link', { name: 'Capturing' }).count()).toBe(0);
  expect((await gateway.gateway.query({ type: 'status' })).capture).toEqual([]);
  expect(complaints).toEqual([]);
});
