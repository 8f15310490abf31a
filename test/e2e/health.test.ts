/** How the window shows providers, credentials and routes with problems. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';
import { accessibilityFaults } from './accessibility.ts';
import type { OpenedWindow } from './open-window.ts';
import { appearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();
const answer = { id: 'x', object: 'chat.completion', model: 'm', choices: [] };

let failing: ScriptedUpstream;
let refusing: ScriptedUpstream;
let working: ScriptedUpstream;
beforeEach(async () => {
  failing = await startUpstream((_, response) => json(response, { error: { message: 'broken' } }, 500));
  refusing = await startUpstream(({ headers }, response) =>
    headers.authorization === 'Bearer wrong'
      ? json(response, { error: { message: 'bad key', code: 'invalid_api_key' } }, 401)
      : json(response, answer),
  );
  working = await startUpstream((_, response) => json(response, answer));
});
afterEach(() => Promise.all([failing.stop(), refusing.stop(), working.stop()]));

/** A window on three providers of the model `m` after some requests. Only the last provider has no problems. */
async function openInTrouble(options: Parameters<typeof open>[0]): Promise<OpenedWindow> {
  const opened = await open({
    ...options,
    env: { WRONG: 'wrong', RIGHT: 'right' },
    config: {
      providers: [
        { id: 'failing', name: 'Failing', baseUrl: failing.baseUrl, models: ['m'] },
        {
          ...{ id: 'refusing', name: 'Refusing', baseUrl: refusing.baseUrl, models: ['m'] },
          credentials: [
            { id: 'old', label: 'Old one', secret: 'env:WRONG' },
            { id: 'new', label: 'New one', secret: 'env:RIGHT' },
          ],
        },
        { id: 'working', name: 'Working', baseUrl: working.baseUrl, models: ['m'] },
      ],
      groups: [{ id: 'default', policy: { retries: 1 } }],
    },
  });
  for (let count = 0; count < 6; count++) {
    await opened.clientWith(testKey).chat.completions.create({ model: 'm', messages: [] });
  }
  return opened;
}

describe('trouble', () => {
  it('is shown at the providers with its reason, and ends with a reset', async () => {
    const { page, complaints } = await openInTrouble({ screen: '/providers' });
    const card = page.getByRole('listitem').filter({ hasText: failing.baseUrl });
    await card.getByText(/^(Cooling down|Last requests failed) · 1 model/).waitFor();
    await card
      .getByText(
        /^It answers with errors \(500\)\. (Failed \d+ times, last at .*; the next request will try it|Retrying at)/,
      )
      .waitFor();
    const partly = page.getByRole('listitem').filter({ hasText: 'Refusing' });
    await partly.getByText(/^Some requests failing.*first byte in/).waitFor();
    await partly.getByText(/^Old one: It rejected the API key\. Replace the credential/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await card.getByRole('button', { name: 'Retry now: Failing' }).press('Enter');
    await card.getByText(/^It answers with errors \(500\)\. Failed/).waitFor();
    await card.getByText(/^Last requests failed/).waitFor();
    await card.getByRole('button', { name: /^Retry/ }).waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  it('of several models is shown in two lines and no more, without the credential that answers for another', async () => {
    const limited = await startUpstream(({ body }, response) =>
      body.includes('nova-well') ? json(response, answer) : json(response, { error: { message: 'slowly' } }, 429),
    );
    try {
      const { page, clientWith } = await open({
        ...{ screen: '/providers', env: { RIGHT: 'right' } },
        config: {
          providers: [
            {
              ...{ id: 'limited', name: 'Limited', baseUrl: limited.baseUrl },
              models: ['nova-mini', 'nova-large', 'nova-huge', 'nova-well', 'nova-new'],
              credentials: [{ id: 'c1', secret: 'env:RIGHT' }],
            },
          ],
          groups: [{ id: 'default', policy: { retries: 0 } }],
        },
      });
      const ask = (model: string) =>
        clientWith(testKey)
          .chat.completions.create({ model, messages: [] })
          .catch(() => {});
      for (const model of ['nova-mini', 'nova-large', 'nova-huge']) await ask(model);
      const card = page.getByRole('listitem').filter({ hasText: limited.baseUrl });
      await card.getByText(/^nova-huge: Its rate limit was reached\./).waitFor();
      await ask('nova-well');
      await card.getByText('Ready, 3 of 5 models failing: nova-huge, nova-large and nova-mini').waitFor();
      await card.getByText(/^nova-large: Its rate limit was reached\./).waitFor();
      await card.getByText('and 1 more', { exact: true }).waitFor();
      expect(await card.getByText(/^RIGHT|^nova-mini:/).count()).toBe(0);
      expect(await accessibilityFaults(page)).toEqual([]);
    } finally {
      await limited.stop();
    }
  });

  it('of a credential is shown at that credential, which is tried again after a reset', async () => {
    const { page, gateway, complaints } = await openInTrouble({ screen: '/providers/refusing' });
    const row = page.getByRole('listitem').filter({ hasText: 'Old one' });
    await row
      .getByText(/^It rejected the API key\. Replace the credential; until then one request in 5 minutes tries it/)
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await row.getByRole('button', { name: 'Retry now: Old one' }).press('Enter');
    await row.getByText(/^It rejected the API key\. Failed/).waitFor();
    const [, provider] = await gateway.gateway.query({ type: 'providers' });
    expect(provider?.credentials.map(({ health }) => health.state)).toEqual(['ok', 'ok']);
    expect(complaints).toEqual([]);
  });

  it('links from the overview to the place where it is fixed', async () => {
    const { page } = await openInTrouble({});
    await page
      .getByRole('link', { name: /^Failing: (Cooling down|Last requests failed)\. It answers with errors \(500\)/ })
      .waitFor();
    await page
      .getByRole('link', { name: /^Refusing, credential “Old one”: API key rejected\. Replace the credential/ })
      .click();
    await page.getByRole('region', { name: 'Credentials' }).getByText('Old one').waitFor();
  });

  it('puts a target last in the preview of a route', async () => {
    const { page } = await openInTrouble({ screen: '/models' });
    const section = page.getByRole('region', { name: 'Route preview' });
    await section.getByLabel('Model').fill('m');
    await section.getByText(/^It answers with errors \(500\)/).waitFor();
    await section.getByText(/^Old one: It rejected the API key/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});

it.each(appearances)('trouble is in order in $width px, $colorScheme, $locale', async (appearance) => {
  const { width, colorScheme, locale } = appearance;
  const context = { viewport: { width, height: 900 }, colorScheme, locale };
  const { page, complaints } = await openInTrouble({ context, screen: '/providers' });
  const check = async (name: string) => {
    await takePicture(page, `health-${name}-${width}-${colorScheme}`);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
  };
  await page.getByText(/^(Some requests failing|部分请求失败)/).waitFor();
  await check('providers');
  await page.getByRole('link', { name: 'Refusing', exact: true }).click();
  await page
    .getByText(/^(It rejected the API key|API 密钥被拒绝)/)
    .first()
    .waitFor();
  await check('provider');
  await page.goto(`${new URL(page.url()).origin}/#/`);
  await page
    .getByRole('link', { name: /Failing/ })
    .first()
    .waitFor();
  await check('overview');
  expect(complaints).toEqual([]);
});
