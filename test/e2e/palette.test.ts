/**
 * The window used with the keyboard alone: command palette, shortcuts and skip links.
 *
 * @suite long
 */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { accessibilityFaults } from './accessibility.ts';
import { fillWithRequests } from './filled-ledger.ts';
import { expectFocus } from './person.ts';
import { appearances, createKeptKey, openInSuite, overflowOf, ownClipboard, takePicture } from './window-suite.ts';

const open = openInSuite();
const config = {
  providers: [
    { id: 'alpha', name: 'Alpha', baseUrl: 'http://127.0.0.1:9/v1', models: ['gpt-a'] },
    { id: 'beta', name: 'Beta', baseUrl: 'http://127.0.0.1:9/v1', models: ['gpt-b'] },
  ],
  settings: { demo: 'on' as const },
};

const fieldOf = (page: Page) => page.getByRole('combobox', { name: 'Command palette' });
const headingOf = (page: Page, name: string) => page.getByRole('heading', { name, level: 1, exact: true });

/** Opens the palette, and waits until the active option is the wanted one. */
async function find(page: Page, search: string, option: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await expectFocus(fieldOf(page));
  await page.keyboard.type(search);
  await expect.poll(() => activeOption(page)).toBe(option);
}

async function runCommand(page: Page, search: string, option: string): Promise<void> {
  await find(page, search, option);
  await page.keyboard.press('Enter');
  await fieldOf(page).waitFor({ state: 'detached' });
}

/** As assistive technology identifies it. */
async function activeOption(page: Page): Promise<string | null> {
  const id = await fieldOf(page).getAttribute('aria-activedescendant');
  const option = page.locator(`[role="option"][aria-selected="true"][id="${id}"]`);
  return (await option.count()) === 1 ? option.locator('span').first().textContent() : null;
}

it('is used by keyboard alone, from load to a request and back', async () => {
  const { page, complaints } = await open({ config, prepare: fillWithRequests });
  await headingOf(page, 'Home').waitFor();
  await page.keyboard.press('Tab');
  await expectFocus(page.getByRole('button', { name: 'Skip to content' }));
  await page.keyboard.press('Enter');
  await expectFocus(page.getByRole('main'));

  await runCommand(page, 'provid', 'Providers');
  await expectFocus(headingOf(page, 'Providers'));
  const power = page.getByRole('switch', { name: 'Use provider Alpha' });
  await runCommand(page, 'off alpha', 'Turn off Alpha');
  await expect.poll(() => power.isChecked()).toBe(false);
  await page.getByText('Alpha is off.').waitFor();
  await runCommand(page, 'on alpha', 'Turn on Alpha');
  await expect.poll(() => power.isChecked()).toBe(true);
  await expectFocus(headingOf(page, 'Providers'));

  await runCommand(page, 'requests', 'Requests');
  await page.locator('tbody tr').first().waitFor();
  await page.keyboard.press('/');
  await expectFocus(page.getByLabel('Search requests'));
  await page.keyboard.type('?/');
  expect(await page.getByLabel('Search requests').inputValue()).toBe('?/');
  expect(await page.getByRole('dialog').count()).toBe(0);

  await page.keyboard.press('Escape');

  await runCommand(page, requestId(598), `Open request ${requestId(598)}`);
  const panel = page.getByRole('complementary', { name: 'Request' });
  await expect.poll(() => page.url()).toContain(requestId(598));
  await panel.getByText('POST /v1/chat/completions').first().waitFor();
  await page.keyboard.press('j');
  await expect.poll(() => page.url()).toContain(requestId(597));
  await page.keyboard.press('k');
  await expect.poll(() => page.url()).toContain(requestId(598));
  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await sheet.getByText('Next request').first().waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await fieldOf(page).waitFor();
  await page.keyboard.press('Escape');
  await fieldOf(page).waitFor({ state: 'detached' });
  expect(page.url()).toContain(requestId(598));
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

describe('the command palette', () => {
  it('opens by its button, leads through its options by the arrows, and gives the focus back', async () => {
    const { page } = await open({ config, screen: '/keys' });
    const button = page.getByRole('button', { name: 'Search or jump to…' });
    await button.click();
    await expectFocus(fieldOf(page));
    expect(await activeOption(page)).toBe('Home');
    await page.keyboard.press('ArrowDown');
    expect(await activeOption(page)).toBe('Requests');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await activeOption(page)).toBe('Copy base URL');
    await page.keyboard.press('Escape');
    await expectFocus(button);
  });

  it('keeps the focus when a screen arrives below it, which gets the focus afterwards', async () => {
    const { page } = await open({ config, screen: '/keys' });
    await page.keyboard.press('Control+k');
    await expectFocus(fieldOf(page));
    await page.evaluate(() => location.assign('#/groups'));
    await headingOf(page, 'Groups').waitFor();
    await expectFocus(fieldOf(page));
    await page.keyboard.press('Escape');
    await expectFocus(headingOf(page, 'Groups'));
  });

  it('shows what was used last first, also after a reload', async () => {
    const { page } = await open({ config });
    await runCommand(page, 'beta', 'Beta');
    await headingOf(page, 'Beta').waitFor();
    await page.reload();
    await headingOf(page, 'Beta').waitFor();
    await find(page, '', 'Beta');
    await page.getByRole('group', { name: 'Recent' }).getByRole('option', { name: 'Beta' }).waitFor();
  });

  it.each([
    ['prices', 'Prices', '#/settings?section=prices'],
    ['keep captured', 'Keep captured bodies', '#/settings?section=records&level=advanced'],
    ['heartbeat', 'Keep-alive comments', '#/settings?section=serving&level=advanced'],
    ['test alpha', 'Test Alpha', '#/providers/alpha?test'],
    ['claude code', 'Connect Claude Code', '#/connect/claude-code'],
    ['new group', 'New group…', '#/groups?new'],
    ['invite', 'Invite people…', '#/settings?section=team'],
    ['traffic', 'Requests', '#/requests'],
  ])('knew no act, setting or client for “%s”', async (search, option, address) => {
    const { page } = await open({ config });
    await runCommand(page, search, option);
    await expect.poll(() => new URL(page.url()).hash).toBe(address);
  });

  it('finds a language by what it is called in the other one, and captures for ten minutes', async () => {
    const { page } = await open({ config });
    await runCommand(page, 'capture all', 'Capture all requests for 10 minutes');
    await page.getByRole('link', { name: 'Capturing' }).waitFor();
    await runCommand(page, 'stop capturing', 'Stop capturing');
    await page.getByRole('link', { name: 'Capturing' }).waitFor({ state: 'detached' });
    await runCommand(page, 'chinese', 'Language: 简体中文');
    await headingOf(page, '首页').waitFor();
  });

  it.each([
    ['alpha', 'Alpha', '#/providers/alpha'],
    ['default', 'default', '#/groups/default'],
    ['gpt-b', 'gpt-b', '#/models?model=gpt-b'],
    ['rate limit', 'Search requests for “rate limit”', '#/requests?q=rate+limit'],
  ])('opens by %s “%s”', async (search, option, address) => {
    const { page } = await open({ config });
    await runCommand(page, search, option);
    await expect.poll(() => new URL(page.url()).hash).toBe(address);
  });

  it('copies the base URL and the secret of a key that is kept, and says why it cannot copy another', async () => {
    const window = await open({ config });
    const { page, gateway, complaints } = window;
    await ownClipboard(page);
    const secret = await createKeptKey(window, 'Editor');
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await runCommand(page, 'base url', 'Copy base URL');
    await page.getByText('Base URL copied.').waitFor();
    expect(await copied()).toBe(gateway.baseUrl);
    await runCommand(page, 'copy editor', 'Copy secret of Editor');
    await page.getByText('Secret of Editor copied.').waitFor();
    expect(await copied()).toBe(secret);
    await find(page, 'copy first', 'Copy secret of first');
    await page.getByRole('option', { disabled: true }).getByText('Not kept').waitFor();
    await page.keyboard.press('Enter');
    expect(await fieldOf(page).count()).toBe(1);
    expect(await page.content()).not.toContain(secret);
    expect(complaints).toEqual([]);
  });

  it('begins to add a provider and to create a key, also on the screen that is shown', async () => {
    const { page } = await open({ config, screen: '/providers' });
    await runCommand(page, 'add prov', 'Add provider…');
    const adding = page.getByRole('dialog', { name: 'Add a provider' });
    await expectFocus(adding.getByRole('searchbox'));
    await page.keyboard.press('Escape');
    await adding.waitFor({ state: 'detached' });
    await runCommand(page, 'create key', 'Create key…');
    await expectFocus(page.getByRole('dialog', { name: 'New key' }).getByLabel('Name'));
    await runCommand(page, 'first', 'first');
    await page.getByRole('dialog', { name: 'Change this key' }).waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('first');
  });

  it('opens over a dialog, and asks before discarding what was typed there', async () => {
    const { page } = await open({ config, screen: '/keys' });
    await page.getByRole('button', { name: 'New key' }).click();
    const name = page.getByRole('dialog', { name: 'New key' }).getByLabel('Name');
    await name.fill('typed');
    await page.keyboard.press('Control+k');
    await expectFocus(fieldOf(page));
    await page.keyboard.press('Escape');
    await expectFocus(name);
    const question = page.getByRole('dialog', { name: 'Discard unsaved changes?' });
    for (const [search, screen] of [
      ['groups', 'Groups'],
      ['keys', 'Keys'],
    ] as const) {
      await runCommand(page, search, screen);
      await question.getByRole('button', { name: 'Keep editing' }).click();
      await expectFocus(name);
      expect(await name.inputValue()).toBe('typed');
    }
    await runCommand(page, 'groups', 'Groups');
    await question.getByRole('button', { name: 'Discard changes' }).click();
    await headingOf(page, 'Groups').waitFor();
  });

  it('asks before a secret that is shown only once is lost', async () => {
    const { page } = await open({ config, screen: '/keys' });
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('dialog', { name: 'New key' }).getByLabel('Name').fill('once');
    await page.getByLabel('Keep the secret so that it can be shown again').uncheck();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByTestId('secret').waitFor();
    await runCommand(page, 'groups', 'Groups');
    await page.getByRole('button', { name: 'Keep editing' }).click();
    expect(await page.getByTestId('secret').count()).toBe(1);
    await page.getByRole('button', { name: 'Done' }).click();
    await runCommand(page, 'groups', 'Groups');
    await headingOf(page, 'Groups').waitFor();
  });

  it('says what the engine refuses, and stays open', async () => {
    const { page } = await open({ config, screen: '/providers' });
    await find(page, 'off alpha', 'Turn off Alpha');
    await page.route('**/control/**', (route) => route.abort());
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('alert').getByText('Nothing was changed.').waitFor();
    await expectFocus(fieldOf(page));
  });

  it('ignores the keys of an input method', async () => {
    const { page } = await open({ config, screen: '/keys' });
    await find(page, 'groups', 'Groups');
    const press = (key: string, isComposing: boolean) =>
      fieldOf(page).dispatchEvent('keydown', { key, isComposing, bubbles: true, cancelable: true });
    await press('Enter', true);
    await press('Escape', true);
    expect(await activeOption(page)).toBe('Groups');
    await press('Enter', false);
    await headingOf(page, 'Groups').waitFor();
  });

  it('changes language and colours, and finds screens by their English names in Chinese', async () => {
    const { page } = await open({ config, context: { colorScheme: 'light' } });
    await runCommand(page, 'dark', 'Appearance: Dark');
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.mantineColorScheme)).toBe('dark');
    await runCommand(page, '中文', 'Language: 简体中文');
    await headingOf(page, '首页').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: '命令面板' }).waitFor();
    await page.keyboard.type('settings');
    await page.keyboard.press('Enter');
    await headingOf(page, '设置').waitFor();
  });
});

describe('a key without a modifier', () => {
  it.each(['/models', '/requests'])('/ goes to the search of %s', async (screen) => {
    const { page } = await open({ config, screen, prepare: fillWithRequests });
    const box = page.getByRole('main').locator('[type=search]');
    await box.waitFor();
    await page.keyboard.press('/');
    await expectFocus(box);
    expect(await box.inputValue()).toBe('');
  });

  it('does nothing while a field is typed in', async () => {
    const { page } = await open({ config, screen: '/providers/alpha' });
    const name = page.getByLabel('Name', { exact: true });
    await name.focus();
    await page.keyboard.type('/?');
    expect(await name.inputValue()).toContain('/?');
    await name.press('g');
    await name.press('t');
    await headingOf(page, 'Alpha').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('G and a letter lead to each place, wherever the focus is, and to none while a dialog is open', async () => {
    const { page, complaints } = await open({ config });
    const letters = {
      t: 'Requests',
      p: 'Playground',
      m: 'Providers',
      a: 'Keys',
      c: 'Connect',
      s: 'Settings',
      h: 'Home',
    };
    for (const [letter, heading] of Object.entries(letters)) {
      await page.keyboard.press('g');
      await page.keyboard.press(letter);
      await expectFocus(headingOf(page, heading));
    }
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.keyboard.press('Escape');
    await headingOf(page, 'Home').waitFor();
    expect(complaints).toEqual([]);
  });

  it('J and K did nothing until a row of the list had the focus', async () => {
    const { page } = await open({ config, screen: '/requests', prepare: fillWithRequests });
    const focusedRow = () => page.evaluate(() => document.activeElement?.closest('tr')?.getAttribute('aria-rowindex'));
    await page.getByRole('row').nth(3).waitFor();
    await page.keyboard.press('j');
    await expect.poll(focusedRow).toBe('2');
    await page.keyboard.press('j');
    await expect.poll(focusedRow).toBe('3');
    await page.getByRole('button', { name: 'Export' }).focus();
    await page.keyboard.press('k');
    await expect.poll(focusedRow).toBe('3');
    await page.getByLabel('Search requests').focus();
    await page.keyboard.press('j');
    expect(await focusedRow()).toBe(undefined);
  });
});

it.each(appearances)(
  'fits in $width px, $colorScheme, $locale, and axe finds nothing wrong with palette and shortcuts',
  async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page, complaints } = await open({ config, context, screen: '/providers' });
    const picture = (name: string) =>
      takePicture(page, `${name}-${width}-${colorScheme}-${locale}`, { fullPage: false });
    await page.getByRole('switch').first().waitFor({ state: 'attached' });
    await page.keyboard.press('Control+k');
    await page.getByRole('option').first().waitFor();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await picture('palette');
    await page.keyboard.type('alpha');
    await page.getByRole('option', { name: 'Alpha' }).first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await picture('palette-found');
    await page.keyboard.press('Escape');
    await page.getByRole('combobox').waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    // The shortcuts in the bar are shown before.
    await page.getByRole('dialog').locator('kbd').last().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await picture('shortcuts');
    expect(complaints).toEqual([]);
  },
);

it('leaves room for every mark of the bar in 380 px', async () => {
  const { page, gateway } = await open({ config, context: { viewport: { width: 380, height: 800 } } });
  await gateway.gateway.execute({ type: 'capture.start' });
  await page.getByRole('banner').getByRole('link', { name: 'Capturing' }).waitFor();
  await page.getByRole('banner').getByRole('button', { name: 'Search or jump to…' }).waitFor();
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  await page.keyboard.press('Tab');
  await expectFocus(page.getByRole('button', { name: 'Skip to content' }));
});

function requestId(index: number): string {
  return `req_${index.toString(16).padStart(32, '0')}`;
}
