import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SignInGateway, startSignInGateway } from '../server/people/signed-in.ts';
import { connectBrowser, hasChromium, skipWithoutChromium } from '../support/chromium.ts';
import { loadsNothingAhead } from '../support/loads-nothing-ahead.ts';
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
  await navigation.getByRole('link', { name: 'Keys' }).waitFor();
  expect(await navigation.getByRole('link').allInnerTexts()).toEqual(['Keys', 'Requests', 'Playground']);
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
