/** Limits in the window: set at a key and a group, shown as they are used, and reported when they are reached. */
import { describe, expect, it } from 'vitest';
import { accessibilityFaults } from './accessibility.ts';
import { expectFocus, unfold } from './person.ts';
import { appearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();

const priced = { settings: { prices: { 'demo-chat': { input: 2000, output: 2000 } } } };
const question = { model: 'demo-chat', messages: [{ role: 'user' as const, content: 'hello' }] };

describe('limits', () => {
  it('of a key are set in its form, apply at once, show their use, and are removed again', async () => {
    const { page, gateway, complaints } = await open({ screen: '/keys', config: priced });
    await page.getByRole('button', { name: 'Change first' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Set limits' }).click();
    await dialog.getByLabel('Requests per minute').fill('2');
    await dialog.getByRole('button', { name: 'Add a budget' }).click();
    await dialog.getByLabel('Amount of budget 1').fill('2.5');
    await dialog.getByLabel('Period of budget 1').selectOption('a week');
    await dialog.getByRole('button', { name: 'Add a budget' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expectFocus(dialog.getByLabel('Amount of budget 2'));
    await dialog.getByRole('button', { name: 'Remove budget 2' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const [key] = await gateway.gateway.query({ type: 'keys' });
    expect(key?.limits).toEqual({
      requestsPerMinute: 2,
      budgets: [{ unit: 'usd', amount: 2.5, per: 'week', hard: true }],
    });
    const row = page.getByRole('listitem').filter({ hasText: 'first' }).first();
    await row.getByRole('meter', { name: 'requests per minute' }).waitFor();
    for (let count = 0; count < 2; count++) await gateway.client.chat.completions.create(question);
    await expect(gateway.client.chat.completions.create(question)).rejects.toMatchObject({ status: 429 });
    await row.getByText('2 of 2').waitFor();
    await page.getByRole('button', { name: 'Change first' }).click();
    await dialog.getByLabel('Requests per minute').fill('');
    await dialog.getByRole('button', { name: 'Remove budget 1' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await gateway.gateway.query({ type: 'keys' }))[0]?.limits).toBe(null);
    expect(await row.getByRole('meter').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('open in the field of the budget that a notification is about, which it leaves as it is', async () => {
    const budgets = [
      { unit: 'tokens', amount: 9_000, per: 'day', hard: true } as const,
      { unit: 'usd', amount: 2.5, per: 'week', hard: true } as const,
    ];
    const groups = [{ id: 'default', limits: { budgets } }];
    const { page, gateway, complaints } = await open({ screen: '/keys', config: { ...priced, groups } });
    const [key] = await gateway.gateway.query({ type: 'keys' });
    const id = key?.id ?? '';
    await gateway.gateway.execute({ type: 'key.update', id, changes: { limits: { budgets } } });
    await page.getByRole('meter').first().waitFor();
    const showAt = (hash: string) => page.evaluate((next) => location.assign(next), hash);
    await showAt(`#/keys?key=${id}&budget=usd-week`);
    const dialog = page.getByRole('dialog');
    await expectFocus(dialog.getByLabel('Amount of budget 2'));
    expect(await dialog.getByLabel('Amount of budget 2').inputValue()).toBe('2.5');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(page.url()).toMatch(/#\/keys$/);
    await showAt('#/groups/default?budget=tokens-day');
    await expectFocus(page.getByLabel('Amount of budget 1'));
    expect((await gateway.gateway.query({ type: 'keys' }))[0]?.limits).toEqual({ budgets });
    expect(complaints).toEqual([]);
  });

  it('of a group are set in its form, and an overview reports when its budget is spent', async () => {
    const { page, gateway, complaints } = await open({ screen: '/groups/default', config: priced });
    await unfold(page, 'Limits');
    await page.getByLabel('Tokens per minute').fill('90000');
    await page.getByRole('button', { name: 'Add a budget' }).click();
    // A budget needs an amount, so nothing is saved.
    await page.getByRole('button', { name: 'Save' }).click();
    await expectFocus(page.getByLabel('Amount of budget 1'));
    expect((await gateway.gateway.query({ type: 'groups' }))[0]?.limits).toBeUndefined();
    await page.getByLabel('Amount of budget 1').fill('1');
    await page.getByLabel('Unit of budget 1').selectOption('tokens');
    await page.getByLabel('When budget 1 is spent').selectOption('then warn');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('meter', { name: '1 token a month' }).waitFor();
    for (let count = 0; count < 2; count++) await gateway.client.chat.completions.create(question);
    await page.goto(`${gateway.origin}/#/`);
    const concern = page.getByRole('link', { name: /Group “default” has spent .+ of its 1 token a month/ });
    await concern.click();
    await page.getByRole('textbox', { name: 'Tokens per minute' }).waitFor();
    expect(complaints).toEqual([]);
  });
});

it.each(appearances)(
  'the screens with limits are in order in $width px, $colorScheme, $locale',
  async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 900 }, colorScheme, locale };
    const limits = {
      requestsPerMinute: 60,
      tokensPerMinute: 100_000,
      concurrent: 4,
      budgets: [
        { unit: 'usd' as const, amount: 0.1, per: 'day' as const },
        { unit: 'tokens' as const, amount: 1_000_000, per: 'month' as const, hard: false },
      ],
    };
    const { page, gateway, complaints } = await open({
      context,
      screen: '/keys',
      config: { ...priced, groups: [{ id: 'default', limits: { concurrent: 20, budgets: [] } }] },
    });
    await gateway.client.chat.completions.create(question);
    await gateway.gateway.execute({ type: 'key.update', id: 'k1', changes: { limits } });
    const check = async (name: string) => {
      await takePicture(page, `limits-${name}-${width}-${colorScheme}`);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults(page)).toEqual([]);
    };
    await page.getByRole('meter').first().waitFor();
    await check('keys');
    await page.getByRole('button', { name: /^(Change first|修改 first)$/ }).click();
    await page.getByRole('dialog').getByRole('group').waitFor();
    await check('key');
    await page.keyboard.press('Escape');
    await page.goto(`${gateway.origin}/#/groups/default`);
    await page.getByRole('meter').first().waitFor();
    await check('group');
    await page.goto(`${gateway.origin}/#/`);
    await page.getByRole('link', { name: /“first”/ }).waitFor();
    await check('overview');
    expect(complaints).toEqual([]);
  },
  60_000,
);
