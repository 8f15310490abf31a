/**
 * A laptop's window joins a team's gateway, uses it, and leaves it. Uses two real engines and a real identity provider.
 */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type SignInGateway, startSignInGateway } from '../server/team/people/signed-in.ts';
import { hasChromium } from '../support/chromium.ts';
import type { TestGateway } from '../support/gateway.ts';
import { accessibilityFaults } from './accessibility.ts';
import { expectFocus } from './person.ts';
import { appearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();
let team: SignInGateway;
beforeAll(async () => {
  if (!hasChromium) return;
  team = await startSignInGateway({
    settings: { demo: 'on' },
    config: { groups: [{ id: 'default', name: 'Everybody' }, { id: 'ours' }] },
  });
});
afterAll(() => team?.stop());

const keysThere = async () => (await team.sluice.gateway.query({ type: 'keys' })).filter(({ owner }) => owner !== null);

async function offerPreset(): Promise<void> {
  const provider = new URL(team.sluice.origin).host.replace(/[.:]/g, '-');
  const joinPreset = {
    ...{ teamPreset: 1, name: 'Acme laptops', organisation: 'Acme' },
    aliases: [{ name: 'fast', targets: [{ provider, model: 'demo-chat' }] }],
    settings: { ledger: { retentionDays: 30 } },
    locked: ['aliases', 'settings/ledger'],
  };
  await team.sluice.gateway.execute({ type: 'settings.update', changes: { joinPreset } });
}
afterEach(async () => {
  await team?.sluice.gateway.execute({ type: 'settings.update', changes: { joinPreset: null } });
});

/** Completes the sign-in. */
async function joinAs(page: Page, person: string): Promise<void> {
  await page.getByRole('button', { name: /^(Join a team gateway|加入团队网关)…$/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill(team.sluice.origin);
  await page.keyboard.press('Enter');
  await team.identity.agree((await dialog.getByRole('link').getAttribute('href')) ?? '', person);
}

const aliasesOf = async ({ gateway }: TestGateway) =>
  (await gateway.query({ type: 'aliases' })).map(({ name }) => name);

test('a person joins with a code, gets the gateway as a provider, and leaves it by its card', async () => {
  const { page, gateway, complaints } = await open({ screen: '/providers' });
  await page.getByRole('button', { name: 'Join a team gateway…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Join a team gateway' });
  await dialog.getByLabel('Address of the gateway').fill(team.sluice.origin);
  await dialog.getByRole('button', { name: 'Next' }).click();
  const link = dialog.getByRole('link', { name: 'Open the sign-in page' });
  const address = (await link.getAttribute('href')) ?? '';
  const code = new URL(address).searchParams.get('user_code') ?? 'none';
  await dialog.getByText(code).waitFor();
  await dialog.getByText('Waiting for you to confirm the code…').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await team.identity.agree(address, 'mia');
  const { host } = new URL(team.sluice.origin);
  await page.getByRole('heading', { name: host }).waitFor();
  const [key] = await keysThere();
  const providers = await gateway.gateway.query({ type: 'providers' });
  expect(providers.find(({ joined }) => joined)?.credentials).toMatchObject([{ id: key?.id, hasSecret: true }]);

  await page.getByRole('navigation').getByRole('link', { name: 'Models' }).click();
  const card = page.getByRole('listitem').filter({ hasText: 'team gateway' });
  await card.getByRole('button', { name: `Leave ${host}…` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await card.waitFor({ state: 'detached' });
  // The key is deleted just after the provider.
  await expect.poll(keysThere).toEqual([]);
  expect(complaints).toEqual([]);
});

test('a person in several groups chooses the group of the key', async () => {
  const { page, gateway } = await open({ screen: '/providers' });
  await page.getByRole('button', { name: 'Join a team gateway…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address of the gateway').fill(team.sluice.origin);
  await page.keyboard.press('Enter');
  const link = dialog.getByRole('link', { name: 'Open the sign-in page' });
  await team.identity.agree((await link.getAttribute('href')) ?? '', 'ada');
  await dialog.getByLabel('Group').selectOption('Everybody');
  await dialog.getByRole('button', { name: 'Join' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await keysThere()).toMatchObject([{ group: 'default' }]);
  const joined = (await gateway.gateway.query({ type: 'providers' })).find((each) => each.joined);
  await gateway.gateway.execute({ type: 'team.leave', provider: joined?.id ?? '' });
});

test('the team preset of the gateway is shown, applied, and left with the gateway', async () => {
  await offerPreset();
  const { page, gateway, complaints } = await open({ screen: '/providers' });
  const dialog = page.getByRole('dialog');
  await joinAs(page, 'mia');
  await dialog.getByText('It offers a team preset').waitFor();
  await dialog.getByText('ledger.retentionDays').first().waitFor();
  expect(await aliasesOf(gateway)).toEqual([]);
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await dialog.getByText('“Acme laptops” is applied.').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  const { host } = new URL(team.sluice.origin);
  await page.getByRole('heading', { name: host }).waitFor();
  expect(await aliasesOf(gateway)).toEqual(['fast']);

  await page.getByRole('navigation').getByRole('link', { name: 'Models' }).click();
  await page.getByRole('button', { name: `Leave ${host}…` }).click();
  await dialog.getByText('Its team preset “Acme laptops” no longer locks anything').waitFor();
  await dialog.getByRole('button', { name: 'Leave' }).click();
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(keysThere).toEqual([]);
  expect(await aliasesOf(gateway)).toEqual([]);
  expect((await gateway.gateway.query({ type: 'status' })).team).toEqual({ presets: [], locks: [] });
  expect(complaints).toEqual([]);
});

test('a person who declines the team preset has joined without it', async () => {
  await offerPreset();
  const { page, gateway } = await open({ screen: '/providers' });
  await joinAs(page, 'mia');
  await page.getByRole('button', { name: 'Continue without it' }).click();
  await page.getByRole('heading', { name: new URL(team.sluice.origin).host }).waitFor();
  expect((await gateway.gateway.query({ type: 'status' })).team.presets).toEqual([]);
  const joined = (await gateway.gateway.query({ type: 'providers' })).find((each) => each.joined);
  await gateway.gateway.execute({ type: 'team.leave', provider: joined?.id ?? '' });
});

test('errors are shown, and the dialog can be left at any time', async () => {
  const { page, gateway } = await open({ screen: '/providers' });
  const button = page.getByRole('button', { name: 'Join a team gateway…' });
  await button.click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address of the gateway').fill('gateway.example');
  await page.keyboard.press('Enter');
  await dialog.getByText('"gateway.example" is no address of a gateway').waitFor();
  await dialog.getByLabel('Address of the gateway').fill(team.identity.issuer);
  await page.keyboard.press('Enter');
  await dialog.getByText(/is no Sluice where people sign in/).waitFor();
  await dialog.getByLabel('Address of the gateway').fill(team.sluice.origin);
  await page.keyboard.press('Enter');
  await dialog.getByRole('link', { name: 'Open the sign-in page' }).waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await expectFocus(button);
  expect((await gateway.gateway.query({ type: 'providers' })).some((each) => each.joined)).toBe(false);
});

test.each(appearances)('joining is in order in $width px, $colorScheme, $locale', async (look) => {
  const { width, colorScheme, locale } = look;
  const { page, gateway } = await open({
    context: { viewport: { width, height: 800 }, colorScheme, locale },
    screen: '/providers',
  });
  const check = async (name: string) => {
    await takePicture(page, `joining-${name}-${width}-${colorScheme}`);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
  };
  await page.getByRole('button', { name: /^(Join a team gateway|加入团队网关)…$/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill(team.sluice.origin);
  await check('address');
  await page.keyboard.press('Enter');
  const link = dialog.getByRole('link');
  const address = (await link.getAttribute('href')) ?? '';
  await check('code');
  await team.identity.agree(address, 'ada');
  await dialog.getByRole('combobox').waitFor();
  await check('group');
  await offerPreset();
  await dialog.getByRole('button').last().click();
  await dialog.getByText('Acme laptops').waitFor();
  await check('preset');
  await dialog.getByRole('button').last().click();
  await dialog.getByText(/“Acme laptops” is applied|已应用/).waitFor();
  await dialog.getByRole('button').last().click();
  await dialog.waitFor({ state: 'detached' });
  await page.goto(`${gateway.origin}/#/providers`);
  await page
    .getByText(/^(team gateway|团队网关)$/)
    .first()
    .waitFor();
  await check('card');
  await page
    .getByRole('button', { name: /^(Leave|离开) / })
    .first()
    .click();
  await dialog.waitFor();
  await check('leave');
  const joined = (await gateway.gateway.query({ type: 'providers' })).find((each) => each.joined);
  await gateway.gateway.execute({ type: 'team.leave', provider: joined?.id ?? '' });
});
