/** Searching, filtering, sorting, exporting and navigating the list of requests, and capturing for some minutes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RequestRecord } from '../../server/contract/ledger.ts';
import { openLocalStore } from '../../server/store/local-store.ts';
import { openSqliteDatabase } from '../../server/store/sqlite/database.ts';
import { createLedger } from '../../server/store/sqlite/ledger.ts';
import type { StoreOptions } from '../../server/store/store.ts';
import {
  capturedExchange,
  finishedRow,
  rescuedRow,
  sessionMark,
  silent,
  startedRow,
} from '../server/store/sqlite/records.ts';
import { accessibilityFaults } from './accessibility.ts';
import { fillWithRequests } from './filled-ledger.ts';
import { expectFocus } from './person.ts';
import { oneOrAllAppearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();
const screen = '/requests';
const messages = [{ role: 'user' as const, content: 'Hello' }];

/** The newest requests: a rescued stream, and two of aider's versions: an expensive one and a captured one. */
function fillWithMarked(folder: string): void {
  fillWithRequests(folder);
  const startedAt = Date.now() - 500;
  fillWith(
    folder,
    finishedRow('req_dear', { startedAt, client: 'aider/0.86', costUsd: 7, totalMs: 20 }),
    finishedRow('req_kept', { startedAt, client: 'aider/0.87 (x)', captured: 'group', costUsd: null }),
    rescuedRow('req_rescued', { startedAt, stream: true, firstByteMs: 100, totalMs: 2_100 }),
  );
}

function fillWith(folder: string, ...records: RequestRecord[]): void {
  fillWithCaptured(folder, records, { req_kept: '{"content":"write a sorting algorithm"}' });
}

/** `bodies`: those of captured requests, by their ids. */
function fillWithCaptured(folder: string, records: RequestRecord[], bodies: Record<string, string>): void {
  const database = openSqliteDatabase(join(folder, 'ledger.sqlite'));
  const ledger = createLedger({ database, log: silent });
  for (const record of records) ledger.finished(record);
  for (const [id, body] of Object.entries(bodies)) ledger.capture(id, capturedExchange(body));
  ledger.close();
  database.close();
}

it('finds requests by text, counts them, and keeps search and filters in the address', async () => {
  const { page, complaints } = await open({ screen, prepare: fillWithMarked });
  const rows = page.locator('tbody tr');
  await page.getByText('603 requests, 24 failed.').waitFor();
  await page.getByLabel('Search requests').fill('sorting algorithm');
  await page.getByText('1 request, 0 failed.').waitFor();
  await expect.poll(() => page.locator('tbody a[data-request]').getAttribute('data-request')).toBe('req_kept');
  expect(await page.getByLabel('Search requests').evaluate((box) => box === document.activeElement)).toBe(true);
  await page.getByLabel('Search requests').fill('rate limit');
  await page.getByText('24 requests, 24 failed.').waitFor();
  expect(page.url()).toContain('#/requests?q=rate+limit');
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByRole('button', { name: 'More filters' }).click();
  await page.getByLabel('Client', { exact: true }).selectOption('aider');
  await page.getByText('2 requests, 0 failed.').waitFor();
  expect(await rows.count()).toBe(2);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.reload();
  await page.getByText('2 requests, 0 failed.').waitFor();
  await page.getByRole('button', { name: 'Remove filter Client: aider' }).waitFor();
  await page.goBack();
  await page.getByText('603 requests, 24 failed.').waitFor();
  expect(complaints).toEqual([]);
});

it('says which client asked, leaves the title its room, and is filtered by a click on a name', async () => {
  const { page, complaints } = await open({ screen, prepare: fillWithMarked });
  const dear = page.getByRole('row').filter({ has: page.locator('[data-request="req_dear"]') });
  const title = dear.getByRole('cell').nth(2);
  await title.waitFor();
  expect((await title.boundingBox())?.width).toBeGreaterThanOrEqual(260);
  const chips = page.getByRole('list', { name: 'Filters' }).getByRole('button');
  const conditions = [
    ['Client: aider', 'client=aider'],
    ['Model: fast', 'model=fast'],
    ['Provider: main', 'provider=main'],
  ] as const;
  for (const [condition, written] of conditions) {
    await dear.getByRole('link', { name: `Only ${condition}`, exact: true }).click();
    await expect.poll(() => chips.allInnerTexts()).toEqual([condition]);
    expect(page.url()).toContain(written);
    await dear.waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await chips.first().click();
    await page.getByText('603 requests, 24 failed.').waitFor();
  }
  // Beside a name, the row leads to its request.
  const beside = await dear.getByRole('cell', { name: '20 ms' }).boundingBox();
  await page.mouse.click((beside?.x ?? 0) + 5, (beside?.y ?? 0) + 10);
  await page
    .getByRole('complementary', { name: 'Request' })
    .getByText('fast → gpt-x via main · aider · key “first”')
    .waitFor();
  expect(complaints).toEqual([]);
});

it('takes conditions that are written, completes them, and shows each as a chip that the keyboard removes', async () => {
  const { page, complaints } = await open({ screen, prepare: fillWithMarked });
  const box = page.getByLabel('Search requests');
  const chips = page.getByRole('list', { name: 'Filters' }).getByRole('button');
  await page.getByText('603 requests, 24 failed.').waitFor();
  await box.pressSequentially('cli');
  await page.getByRole('option', { name: 'client:' }).click();
  await box.pressSequentially('aid');
  await page.getByRole('option', { name: 'client:aider' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await box.press('ArrowDown');
  await box.press('Enter');
  await page.getByText('2 requests, 0 failed.').waitFor();
  expect(await box.inputValue()).toBe('');
  await box.pressSequentially('status:>=100 duration:>1h ');
  await page.getByText('“duration:>1h” is no condition').waitFor();
  await box.fill('status:>=100 ');
  await expect.poll(() => chips.allInnerTexts()).toEqual(['Client: aider', 'Status: >=100']);
  expect(page.url()).toContain('status=%3E%3D100');
  expect(await accessibilityFaults(page)).toEqual([]);
  await takePicture(page, 'gallery/filter-chips');
  await page.reload();
  await expect.poll(() => chips.allInnerTexts()).toEqual(['Client: aider', 'Status: >=100']);
  await box.press('Backspace');
  await expect.poll(() => chips.allInnerTexts()).toEqual(['Client: aider']);
  await chips.first().press('Delete');
  await page.getByText('603 requests, 24 failed.').waitFor();
  expect(await box.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.locator('tbody tr').first().click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Only Model: fast' }).waitFor();
  await takePicture(page, 'gallery/row-menu');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('menuitem', { name: 'Only Model: fast' }).click();
  await expect.poll(() => chips.allInnerTexts()).toEqual(['Model: fast']);
  await chips.first().click();
  await page.getByText('603 requests, 24 failed.').waitFor();
  await box.fill('status:>=400 rate limit');
  await box.press('Enter');
  await page.getByText('24 requests, 24 failed.').waitFor();
  expect(await box.inputValue()).toBe('rate limit');
  expect(complaints).toEqual([]);
});

it('says while its search is being repaired how much of it is, and lists what is found once all of it is', async () => {
  let repairedPercent: number | null = 42;
  const openStore = (options: StoreOptions) => {
    const store = openLocalStore(options);
    const listRequests = store.ledger.listRequests.bind(store.ledger);
    store.ledger.listRequests = async (filter) => {
      const page = await listRequests(filter);
      if (filter.search === undefined || repairedPercent === null) return page;
      return { ...page, requests: [], next: null, repairedPercent };
    };
    return store;
  };
  const { page, complaints } = await open({ screen, prepare: fillWithMarked, ports: { openStore } });
  const note = page.getByRole('status').filter({ hasText: 'Search is being repaired' });
  await page.getByText('603 requests, 24 failed.').waitFor();
  expect(await note.count()).toBe(0);
  await page.getByLabel('Search requests').fill('sorting algorithm');
  await note.filter({ hasText: 'Search is being repaired, 42 %: older requests may be missing.' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  repairedPercent = 99;
  await note.filter({ hasText: 'being repaired, 99 %' }).waitFor();
  await page.getByText('No matching requests so far').waitFor();
  expect(await page.locator('tbody a[data-request]').count()).toBe(0);
  repairedPercent = null;
  await expect.poll(() => page.locator('tbody a[data-request]').getAttribute('data-request')).toBe('req_kept');
  expect(await note.count()).toBe(0);
  expect(complaints).toEqual([]);
});

it('marks what a hard budget reserved in rows, details and sessions, also of a request that was interrupted', async () => {
  const session = sessionMark('ses_0000000000000001', { step: 'prompt', thread: 'aaaaaaaa' });
  const reserved = { usage: { inputTokens: 1_000, outputTokens: 4_096 }, costUsd: 0.5 };
  const fillWithReserved = (folder: string) => {
    const database = openSqliteDatabase(join(folder, 'ledger.sqlite'));
    const ledger = createLedger({ database, log: silent });
    const startedAt = Date.now() - 500;
    ledger.started(startedRow('req_killed', { startedAt, session }), reserved);
    const [attempt] = rescuedRow('req_cut').attempts;
    const cut = { ...reserved, usageCertainty: 'reserved' } as const;
    const attempts = attempt ? [attempt, { ...attempt, ...cut }] : [];
    ledger.finished(finishedRow('req_cut', { startedAt, session, outcome: 'stream-broken', ...cut, attempts }));
    ledger.close();
    database.close();
  };
  const { page, gateway, complaints } = await open({ screen, prepare: fillWithReserved });
  const why = /^The provider did not report it\. Because a hard budget applies/;
  for (const [id, duration] of [
    ['req_killed', '–'],
    ['req_cut', '20 ms'],
  ]) {
    const row = page.getByRole('row').filter({ has: page.locator(`[data-request="${id}"]`) });
    await row.getByRole('cell', { name: '≈5,096' }).waitFor();
    expect(await row.getByRole('cell', { name: '≈$0.50' }).getAttribute('title')).toMatch(why);
    expect(await row.getByRole('cell').nth(6).textContent()).toBe(duration);
    await row.locator(`[data-request="${id}"]`).click();
    const panel = page.getByRole('complementary', { name: 'Request' });
    await panel.getByText(why).waitFor();
    await panel.getByText('4,096', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
  }
  await page.locator('[data-request="req_cut"]').click();
  await page.getByRole('tab', { name: 'Attempts' }).click();
  await page.getByText('as reserved', { exact: true }).waitFor();
  await page.goto(`${gateway.origin}/#/sessions/${session.id}`);
  const turn = page.getByRole('table');
  await expect.poll(() => turn.getByRole('cell', { name: '≈$0.50' }).count()).toBe(2);
  expect(await turn.getByRole('cell', { name: '≈4.1K' }).first().getAttribute('title')).toMatch(why);
  expect(complaints).toEqual([]);
});

it('marks a rescued stream in its row', async () => {
  const { page } = await open({ screen, prepare: fillWithMarked });
  const rescued = page.getByRole('row').filter({ has: page.locator('[data-request="req_rescued"]') });
  await rescued.getByRole('img', { name: '3 attempts: failed, failed, answered' }).waitFor();
  await rescued.getByRole('img', { name: 'streamed' }).waitFor();
  expect(await rescued.textContent()).toContain('p22.1 s≈57');
});

it('says that only the first are listed where more are sorted', async () => {
  const { page } = await open({ screen: '/requests?sort=-duration', prepare: fillWithRequests });
  await page
    .getByText('600 requests, 24 failed. The first 500 are listed. Search or filter to find the others.')
    .waitFor();
  await page.getByLabel('Search requests').fill('gpt-1');
  await expect.poll(() => page.getByText('The first 500 are listed').count()).toBe(0);
});

it('is sorted by the heads of its columns, which say so, keep the focus, and write it into the address', async () => {
  const { page, complaints } = await open({ screen, prepare: fillWithMarked });
  const first = () => page.locator('tbody a[data-request]').first().getAttribute('data-request');
  const head = (name: string) => page.getByRole('columnheader', { name });
  await expect.poll(first).toBe('req_rescued');
  expect(await head('Time').getAttribute('aria-sort')).toBe('descending');
  expect(await head('Model').getByRole('button').count()).toBe(0);
  expect(await page.getByLabel('Sort').count()).toBe(0);
  const cost = head('Cost').getByRole('button');
  await cost.focus();
  await page.keyboard.press('Enter');
  await expect.poll(first).toBe('req_dear');
  expect(page.url()).toMatch(/\?sort=-cost$/);
  await expectFocus(cost);
  expect(await head('Cost').getAttribute('aria-sort')).toBe('descending');
  expect(await head('Time').getAttribute('aria-sort')).toBe(null);
  await page.keyboard.press('Enter');
  await expect.poll(() => head('Cost').getAttribute('aria-sort')).toBe('ascending');
  expect(page.url()).toMatch(/\?sort=cost$/);
  await page.locator('tbody a[data-request]').first().waitFor();
  expect(await first()).not.toBe('req_dear');
  expect(await accessibilityFaults(page)).toEqual([]);
  await head('Time').getByRole('button').click();
  await expect.poll(() => page.url()).toMatch(/#\/requests$/);
  await expect.poll(first).toBe('req_rescued');
  expect(complaints).toEqual([]);
});

it('has the columns that a person chooses, in the order of the keyboard or pointer, and remembers them', async () => {
  const { page, complaints } = await open({ screen, prepare: fillWithMarked });
  const heads = () => page.getByRole('columnheader').allInnerTexts();
  const usual = 'Status Time Request Model Client Provider Duration Tokens Cost';
  await expect.poll(async () => (await heads()).join(' ')).toBe(usual);
  const button = page.getByRole('button', { name: 'Columns' });
  await button.focus();
  await page.keyboard.press('Enter');
  const choice = page.getByRole('dialog', { name: 'Columns' });
  await choice.getByRole('checkbox', { name: 'Provider' }).uncheck();
  await choice.getByRole('checkbox', { name: 'Key' }).check();
  expect(await choice.getByRole('checkbox', { name: 'Request' }).isDisabled()).toBe(true);
  await choice.getByRole('button', { name: 'Move Cost' }).focus();
  await page.keyboard.press('Space');
  const said = page.locator('[aria-live="assertive"]').filter({ hasText: /Cost/ });
  for (const place of [13, 12, 11]) {
    await said.filter({ hasText: `position ${place}` }).waitFor();
    if (place > 11) await page.keyboard.press('ArrowUp');
  }
  await page.keyboard.press('Space');
  const chosen = 'Status Time Request Model Client Key Duration Cost Tokens';
  await expect.poll(async () => (await heads()).join(' ')).toBe(chosen);
  await takePicture(page, 'gallery/columns');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await choice.waitFor({ state: 'detached' });
  await expectFocus(button);
  await page.reload();
  const dear = page.getByRole('row').filter({ has: page.locator('[data-request="req_dear"]') });
  await dear.getByRole('cell', { name: 'aider' }).waitFor();
  expect((await heads()).join(' ')).toBe(chosen);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  // Rows of two lines have what they have room for.
  await page.setViewportSize({ width: 420, height: 800 });
  await expect.poll(async () => (await heads()).join(' ')).toBe('Status Model Duration Time Request Cost');
  await page.setViewportSize({ width: 1280, height: 800 });
  await button.click();
  await choice.getByRole('button', { name: 'Usual columns' }).click();
  await expect.poll(async () => (await heads()).join(' ')).toBe(usual);
  expect(complaints).toEqual([]);
});

for (const { width, colorScheme, locale } of oneOrAllAppearances) {
  it(`compares two requests that keys, checkboxes or Shift select, in ${width} px, ${colorScheme}, ${locale}`, async () => {
    const filler = Array.from({ length: 12 }, (_, at) => ({ role: 'user', content: `Message ${at}` }));
    const body = (content: string) => JSON.stringify({ model: 'm', messages: [...filler, { role: 'user', content }] });
    const at = Date.now();
    const records = [
      finishedRow('req_bare', { startedAt: at - 2_000 }),
      finishedRow('req_a', { startedAt: at - 1_000, captured: 'group', costUsd: 1 }),
      finishedRow('req_b', { startedAt: at - 500, captured: 'group', costUsd: 2 }),
    ];
    const bodies = { req_a: body('Sort it by bubbles'), req_b: body('Sort it by heaps') };
    const fill = (folder: string) => fillWithCaptured(folder, records, bodies);
    const { page, complaints } = await open({
      screen,
      prepare: fill,
      context: { viewport: { width, height: 800 }, colorScheme, locale },
    });
    const isEnglish = locale === 'en-GB';
    const link = (id: string) => page.locator(`a[data-request="${id}"]`);
    await link('req_b').focus();
    await page.keyboard.press('x');
    await page.getByText(isEnglish ? '1 selected. Select another.' : '已选择 1 个，请再选一个。').waitFor();
    const box = page
      .getByRole('row')
      .filter({ has: link('req_bare') })
      .getByRole('checkbox');
    await box.check();
    await box.uncheck();
    await link('req_a').click({ modifiers: ['Shift'] });
    expect(await accessibilityFaults(page)).toEqual([]);
    await takePicture(page, `gallery/picked-${width}-${colorScheme}-${locale}`);
    await link('req_a').focus();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: isEnglish ? 'Two requests compared' : '比较两个请求' });
    // The earlier one is on the left, and only what differs is marked.
    await expect.poll(() => dialog.locator('del').allInnerTexts()).toEqual(['bubbles']);
    expect(await dialog.locator('ins').allInnerTexts()).toEqual(['heaps']);
    await dialog
      .getByText(isEnglish ? /lines in common/ : /行相同/)
      .first()
      .waitFor();
    await dialog.getByRole('row', { name: /\$1\.00 .*\$2\.00/ }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    await takePicture(page, `gallery/request-diff-${width}-${colorScheme}-${locale}`);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expectFocus(link('req_a'));
    // A third takes the place of the first; what was not captured says why.
    await link('req_bare').focus();
    await page.keyboard.press('x');
    await page.getByRole('button', { name: isEnglish ? 'Compare' : '比较', exact: true }).click();
    await dialog.getByText(isEnglish ? /^Earlier: .*[Cc]apture/ : /^较早：.*捕获/).waitFor();
    // Whatever changes the address closes it, the selection stays.
    await page.evaluate((hash) => location.assign(hash), '#/requests?range=week');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: isEnglish ? 'Clear' : '清除', exact: true }).click();
    expect(complaints).toEqual([]);
  });
}

it('says status, model, time, duration and cost in 420 px, and is sorted by a choice there', async () => {
  const context = { viewport: { width: 420, height: 800 } };
  const { page } = await open({ screen, prepare: fillWithMarked, context });
  expect(await page.getByRole('columnheader').getByRole('button').count()).toBe(0);
  await page.getByLabel('Sort').selectOption('Most expensive first');
  const row = page.getByRole('row').filter({ has: page.locator('[data-request="req_dear"]') });
  await row.waitFor();
  expect(page.url()).toMatch(/\?sort=-cost$/);
  for (const text of ['200 ok', 'fast', '20 ms', '$7.00']) {
    const box = await row.getByText(text, { exact: true }).last().boundingBox();
    expect((box?.x ?? 420) + (box?.width ?? 0)).toBeLessThan(420);
  }
  await row.getByText(/\d\d:\d\d:\d\d/).waitFor();
  await page.getByLabel('Sort').selectOption('Least expensive first');
  await expect.poll(() => page.url()).toMatch(/\?sort=cost$/);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
});

it('shows the names of provider, model and client whole in 1280 px', async () => {
  const prepare = (folder: string) =>
    fillWith(folder, finishedRow('req_1', { provider: 'bedrock', client: 'claude-cli/2', modelAsked: 'demo-chat' }));
  const providers = [{ id: 'bedrock', name: 'Amazon Bedrock', baseUrl: 'http://127.0.0.1:9/v1', enabled: false }];
  const { page } = await open({ screen, prepare, config: { providers } });
  // Until the layout of the previous page's width has been replaced, texts are measured in its columns.
  for (const name of ['Amazon Bedrock', 'Claude Code', 'demo-chat', '/chat/completions']) {
    const cell = page.locator('tbody').getByText(name, { exact: true });
    await expect.poll(() => cell.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  }
});

it('is a single tab stop in which keys move, and Enter opens a request beside the list', async () => {
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
  // The last row is rendered first and then gets the focus. Until then, no row handles keys.
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

it('shows the row of a request that a link opens, however far back, or says why it has none and leads to it', async () => {
  const fill = (folder: string) => {
    const longAgo = Date.now() - 30 * 3_600_000;
    const old = (at: number) => finishedRow(`req_old_${at}`, { startedAt: longAgo + at });
    fillWith(folder, ...Array.from({ length: 1_400 }, (_, at) => old(at)));
    fillWithRequests(folder);
  };
  const far = 'req_0000000000000000000000000000000a';
  const { page, gateway, complaints } = await open({ screen: `/requests/${far}`, prepare: fill });
  const current = page.locator('tbody a[aria-current="true"]');
  const previous = page.getByRole('button', { name: 'Previous request' });
  const isRowInSight = async (id: string) => {
    await expect.poll(() => current.getAttribute('data-request')).toBe(id);
    await expect.poll(() => current.evaluate((row) => row.getBoundingClientRect().top)).toBeGreaterThan(100);
  };
  await isRowInSight(far);
  expect(await previous.isEnabled()).toBe(true);
  const go = (address: string) => page.goto(`${gateway.origin}/#${address}`);
  // Its status does not match.
  await go(`/requests/${far}?outcome=failed`);
  await page.getByText('The open request does not match this list.').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Show it in the list' }).click();
  await isRowInSight(far);
  expect(page.url()).not.toContain('outcome=');
  // Further back than five pages.
  await go('/requests/req_old_100');
  await page.getByText('The open request is further back than this list goes so far.').waitFor();
  await page.getByRole('button', { name: 'Show it in the list' }).click();
  await isRowInSight('req_old_100');
  expect(page.url()).toContain('until=');
  expect(await page.getByText('The open request').count()).toBe(0);
  expect(complaints).toEqual([]);
});

it('shows how captured requests begin, and the path of the others', async () => {
  const startedAt = Date.now();
  const records = ['req_said', 'req_tool', 'req_plain'].map((id, index) =>
    finishedRow(id, { startedAt: startedAt - index, captured: id === 'req_plain' ? null : 'group' }),
  );
  const call = { id: 'c1', type: 'function', function: { name: 'read', arguments: '{"path":"gate.md"}' } };
  const said = (...all: object[]) => JSON.stringify({ model: 'fast', messages: all });
  const bodies = {
    req_said: said({ role: 'user', content: 'Water the plants,\nall of them' }),
    req_tool: said({ role: 'assistant', tool_calls: [call] }, { role: 'tool', tool_call_id: 'c1', content: 'x' }),
  };
  const { page, complaints } = await open({
    screen,
    prepare: (folder) => fillWithCaptured(folder, records, bodies),
  });
  const route = 'POST /v1/chat/completions';
  await page.getByRole('link', { name: `Water the plants, all of them (${route})`, exact: true }).waitFor();
  await page.getByRole('link', { name: `read gate.md (${route})`, exact: true }).waitFor();
  expect(await page.locator('[data-request="req_plain"]').innerText()).toBe('/chat/completions');
  expect(await accessibilityFaults(page)).toEqual([]);
  await takePicture(page, 'gallery/first-words');
  expect(complaints).toEqual([]);
});

it('has its filters behind one button in 420 px, which says how many are set', async () => {
  const context = { viewport: { width: 420, height: 800 } };
  const { page, complaints } = await open({ screen: '/requests?outcome=failed', prepare: fillWithMarked, context });
  const top = async () => (await page.getByRole('table').boundingBox())?.y ?? 800;
  await page.getByText('24 requests, 24 failed.').waitFor();
  const folded = await top();
  // The bar of the window, the heading, the search with the button, and the summary.
  expect(folded).toBeLessThan(200);
  await page.getByRole('button', { name: 'Filters (1)' }).click();
  await page.getByRole('combobox', { name: 'Provider' }).waitFor();
  expect(await top()).toBeGreaterThan(folded + 100);
  expect(await accessibilityFaults(page)).toEqual([]);
  await takePicture(page, 'gallery/filters-open-420');
  await page.getByRole('button', { name: 'Export' }).waitFor();
  await page.getByRole('button', { name: 'Hide filters' }).click();
  await takePicture(page, 'gallery/filters-folded-420');
  await page.getByRole('button', { name: 'Filters (1)' }).click();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByRole('button', { name: 'Hide filters' }).click();
  await page.getByRole('button', { name: 'Filters', exact: true }).waitFor();
  expect(await page.getByRole('combobox', { name: 'Provider' }).count()).toBe(0);
  expect(complaints).toEqual([]);
});

for (const { width, colorScheme, locale } of oneOrAllAppearances) {
  it(`pins a request with a note, which is found again, in ${width} px, ${colorScheme}, ${locale}`, async () => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page, gateway, complaints } = await open({
      screen: '/requests/req_dear',
      prepare: fillWithMarked,
      context,
    });
    const isEnglish = locale === 'en-GB';
    const button = (english: string, chinese: string) =>
      page.getByRole('button', { name: isEnglish ? english : chinese, exact: true });
    await button('Pin', '固定').click();
    await button('Add a note', '添加备注').click();
    await page.getByLabel(isEnglish ? 'Note' : '备注', { exact: true }).fill('The dear one, ask again');
    expect(await accessibilityFaults(page)).toEqual([]);
    await button('Save', '保存').click();
    await page.getByText('The dear one, ask again').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    await takePicture(page, `gallery/pinned-${width}-${colorScheme}-${locale}`);
    await page.keyboard.press('Escape');
    const dear = page.getByRole('row').filter({ has: page.locator('[data-request="req_dear"]') });
    const mark = page.getByRole('img', { name: isEnglish ? 'Pinned' : '已固定', exact: true });
    await dear.and(page.getByRole('row').filter({ has: mark })).waitFor();
    expect(await mark.count()).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    // As another window or the command line does.
    await gateway.gateway.execute({ type: 'request.pin', id: 'req_kept' });
    await expect.poll(() => mark.count()).toBe(2);
    await gateway.gateway.execute({ type: 'request.unpin', id: 'req_kept' });
    await expect.poll(() => mark.count()).toBe(1);
    await takePicture(page, `gallery/pinned-row-${width}-${colorScheme}-${locale}`);
    const box = page.getByRole('combobox').first();
    await box.fill('is:pinned ask AGAIN');
    await box.press('Enter');
    const rows = page.locator('tbody a[data-request]');
    await expect
      .poll(() => rows.evaluateAll((all) => all.map((row) => row.getAttribute('data-request'))))
      .toEqual(['req_dear']);
    expect(page.url()).toMatch(/is=pinned/);
    await gateway.gateway.execute({ type: 'request.pin', id: 'req_kept', note: 'ask again too' });
    await expect.poll(() => rows.count()).toBe(2);
    await gateway.gateway.execute({ type: 'request.unpin', id: 'req_kept' });
    await expect.poll(() => rows.count()).toBe(1);
    await rows.first().click();
    await page.getByText('The dear one, ask again').waitFor();
    await button('Unpin', '取消固定').click();
    await expect.poll(() => page.getByText('The dear one, ask again').count()).toBe(0);
    await page.keyboard.press('Escape');
    await expect.poll(() => rows.count()).toBe(0);
    expect(complaints).toEqual([]);
  });
}

it('exports the requests that match the filter', async () => {
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

it('remembers a filter and its columns by name', async () => {
  const { page } = await open({ screen: '/requests?outcome=failed', prepare: fillWithMarked });
  await page.getByText('24 requests, 24 failed.').waitFor();
  const heads = () => page.getByRole('columnheader').allInnerTexts();
  const usual = await heads();
  const setGroup = async () => {
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('dialog', { name: 'Columns' }).getByRole('checkbox', { name: 'Group' }).click();
    await page.keyboard.press('Escape');
  };
  await setGroup();
  await expect.poll(heads).toContain('Group');
  await page.getByRole('button', { name: 'Saved' }).click();
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save this view' });
  await dialog.getByLabel('Name').fill('Failures');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByText('603 requests, 24 failed.').waitFor();
  await setGroup();
  await expect.poll(heads).toEqual(usual);
  await page.reload();
  await page.getByRole('button', { name: 'Saved' }).click();
  await page.getByRole('menuitem', { name: 'Failures', exact: true }).click();
  await page.getByText('24 requests, 24 failed.').waitFor();
  expect(page.url()).toContain('outcome=failed');
  expect(await heads()).toContain('Group');
});

it('captures the next request by one click', async () => {
  const { page, gateway } = await open({ screen });
  await page.getByText('No requests yet').waitFor();
  await page.getByRole('button', { name: 'Capture', exact: true }).click();
  await page.getByRole('menuitem', { name: 'The next request' }).click();
  await page.getByText(/^Capturing: The next request/).waitFor();
  for (let count = 0; count < 2; count++)
    await gateway.client.chat.completions.create({ model: 'demo-chat', messages });
  const { requests } = await gateway.gateway.query({ type: 'requests' });
  expect(requests.map(({ captured }) => captured)).toEqual([null, 'timed']);
  await expect.poll(() => page.getByText(/^Capturing:/).count()).toBe(0);
});

it('captures all requests for ten minutes, shows it on every screen, and stops', async () => {
  const { page, gateway, complaints } = await open({ screen });
  await page.getByText('No requests yet').waitFor();
  await page.getByRole('button', { name: 'Capture', exact: true }).click();
  await page.getByRole('menuitem', { name: 'All requests' }).click();
  await page.getByText(/^Capturing: All requests · (10 min 0|9 min \d+) s left/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('link', { name: 'Access' }).first().click();
  await page.getByRole('link', { name: 'Capturing' }).click();
  await gateway.client.chat.completions.create({ model: 'demo-chat', messages });
  const { requests } = await gateway.gateway.query({ type: 'requests' });
  expect(requests).toMatchObject([{ captured: 'timed' }]);
  await page.getByRole('button', { name: 'Stop capturing: All requests' }).click();
  await expect.poll(() => page.getByRole('link', { name: 'Capturing' }).count()).toBe(0);
  expect((await gateway.gateway.query({ type: 'status' })).capture).toEqual([]);
  expect(complaints).toEqual([]);
});
