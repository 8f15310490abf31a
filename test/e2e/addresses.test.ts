/** Every address that the window has had leads to its screen, with what follows it; what leads nowhere says so. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { openInSuite } from './window-suite.ts';

const open = openInSuite();
const config = {
  providers: [{ id: 'alpha', name: 'Alpha', baseUrl: 'http://127.0.0.1:9/v1', models: ['gpt-a'] }],
  groups: [{ id: 'default' }, { id: 'second', name: 'Second' }],
};

type Shown = (page: Page) => Promise<unknown>;
const dialog = (page: Page) => page.getByRole('dialog').waitFor();
const region =
  (name: string): Shown =>
  (page) =>
    page.getByRole('region', { name }).waitFor();

const note =
  (text: string): Shown =>
  (page) =>
    page
      .getByRole('status')
      .filter({ hasText: new RegExp(text) })
      .waitFor();
const noPage = 'There is no page at this address';

/** The address, the heading, and what else the rest of the address asks for. */
const addresses: readonly [address: string, heading: string, shown?: Shown][] = [
  ['', 'Home'],
  ['/', 'Home'],
  ['/no-such-screen?range=week', noPage, (page) => page.getByText('“/no-such-screen” leads nowhere').waitFor()],
  ['/provider/alpha', noPage, (page) => page.getByRole('link', { name: 'Open “Providers”' }).waitFor()],
  // Without a sign-in there is no account, and there are no people.
  ['/account', noPage],
  ['/people', noPage],
  ['/people?show=audit', noPage],
  ['/groups/second/more', noPage],
  ['/home', 'Home'],
  ['/overview', 'Home'],
  ['/Traffic/', 'Requests'],
  ['/Providers/alpha', 'Alpha'],
  ['/requests', 'Requests'],
  ['/requests?outcome=error', 'Requests', (page) => page.getByText('No matching requests').waitFor()],
  ['/requests?q=gate', 'Requests', (page) => expect.poll(() => searchText(page)).toBe('gate')],
  ['/requests/req_none?tab=response', 'Requests', (page) => page.getByText('req_none').first().waitFor()],
  ['/sessions', 'Sessions'],
  ['/sessions?state=running', 'Sessions', (page) => page.getByText('No matching sessions').waitFor()],
  ['/sessions/none', 'Sessions', (page) => page.getByText('This session is not in the request log').waitFor()],
  ['/playground', 'Playground'],
  [
    '/playground/embeddings',
    'Playground',
    (page) => page.locator('a[aria-current=true][href$="embeddings"]').waitFor(),
  ],
  ['/playground/nothing', 'Playground', note('The playground has no “nothing”')],
  ['/providers', 'Providers'],
  ['/providers/none', 'Providers', (page) => page.getByText('There is no provider “none”').waitFor()],
  ['/providers?add', 'Providers', dialog],
  ['/providers/alpha', 'Alpha', region('Connection')],
  ['/models', 'Models & aliases'],
  ['/models?model=gpt-a', 'Models & aliases', (page) => expect.poll(() => previewed(page)).toBe('gpt-a')],
  ['/models?for=key:k1&model=gpt-a', 'Models & aliases', (page) => expect.poll(() => previewed(page)).toBe('gpt-a')],
  ['/keys', 'Keys'],
  ['/keys?new', 'Keys', dialog],
  ['/keys?key=k1', 'Keys', dialog],
  ['/keys/k1', 'Keys', dialog],
  ['/keys/none', 'Keys', note('There is no key “none”')],
  ['/keys?group=second', 'Keys', (page) => expect.poll(() => page.url()).toContain('group=second')],
  ['/groups', 'Groups'],
  ['/groups/second', 'Second', region('What its keys may use')],
  ['/connect', 'Connect'],
  ['/connect/cursor', 'Connect', region('Steps for Cursor')],
  ['/connect/clade-code', 'Connect', note('There are no steps for a client “clade-code”.*Did you mean “Claude Code”')],
  ['/models/gpt-a', 'Models & aliases', (page) => expect.poll(() => previewed(page)).toBe('gpt-a')],
  ['/settings', 'Settings', region('This window')],
  ['/settings/prices?model=gpt-a', 'Settings', region('Prices')],
  ['/settings?section=prices', 'Settings', region('Prices')],
  ['/settings?section=prices&model=gpt-a', 'Settings', region('Prices')],
  ['/settings?section=about', 'Settings', region('About')],
  ['/settings?section=desktop', 'Settings', region('This window')],
  ['/settings?section=nothing', 'Settings', note('There is no section “nothing”')],
  ['/settings/price', 'Settings', note('Did you mean “Prices”')],
];

it('every address that the window has had leads to its screen, with what follows it', async () => {
  const { page } = await open({ config, screen: '/keys' });
  await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
  for (const [address, heading, shown] of addresses) {
    await page.evaluate((hash) => location.assign(hash), `#${address}`);
    await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor();
    await shown?.(page);
    if (shown === dialog) await page.keyboard.press('Escape');
  }
});

it.each(addresses.filter(([address]) => /people\?|providers\/|section=prices&/.test(address)))(
  '%s also does as a bookmark',
  async (address, heading, shown) => {
    const { page } = await open({ config, screen: address });
    await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor();
    await shown?.(page);
  },
);

const searchText = (page: Page) => page.getByRole('main').locator('[type=search]').first().inputValue();
const previewed = (page: Page) => page.getByRole('combobox', { name: 'Model', exact: true }).inputValue();
