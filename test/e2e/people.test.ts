/**
 * The screens about people. For administrators: who has signed in, their API tokens and the audit list. For everyone:
 * their own account.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type SignInGateway, startSignInGateway } from '../server/team/people/signed-in.ts';
import { hasChromium, sharedBrowser, skipWithoutChromium } from '../support/chromium.ts';
import { loadsNothingAhead } from '../support/launch-browser.ts';
import { builtWindow, ensureBuilt } from '../support/program.ts';
import { accessibilityFaults } from './accessibility.ts';
import { appearances, overflowOf, takePicture } from './window-suite.ts';

let browser: Browser;
let team: SignInGateway;
let context: BrowserContext | undefined;
skipWithoutChromium();
beforeAll(async () => {
  if (!hasChromium) return;
  await ensureBuilt();
  browser = await sharedBrowser();
  team = await startSignInGateway({
    settings: { demo: 'on' },
    ports: { windowFolder: builtWindow },
  });
});
afterEach(async () => {
  await context?.close();
  context = undefined;
});
afterAll(() => team?.stop());

/** Opens the window of a person who is signed in. */
async function openAs(person: string, screen: string, look: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 800 }, ...look });
  await context.addInitScript({ content: loadsNothingAhead });
  const [name = '', value = ''] = (await team.signIn(person)).split('=');
  await context.addCookies([{ name, value, url: team.sluice.origin }]);
  const page = await context.newPage();
  await page.goto(`${team.sluice.origin}/#${screen}`);
  return page;
}

/** Sends the command of a person's own window. */
async function give(person: string, command: object): Promise<{ secret?: string; id?: string }> {
  const response = await team.call('/execute', { cookie: await team.signIn(person) }, command);
  expect(response.status).toBe(200);
  return (await response.json()).result;
}

async function chat(secret: string | undefined): Promise<void> {
  const response = await team.sluice.fetch('/chat/completions', {
    method: 'POST',
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'hello' }] }),
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
  });
  expect(response.status).toBe(200);
  await response.text();
}

test('a new member is led to a key, a call and a tool', async () => {
  team.identity.groups.set('nell', ['devs']);
  const page = await openAs('nell', '/account');
  const steps = page.getByRole('region', { name: 'Get started' });
  const filled = page.getByRole('main').locator('button[data-variant="filled"]');
  expect(await filled.allInnerTexts()).toEqual(['Create a key']);
  await filled.click();
  await steps.getByRole('button', { name: 'Run it here' }).click();
  await page.getByRole('figure', { name: 'Answer' }).getByText(/demo/).waitFor();
  const call = steps.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Make a call' }) });
  await call.getByText('done', { exact: true }).waitFor();
  // Neither the address nor a tool has been used yet.
  expect(await steps.getByText('done', { exact: true }).count()).toBe(1);
  expect(await accessibilityFaults(page)).toEqual([]);
  await steps.getByRole('link', { name: 'Claude Code' }).click();
  await page.getByRole('heading', { name: 'Steps for Claude Code' }).waitFor();
  expect(await page.getByRole('button', { name: 'Review change…' }).count()).toBe(0);
});

test('a member sees what they have used by model, and nothing of others', async () => {
  const own = await give('mia', { type: 'key.create', group: 'ours', name: 'Laptop' });
  const other = await give('mo', { type: 'key.create', group: 'ours', name: 'Service' });
  await chat(own.secret);
  await chat(other.secret);
  const page = await openAs('mia', '/account');
  await page.getByRole('link', { name: 'demo-chat' }).waitFor();
  await page.getByRole('figure', { name: 'Requests, by model' }).waitFor();
  await page.getByRole('button', { name: /^Cost/ }).click();
  await page.getByRole('figure', { name: 'Cost, by model' }).waitFor();
  expect(await page.getByRole('row').allInnerTexts()).toEqual([
    expect.stringContaining('Model'),
    expect.stringMatching(/demo-chat\s+1\s/),
  ]);
  const navigation = page.getByRole('navigation', { name: 'Screens' });
  expect(await navigation.getByRole('link').allInnerTexts()).toEqual([
    'Home',
    'Traffic',
    'Playground',
    'Access',
    'Connect',
  ]);
  expect(await accessibilityFaults(page)).toEqual([]);
});

test('a member is not led to screens that they may not open', async () => {
  const own = await give('mia', { type: 'key.create', group: 'ours', name: 'Phone' });
  const refused = await team.sluice.fetch('/chat/completions', {
    method: 'POST',
    body: JSON.stringify({ model: 'nothing-like-it', messages: [] }),
    headers: { authorization: `Bearer ${own.secret}`, 'content-type': 'application/json' },
  });
  expect(refused.status).toBe(404);
  await refused.text();
  const page = await openAs('mia', '/requests?outcome=refused');
  await page.getByRole('link', { name: 'POST /v1/chat/completions' }).click();
  await page.getByRole('note').getByText('Refused by Sluice with 404').waitFor();
  await page.getByRole('definition').filter({ hasText: 'ours' }).waitFor();
  expect(await page.getByRole('main').locator('a[href^="#/models"], a[href^="#/groups"]').count()).toBe(0);
});

test('a manager sees what their groups have used as well', async () => {
  const { secret } = await give('mia', { type: 'key.create', group: 'ours', name: 'Of another' });
  await chat(secret);
  const page = await openAs('mo', '/account');
  const usage = page.getByRole('region', { name: 'Your usage' });
  await usage.getByText('Yours', { exact: true }).waitFor();
  await usage.getByText('Your groups', { exact: true }).click();
  await usage.getByText('With all keys of the groups you manage').waitFor();
  await usage.getByRole('row', { name: /^demo-chat/ }).waitFor();
  await page.close();
  const member = await openAs('mia', '/account');
  await member.getByText('With keys of your own').waitFor();
  expect(await member.getByText('Your groups', { exact: true }).count()).toBe(0);
});

test('a person makes an API token, which is shown once, and revokes it', async () => {
  const page = await openAs('mia', '/account');
  await page.getByRole('button', { name: 'New API token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('pipeline');
  await dialog.getByLabel('Write').check();
  await dialog.getByLabel('Expires').selectOption('in 7 days');
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create' }).click();
  const secret = await dialog.getByTestId('secret').innerText();
  const ask = () => team.call('/query', { token: secret }, { type: 'keys' });
  expect((await ask()).status).toBe(200);
  await dialog.getByRole('button', { name: 'Copy API token' }).waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  expect(await page.getByText(secret).count()).toBe(0);
  const row = page.getByRole('listitem').filter({ hasText: 'pipeline' });
  expect(await row.innerText()).toMatch(/Read\s+Write/);
  await row.getByRole('button', { name: 'Revoke pipeline…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No API tokens').waitFor();
  expect((await ask()).status).toBe(401);
});

test('an administrator sees who has signed in, and signs a person out everywhere', async () => {
  const cookie = await team.signIn('mo');
  const page = await openAs('ada', '/people');
  const row = page.getByRole('listitem').filter({ hasText: 'mo of Acme' });
  await row.getByText('Manager of ours').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await row.getByRole('button', { name: 'Sign out mo of Acme everywhere…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
  await page.getByText(/mo of Acme is signed out: \d+ session/).waitFor();
  expect((await team.call('/query', { cookie }, { type: 'keys' })).status).toBe(401);
});

test('an administrator limits a person over all of their keys, who sees it in their account', async () => {
  await team.signIn('mo');
  const page = await openAs('ada', '/people');
  await page.getByRole('button', { name: 'Limits of mo of Acme…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Limits of their own').check();
  await dialog.getByRole('button', { name: 'Add a budget' }).click();
  expect(await dialog.getByRole('option', { name: /total/ }).count()).toBe(0);
  await dialog.getByLabel(/^Amount of budget 1/).fill('5');
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The limits of mo of Acme are saved.').waitFor();
  await page.getByRole('listitem').filter({ hasText: 'mo of Acme' }).getByText(/\$5/).first().waitFor();
  const own = await openAs('mo', '/account');
  await own.getByText('Your limits, over all of your keys').waitFor();
});

test('an administrator revokes all access of a person, which takes their keys', async () => {
  await give('mo', { type: 'key.create', group: 'ours', own: true });
  const page = await openAs('ada', '/people');
  const row = page.getByRole('listitem').filter({ hasText: 'mo of Acme' });
  await row.getByRole('button', { name: 'Revoke all access of mo of Acme…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('all of their keys are revoked').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText(/All access of mo of Acme is revoked, with \d+ key/).waitFor();
  await page.getByText('Audit', { exact: true }).click();
  await page.getByText('ada of Acme revoked all access of mo of Acme').waitFor();
});

test('an administrator sees the API tokens of all, and revokes one', async () => {
  await give('mia', { type: 'token.create', name: 'of mia', scopes: ['read'] });
  const page = await openAs('ada', '/people?show=tokens');
  const row = page.getByRole('listitem').filter({ hasText: 'of mia' });
  await row.getByText('mia of Acme').waitFor();
  await row.getByRole('button', { name: 'Revoke of mia…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await row.waitFor({ state: 'detached' });
});

test('the audit list says in plain words who did what, of one person, page by page', async () => {
  await give('ada', { type: 'group.put', group: { id: 'ours', name: 'Our group' } });
  for (let count = 0; count < 60; count++) {
    await team.sluice.gateway.execute({ type: 'group.put', group: { id: 'ours', name: `Name ${count}` } });
  }
  const page = await openAs('ada', '/people?show=audit');
  const entries = page.getByRole('listitem').filter({ has: page.getByRole('time') });
  await page.getByText('ada of Acme signed in').first().waitFor();
  await page.getByText('Admin token of the machine saved group ours').first().waitFor();
  expect(await entries.count()).toBe(50);
  await page.getByRole('button', { name: 'Older' }).click();
  await page.getByText('ada of Acme saved group ours').waitFor();
  expect(await page.getByRole('button', { name: 'Older' }).isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Newer' }).click();
  await page.getByLabel('Person').selectOption('ada of Acme');
  const changed = entries.filter({ hasText: 'ada of Acme saved group ours' });
  await changed.getByText('1 change').click();
  await changed.getByText('"Our group"').waitFor();
  expect(await page.getByText('Admin token of the machine saved').count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
});

test('a manager and a member find no screen of people, and get no data through its address', async () => {
  for (const person of ['mo', 'mia']) {
    const page = await openAs(person, '/people?show=audit');
    await page.getByRole('heading', { name: '“People” is for administrators', level: 1 }).waitFor();
    expect(await page.getByText('signed in').count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Open “Account”' }).click();
    await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor();
    await page.goto(`${team.sluice.origin}/panel`);
    await page.getByRole('region', { name: 'The panel is for administrators' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await context?.close();
  }
});

test.each(appearances)('the screens of people are in order in $width px, $colorScheme, $locale', async (look) => {
  const { width, colorScheme, locale } = look;
  await chat((await give('mia', { type: 'key.create', group: 'ours' })).secret);
  await give('mia', { type: 'token.create', name: 'nightly-build', scopes: ['read', 'keys', 'write'], days: 30 });
  await give('ada', { type: 'token.create', name: 'terraform', scopes: ['write'] });
  await give('ada', { type: 'settings.update', changes: { ledger: { retentionDays: 60 } } });
  const options = { viewport: { width, height: 800 }, colorScheme, locale };
  const shownTo = {
    ada: ['people?show=people', 'people?show=tokens', 'people?show=audit'],
    mia: ['account'],
  };
  for (const [person, screens] of Object.entries(shownTo)) {
    const page = await openAs(person, `/${screens[0]}`, options);
    for (const screen of screens) {
      await page.goto(`${team.sluice.origin}/#/${screen}`);
      await page
        .getByRole('listitem')
        .filter({ hasText: /of Acme|nightly/ })
        .first()
        .waitFor();
      if (screen === 'account') await page.getByText('demo-chat').first().waitFor();
      if (screen.endsWith('audit')) await page.locator('summary').first().click();
      await takePicture(page, `people-${screen.replace(/\W/g, '-')}-${width}-${colorScheme}`);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults(page)).toEqual([]);
    }
    if (person === 'mia') {
      await page.getByRole('button', { name: /^(New|新建) API token$/ }).click();
      await page.getByRole('dialog').getByRole('textbox').waitFor();
      await takePicture(page, `people-new-token-${width}-${colorScheme}`, { fullPage: false });
      expect(await accessibilityFaults(page)).toEqual([]);
    }
    await context?.close();
  }
});

test.each(appearances)(
  'an administrator switches SCIM on and off, with a token that is shown once, in $width px, $colorScheme, $locale',
  async (look) => {
    const { width, colorScheme, locale } = look;
    const names = locale.startsWith('zh')
      ? { on: '启用', replace: '新建 token', copy: /复制/, done: '完成', off: '停用', never: '尚未使用' }
      : {
          on: 'Switch on',
          replace: 'Make a new token',
          copy: /Copy/,
          done: 'Done',
          off: 'Switch off',
          never: 'Never used',
        };
    const page = await openAs('ada', '/people', { viewport: { width, height: 800 }, colorScheme, locale });
    const section = page.getByRole('region', { name: 'SCIM' });
    const dialog = page.getByRole('dialog');
    const tokens: string[] = [];
    for (const [button, confirm] of [
      [names.on, names.on],
      [/New token…|新建 token…/, names.replace],
    ] as const) {
      await section.getByRole('button', { name: button }).click();
      await dialog.getByRole('button', { name: confirm, exact: true }).click();
      tokens.push(await dialog.getByTestId('secret').innerText());
      await dialog.getByRole('button', { name: names.copy }).waitFor();
      await takePicture(page, `people-scim-token-${width}-${colorScheme}`, { fullPage: false });
      expect(await accessibilityFaults(page)).toEqual([]);
      await dialog.getByRole('button', { name: names.done }).click();
      await dialog.waitFor({ state: 'detached' });
    }
    expect(await page.getByText(tokens[1] ?? '').count()).toBe(0);
    await section.getByText(names.never).waitFor();
    await section.getByText(/whom SCIM does not know: |SCIM 不认识的用户：/).waitFor();
    await section.getByText(`${team.sluice.origin}/scim/v2`).waitFor();
    const statusOf = async (token: string | undefined) =>
      (await fetch(`${team.sluice.origin}/scim/v2/Users`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await statusOf(tokens[0]), await statusOf(tokens[1])]).toEqual([401, 200]);
    await takePicture(page, `people-scim-${width}-${colorScheme}`);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await section.getByRole('button', { name: `${names.off}…` }).click();
    await dialog.getByRole('button', { name: names.off, exact: true }).click();
    await section.getByRole('button', { name: `${names.on}…` }).waitFor();
    expect(await statusOf(tokens[1])).toBe(401);
  },
);
