import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SignInGateway, startSignInGateway } from '../server/team/people/signed-in.ts';
import { connectBrowser, hasChromium, skipWithoutChromium } from '../support/chromium.ts';
import { loadsNothingAhead } from '../support/launch-browser.ts';
import { builtWindow, ensureBuilt } from '../support/program.ts';
import { accessibilityFaults } from './accessibility.ts';
import { overflowOf } from './window-suite.ts';

let browser: Browser;
let team: SignInGateway;
skipWithoutChromium();
beforeAll(async () => {
  if (!hasChromium) return;
  await ensureBuilt();
  browser = await connectBrowser();
  team = await startSignInGateway({ ports: { windowFolder: builtWindow } });
});
afterAll(async () => {
  await browser?.close();
  await team?.stop();
});

test('a member signs in with the organization’s account, sees what members see, makes a key, and signs out', async () => {
  const context = await browser.newContext({ locale: 'en-GB' });
  await context.addInitScript({ content: loadsNothingAhead });
  const page = await context.newPage();
  await page.goto(team.sluice.origin);
  await page.getByRole('link', { name: 'Sign in' }).waitFor();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByPlaceholder('Enter any login').fill('mia');
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  const navigation = page.getByRole('navigation');
  await navigation.getByRole('link', { name: 'Access' }).waitFor();
  expect(await navigation.getByRole('link').allInnerTexts()).toEqual([
    'Home',
    'Traffic',
    'Playground',
    'Access',
    'Connect',
  ]);
  await navigation.getByRole('link', { name: 'Access' }).click();
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Laptop');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await page.getByTestId('secret').waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  const key = (await team.sluice.gateway.query({ type: 'keys' })).at(-1);
  expect(key).toMatchObject({ name: 'Laptop', group: 'ours', owner: expect.stringMatching(/^prs_/) });
  await page.setViewportSize({ width: 420, height: 800 });
  expect(await overflowOf(page)).toBe(0);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByText('Member of ours').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('link', { name: 'Sign in' }).waitFor();
  await context.close();
});

test('a member and a manager are offered what they may do with a key, and nothing that would be refused', async () => {
  const context = await browser.newContext({ locale: 'en-GB' });
  await context.addInitScript({ content: loadsNothingAhead });
  const make = async (person: string, name: string) => {
    const command = { type: 'key.create', group: 'ours', name };
    expect((await team.call('/execute', { cookie: await team.signIn(person) }, command)).status).toBe(200);
  };
  await make('mia', 'Phone');
  await make('mo', 'Service');

  const member = await openKeys(context, 'mia');
  expect(await member.getByRole('switch', { name: 'Enable key Phone' }).getAttribute('aria-disabled')).toBe('true');
  expect(await actsOf(member, 'Phone')).toEqual(['Show secret', 'Rotate…', 'Revoke…']);
  await member.getByRole('button', { name: 'Change Phone' }).click();
  expect(await member.getByRole('dialog').getByRole('textbox').count()).toBe(1);
  await member.getByRole('dialog').getByLabel('Name').fill('Mobile');
  await member.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await member.getByRole('button', { name: 'Change Mobile' }).waitFor();
  await member.getByRole('navigation').getByRole('link', { name: 'Traffic' }).click();
  await member.getByRole('heading', { name: 'Requests' }).waitFor();
  expect(await member.getByRole('button', { name: 'Capture' }).count()).toBe(0);
  await context.clearCookies();

  const manager = await openKeys(context, 'mo');
  expect(await actsOf(manager, 'Service')).toEqual(['Show secret', 'Rotate…', 'Testing…', 'Revoke…']);
  expect(await actsOf(manager, 'Mobile')).toEqual(['Testing…', 'Revoke…']);
  await manager.getByRole('button', { name: 'Change Mobile' }).click();
  await manager.getByRole('button', { name: 'Testing…' }).click();
  await manager.getByRole('switch', { name: 'Let requests ask for faults' }).waitFor();
  expect(await manager.getByLabel('Cassette').count()).toBe(0);
  await manager.keyboard.press('Escape');
  await manager.getByRole('switch', { name: 'Capture its requests' }).click();
  await manager.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await manager.getByText('captured').waitFor();
  await context.close();
});

async function openKeys(context: BrowserContext, person: string): Promise<Page> {
  const [name = '', value = ''] = (await team.signIn(person)).split('=');
  await context.addCookies([{ name, value, url: team.sluice.origin }]);
  const page = await context.newPage();
  await page.goto(`${team.sluice.origin}/#/keys`);
  await page.getByRole('button', { name: 'New key' }).waitFor();
  return page;
}

/** The items of a key's menu, in order. */
async function actsOf(page: Page, key: string): Promise<string[]> {
  await page.getByRole('button', { name: `More for ${key}` }).click();
  await page.getByRole('menuitem').first().waitFor();
  const acts = await page.getByRole('menuitem').allInnerTexts();
  await page.keyboard.press('Escape');
  return acts;
}
