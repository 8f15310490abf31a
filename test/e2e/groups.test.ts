/** @suite long */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { accessibilityFaults } from './accessibility.ts';
import { expectFocus, liftByKeyboard, unfold } from './person.ts';
import { appearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();

/** No call is made, so nothing needs to listen there. */
const baseUrl = 'http://127.0.0.1:9/v1';
const config = {
  providers: [
    { id: 'alpha', baseUrl, models: ['gpt-a', 'gpt-b', 'embed-a'] },
    { id: 'beta', baseUrl, models: ['gpt-a', 'llama-c'] },
    { id: 'gamma', baseUrl, models: ['gpt-a'], enabled: false },
  ],
};

describe('a group', () => {
  it('shows what its patterns mean before they are saved', async () => {
    const { page, gateway, complaints } = await open({ screen: '/groups/default', config });
    const preview = page.getByRole('region', { name: 'Available models' });
    await expect.poll(() => namesIn(page)).toEqual(['embed-a', 'gpt-a', 'gpt-b', 'llama-c']);
    await replaceTags(page, 'Allowed models', ['gpt-*', 'llama-*']);
    await replaceTags(page, 'Blocked models', ['*-b']);
    await expect.poll(() => namesIn(page)).toEqual(['gpt-a', 'llama-c']);
    await preview.getByText(/^2 removed:/).waitFor();
    await page.getByText('Its keys can use 2 models · 2 removed').waitFor();
    expect((await gateway.client.models.list()).data).toHaveLength(4);
    await page.getByRole('button', { name: 'Save' }).click();
    await preview.getByText(/removed/).waitFor({ state: 'detached' });
    expect((await gateway.client.models.list()).data.map(({ id }) => id)).toEqual(['gpt-a', 'llama-c']);
    await replaceTags(page, 'Allowed models', ['*']);
    await preview.getByRole('listitem').filter({ hasText: 'embed-a' }).getByText('new').waitFor();
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await expect.poll(() => namesIn(page)).toEqual(['gpt-a', 'llama-c']);
    expect(complaints).toEqual([]);
  });

  it('says in a line what each of its parts sets, and shows those that differ from the defaults', async () => {
    const { page, gateway, complaints } = await open({
      screen: '/groups/default',
      config: {
        ...config,
        groups: [
          {
            ...{ id: 'default', order: [{ provider: 'beta' }], defaults: { chat: 'gpt-a' } },
            policy: { hedgeAfterMs: 2_000, timeouts: { firstByteMs: 9_000 }, rescue: 'off' as const },
            limits: { requestsPerMinute: 1, budgets: [{ unit: 'usd' as const, amount: 5, per: 'day' as const }] },
          },
        ],
      },
    });
    const summaries = {
      Providers: 'All · beta first',
      Routing: 'Provider order · 2 retries · 3 fallbacks · broken streams not resumed · 2 more settings changed',
      'Default models': 'Chat: gpt-a',
      'Other API endpoints': 'None',
      Limits: '1 request per minute · $5.00 a day',
      Capture: 'Only when a client asks',
    };
    for (const [title, summary] of Object.entries(summaries)) {
      const toggle = page.getByRole('button', { name: title, description: summary, exact: true });
      const isUsual = ['None', 'Only when a client asks'].includes(summary);
      expect(await toggle.getAttribute('aria-expanded'), title).toBe(String(!isUsual));
    }
    expect(await page.getByRole('switch', { name: 'Capture all requests' }).isVisible()).toBe(false);
    // A change made elsewhere appears.
    await gateway.gateway.execute({ type: 'group.put', group: { id: 'default', capture: true } });
    await page.getByRole('switch', { name: 'Capture all requests' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows a folded part again where what is typed in it cannot be saved, and changes nothing', async () => {
    const { page, gateway } = await open({ screen: '/groups/default', config });
    const toggle = page.getByRole('button', { name: 'Limits', exact: true });
    await toggle.press('Enter');
    await page.getByRole('button', { name: 'Add a budget' }).click();
    await toggle.press('Enter');
    expect(await toggle.getAttribute('aria-expanded')).toBe('false');
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await expectFocus(page.getByRole('textbox', { name: 'Amount of budget 1' }));
    expect(await toggle.getAttribute('aria-expanded')).toBe('true');
    expect((await gateway.gateway.query({ type: 'groups' }))[0]?.limits ?? null).toBeNull();
  });

  it('keeps what is typed while a save is in flight, as unsaved', async () => {
    const { page, gateway } = await open({ screen: '/groups/default', config });
    const release = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    await page.route('**/control/execute', async (route) => {
      sent.resolve();
      await release.promise;
      await route.continue();
    });
    const name = page.getByLabel('Name', { exact: true });
    const nameThere = async () => (await gateway.gateway.query({ type: 'groups' }))[0]?.name;
    await name.fill('One');
    await page.getByRole('button', { name: 'Save' }).click();
    await sent.promise;
    await name.fill('One and more');
    release.resolve();
    await page.getByRole('heading', { name: 'One', level: 1, exact: true }).waitFor();
    const save = page.getByRole('button', { name: 'Save' }).and(page.locator(':not([data-loading])'));
    await save.waitFor();
    expect(await nameThere()).toBe('One');
    expect(await name.inputValue()).toBe('One and more');
    await save.click();
    await expect.poll(nameThere).toBe('One and more');
  });

  it('names the providers that it may use, and knows one by its name', async () => {
    const named = { id: 'p-1', name: 'Acme Europe', baseUrl: 'http://127.0.0.1:9/v1', models: ['gpt-a'] };
    const { page, gateway } = await open({
      screen: '/groups/default',
      config: { providers: [named], groups: [{ id: 'default', providers: ['p-1'] }] },
    });
    const part = page.getByRole('button', { name: 'Providers', description: 'Acme Europe', exact: true });
    await part.waitFor();
    const filter = page.getByRole('group', { name: 'Providers' }).first();
    await filter.getByText('Acme Europe', { exact: true }).first().waitFor();
    expect(await page.getByText('p-1', { exact: true }).count()).toBe(0);
    await replaceTags(page, 'Allowed providers', ['Acme Europe']);
    await page.getByLabel('Name', { exact: true }).fill('Europe');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await gateway.gateway.query({ type: 'groups' }))[0]?.name).toBe('Europe');
    expect((await gateway.gateway.query({ type: 'groups' }))[0]?.providers).toEqual(['p-1']);
  });

  it('has its providers put in order by keyboard', async () => {
    const { page, gateway, complaints } = await open({ screen: '/groups/default', config });
    await unfold(page, 'Providers');
    const handle = page.getByRole('button', { name: 'Move alpha' });
    await liftByKeyboard(page, 'alpha', 1);
    await page.keyboard.press('ArrowDown');
    await page.getByText('alpha is at position 2.').waitFor({ state: 'attached' });
    await page.keyboard.press('Space');
    await page.getByText('alpha was dropped at position 2.').waitFor({ state: 'attached' });
    await expectFocus(handle);
    expect(await placesIn(page)).toEqual(['beta', 'alpha', 'gamma']);
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => askedFirst(gateway, 'gpt-a')).toBe('beta');
    await page.getByRole('button', { name: 'Reset to the provider list' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => askedFirst(gateway, 'gpt-a')).toBe('alpha');
    expect(complaints).toEqual([]);
  });

  it('has its providers put in order by dragging', async () => {
    const { page } = await open({ screen: '/groups/default', config });
    await unfold(page, 'Providers');
    const from = page.getByRole('button', { name: 'Move gamma' });
    await from.scrollIntoViewIfNeeded();
    const start = await centreOf(from);
    const end = await centreOf(page.getByRole('button', { name: 'Move alpha' }));
    await page.mouse.move(start.x, start.y);
    await page.mouse.down();
    await page.mouse.move(start.x, start.y - 10, { steps: 3 });
    await page.mouse.move(end.x, end.y - 8, { steps: 10 });
    await page.mouse.up();
    await expect.poll(() => placesIn(page)).toEqual(['gamma', 'alpha', 'beta']);
  });

  it('may use some providers only, and has defaults and capture', async () => {
    const { page, gateway } = await open({ screen: '/groups/default', config });
    await unfold(page, 'Providers');
    await replaceTags(page, 'Allowed providers', ['beta']);
    await expect.poll(() => namesIn(page)).toEqual(['gpt-a', 'llama-c']);
    expect(await placesIn(page)).toEqual(['beta']);
    expect(await page.getByLabel('Chat', { exact: true }).isVisible()).toBe(false);
    await unfold(page, 'Default models');
    await page.getByLabel('Chat', { exact: true }).fill('gpt-a');
    await page
      .getByText('Would be refused: not allowed here, or no provider serves it.')
      .waitFor({ state: 'detached' });
    await page.getByLabel('Chat', { exact: true }).fill('gone');
    await page.getByText('Would be refused: not allowed here, or no provider serves it.').waitFor();
    await page.getByLabel('Chat', { exact: true }).fill('llama-c');
    await unfold(page, 'Other API endpoints');
    const rest = page.getByRole('combobox', { name: 'Pass them to' });
    await rest.selectOption({ label: 'alpha' });
    await page.getByText('Such requests are refused: the group may not use this provider.').waitFor();
    await rest.selectOption({ label: 'beta' });
    await page.getByRole('combobox', { name: 'Deleting what Sluice does not know' }).selectOption('allow');
    await page
      .getByText('Such requests are refused: the group may not use this provider.')
      .waitFor({ state: 'detached' });
    await unfold(page, 'Capture');
    const capture = page.getByRole('group', { name: 'Capture' });
    await capture.getByText(/up to 256 kB of each body, for 7 days/).waitFor();
    await capture.getByRole('switch', { name: 'Capture all requests' }).press('Space');
    await capture.getByRole('switch', { name: 'Let clients have single requests captured' }).press('Space');
    await unfold(page, 'Limits');
    await page.getByRole('switch', { name: 'Allow models of unknown price under a hard budget' }).press('Space');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await gateway.gateway.query({ type: 'groups' }))[0])
      .toMatchObject({
        ...{ providers: ['beta'], defaults: { chat: 'llama-c' }, capture: true, unpriced: 'allow' },
        captureOnRequest: false,
        passthrough: 'beta',
        deleteUnknown: 'allow',
      });
    const available = page.getByRole('region', { name: 'Available models' });
    await available.getByRole('link', { name: 'llama-c' }).click();
    await expect.poll(() => page.url()).toMatch(/#\/models\?for=group:default&model=llama-c$/);
  });

  it('answers equal requests from memory once that is on, and forgets them at the press of a button', async () => {
    const { page, gateway, complaints } = await open({ screen: '/groups/default' });
    await page.getByRole('button', { name: 'Testing…' }).click();
    const cache = page.getByRole('region', { name: 'Response cache' });
    await cache.getByRole('switch', { name: 'Answer equal requests from memory' }).press('Space');
    const seconds = cache.getByLabel('Keep answers for (seconds)');
    await retype(page, seconds, '60');
    expect(await seconds.inputValue()).toBe('60');
    await cache.getByRole('button', { name: 'Save' }).click();
    await cache.getByText('0 answers, 0 B').waitFor();
    const ask = { model: 'demo-chat', temperature: 0, messages: [{ role: 'user' as const, content: 'Hello' }] };
    for (const expected of ['miss', 'hit']) {
      const { response } = await gateway.client.chat.completions.create(ask).withResponse();
      expect(response.headers.get('x-sluice-cache')).toBe(expected);
    }
    await page.reload();
    await page.getByText(/^On now: cache of up to/).waitFor();
    await page.getByRole('button', { name: 'Testing…' }).click();
    await cache.getByText(/^1 answer, .* · 1 request answered since the start/).waitFor();
    await cache.getByRole('button', { name: 'Clear cache' }).click();
    await cache.getByText(/^0 answers, 0 B/).waitFor();
    expect(complaints).toEqual([]);
  });

  it('keeps what was typed when it changes elsewhere, and asks which is to hold', async () => {
    const { page, gateway, complaints } = await open({ screen: '/groups/default', config });
    const name = page.getByLabel('Name', { exact: true });
    const put = (changes: object) =>
      gateway.gateway.execute({ type: 'group.put', group: { id: 'default', ...changes } });
    const save = page.getByRole('button', { name: 'Save' });
    await name.fill('Mine');
    await put({ deny: ['gpt-b'] });
    await page.getByText('gpt-b', { exact: true }).first().waitFor();
    expect(await name.inputValue()).toBe('Mine');
    expect(await page.getByRole('alert').count()).toBe(0);
    await put({ deny: ['gpt-b'], name: 'Theirs' });
    const notice = page.getByRole('alert').filter({ hasText: 'changed elsewhere' });
    await notice.waitFor();
    expect(await name.inputValue()).toBe('Mine');
    expect(await save.isDisabled()).toBe(true);
    expect(await accessibilityFaults(page)).toEqual([]);
    await notice.getByRole('button', { name: 'Keep my version' }).click();
    await save.click();
    await page.getByRole('heading', { name: 'Mine', level: 1 }).waitFor();
    const [group] = await gateway.gateway.query({ type: 'groups' });
    expect(group).toMatchObject({ name: 'Mine', deny: ['gpt-b'] });
    await name.fill('Mine again');
    await put({ name: 'Theirs again' });
    await notice.getByRole('button', { name: 'Use their version' }).click();
    expect(await name.inputValue()).toBe('Theirs again');
    expect(await save.isDisabled()).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('has its retry policy set by keyboard', async () => {
    const { page, gateway, complaints } = await open({ screen: '/groups/default', config });
    await page.getByRole('button', { name: 'Routing', exact: true }).press('Enter');
    const strategy = page.getByLabel('Strategy');
    await strategy.focus();
    await page.keyboard.type('Sticky');
    await page.getByText(/a conversation keeps its target and credential/).waitFor();
    await page.keyboard.press('Tab');
    await expectFocus(page.getByLabel('Retries'));
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('1');
    const more = page.getByRole('button', { name: 'More routing options' });
    await more.press('Enter');
    await page.getByLabel('First byte').fill('30');
    await page.getByLabel('Hedge after').fill('1.5');
    await retype(page, page.getByLabel('Time for all attempts'), '0.5');
    await page.getByRole('switch', { name: 'Finish responses after the client disconnects' }).press('Space');
    await page.getByRole('switch', { name: 'Refuse requests that cannot be translated without loss' }).press('Space');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    const policyOf = async () => (await gateway.gateway.query({ type: 'groups' }))[0]?.policy;
    await expect.poll(policyOf).toMatchObject({
      ...{ strategy: 'sticky', retries: 1, fallbacks: 3, budgetMs: 500, rescue: 'resume' },
      ...{ hedgeAfterMs: 1_500, onClientGone: 'drain', losses: 'refuse', timeouts: { firstByteMs: 30_000 } },
    });
    await page.getByLabel('First byte').fill('');
    await page.getByLabel('Retries').fill('');
    await page.getByLabel('Time for all attempts').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(policyOf).toMatchObject({ retries: 2, budgetMs: 120_000, timeouts: {} });
    expect(complaints).toEqual([]);
  });

  it('is created by name, and removed after confirmation', async () => {
    const { page, gateway, complaints } = await open({ screen: '/groups', config });
    await page.getByRole('button', { name: 'New group' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('My Writers');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'My Writers', level: 1 }).waitFor();
    // Asking for the models of a group that has been removed would be a complaint of the console.
    await expect.poll(() => namesIn(page)).toContain('gpt-a');
    await page.getByRole('button', { name: 'Remove…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'default', exact: true }).click();
    await page.getByRole('button', { name: 'Remove…' }).click();
    await page.getByText(/cannot be removed while it has keys: first/).waitFor();
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).count()).toBe(0);
    expect((await gateway.gateway.query({ type: 'groups' })).map(({ id }) => id)).toEqual(['default']);
    expect(complaints).toEqual([]);
  });
});

it.each(appearances)(
  'the groups screen is in order in $width px, $colorScheme, $locale',
  async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const groups = [
      { id: 'default' },
      {
        id: 'long',
        name: 'A group with a name that is rather long',
        models: ['gpt-*', 'o*'],
        deny: ['*-b'],
        capture: true,
      },
    ];
    const { page, gateway, complaints } = await open({ context, screen: '/groups', config: { ...config, groups } });
    const check = async (name: string) => {
      await takePicture(page, `groups-${name}-${width}-${colorScheme}`);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults(page)).toEqual([]);
    };
    await page.getByRole('link', { name: 'default', exact: true }).waitFor();
    await check('list');
    await page.getByRole('link', { name: 'A group with' }).click();
    await page.getByRole('listitem').filter({ hasText: 'gpt-a' }).first().waitFor();
    await replaceTags(page, /Allowed models|允许的模型/, ['gpt-*', 'llama-*']);
    await page.getByRole('listitem').filter({ hasText: 'llama-c' }).waitFor();
    await check('folded');
    const folded = page.locator('form h3 button[aria-expanded=false]');
    while ((await folded.count()) > 0) await folded.first().click();
    await page.getByRole('button', { name: /^(More routing options|更多路由选项)$/ }).click();
    await check('detail');
    await page.getByRole('button', { name: /^(Save|保存)$/ }).click();
    const saved = async () => (await gateway.gateway.query({ type: 'groups' })).at(-1)?.models;
    await expect.poll(saved).toEqual(['gpt-*', 'llama-*']);
    expect(complaints).toEqual([]);
  },
);

function namesIn(page: Page): Promise<string[]> {
  const items = page.getByRole('region', { name: 'Available models' }).getByRole('listitem');
  return items.locator('span:first-child').allTextContents();
}

async function placesIn(page: Page): Promise<string[]> {
  const handles = await page.getByRole('list', { name: 'Provider order' }).getByRole('button').all();
  const labels = await Promise.all(handles.map((handle) => handle.getAttribute('aria-label')));
  return labels.map((label) => label?.replace('Move ', '') ?? '');
}

async function replaceTags(page: Page, label: string | RegExp, tags: readonly string[]): Promise<void> {
  const field = page.getByRole('combobox', { name: label });
  await field.focus();
  for (let presses = 0; presses < 5; presses++) await page.keyboard.press('Backspace');
  for (const tag of tags) {
    await page.keyboard.type(tag);
    await page.keyboard.press('Enter');
  }
}

/** Empties the field first, as a person would. The form must not fill it again in between. */
async function retype(page: Page, field: ReturnType<Page['getByLabel']>, text: string): Promise<void> {
  await field.focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await page.keyboard.type(text);
}

type Queries = Awaited<ReturnType<typeof open>>['gateway'];

async function askedFirst({ gateway }: Queries, model: string): Promise<string | undefined> {
  const { candidates } = await gateway.query({ type: 'route', group: 'default', model });
  return candidates[0]?.provider;
}

async function centreOf(target: ReturnType<Page['getByRole']>): Promise<{ x: number; y: number }> {
  const box = await target.boundingBox();
  if (!box) throw new Error('It is not to be seen');
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}
