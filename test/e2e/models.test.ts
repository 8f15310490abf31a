import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';
import { accessibilityFaults } from './accessibility.ts';
import { liftByKeyboard } from './person.ts';
import { appearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();

let upstream: ScriptedUpstream;
beforeEach(async () => {
  upstream = await startUpstream((_request, response) =>
    json(response, { id: 'x', object: 'chat.completion', choices: [] }),
  );
});
afterEach(() => upstream.stop());

function config() {
  const { baseUrl } = upstream;
  const targets = [
    { provider: 'alpha', model: 'gpt-a', priority: 0 },
    { provider: 'beta', model: 'llama-c', priority: 1 },
  ];
  return {
    providers: [
      { id: 'alpha', baseUrl, models: ['gpt-a', 'gpt-b'] },
      { id: 'beta', baseUrl, models: ['gpt-a', 'llama-c'] },
      { id: 'off', baseUrl, models: ['gpt-a'], enabled: false },
    ],
    aliases: [{ name: 'fast', targets }],
    groups: [{ id: 'default' }, { id: 'narrow', name: 'Narrow', models: ['llama-*'] }],
  };
}

describe('the names', () => {
  it('are those that the chosen group or key lists, with their providers', async () => {
    const { page, gateway, complaints } = await open({ screen: '/models', config: config() });
    const names = page.getByRole('region', { name: 'Available models' });
    await expect
      .poll(() => rowsOf(page))
      .toEqual(['fastalpha, beta', 'gpt-aalpha, beta · Chat', 'gpt-balpha · Chat', 'llama-cbeta · Chat']);
    await page.getByLabel('Show models for').selectOption('Narrow');
    await expect.poll(() => rowsOf(page)).toEqual(['llama-cbeta · Chat']);
    await gateway.gateway.execute({ type: 'key.create', name: 'listed', models: ['gpt-b'] });
    await page.getByLabel('Show models for').selectOption('listed');
    await expect.poll(() => rowsOf(page)).toEqual(['gpt-balpha · Chat']);
    await gateway.gateway.execute({ type: 'provider.set-enabled', id: 'alpha', enabled: false });
    await names.getByText('No models').waitFor();
    expect(complaints).toEqual([]);
  });

  it('explain which targets they lead to, and why not to others', async () => {
    const { page, complaints } = await open({ screen: '/models', config: config() });
    const route = page.getByRole('region', { name: 'Route preview' });
    await page.getByRole('button', { name: 'Show the route of gpt-a' }).click();
    const items = route.getByRole('listitem');
    await expect
      .poll(() => items.allTextContents())
      .toEqual([
        expect.stringMatching(/^alpha gpt-ait serves this modelunchanged: Chat Completions, Responses/),
        expect.stringMatching(/^beta gpt-ait serves this model/),
        'offit is switched off',
      ]);
    const translated = items.first().getByText('translated: Anthropic Messages → Chat Completions');
    await translated.focus();
    await page.keyboard.press('Enter');
    await items
      .first()
      .getByText(/^Dropped if present: .*top_k/)
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByLabel('Show models for').selectOption('Narrow');
    await route.getByText('The request would be refused.').waitFor();
    await route.getByText('(model_not_found)').waitFor();
    await route.getByLabel('Model').fill('beta/llama-c');
    await route.getByText('the model name addresses it', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('the route preview', () => {
  it('follows changes in a provider’s list, even if the length stays the same', async () => {
    const lists = (id: string) => upstream.answer((_request, response) => json(response, { data: [{ id }] }));
    lists('gpt-old');
    const providers = [{ id: 'alpha', baseUrl: upstream.baseUrl }];
    const { page, gateway } = await open({ screen: '/models?model=gpt-new', config: { providers } });
    const route = page.getByRole('region', { name: 'Route preview' });
    await route.getByText('The request would be refused.').waitFor();
    await expect.poll(() => rowsOf(page)).toEqual(['gpt-oldalpha · Chat']);
    lists('gpt-new');
    await gateway.gateway.execute({ type: 'provider.refresh-models', id: 'alpha' });
    await route.getByText('it serves this model').waitFor();
    await expect.poll(() => rowsOf(page)).toEqual(['gpt-newalpha · Chat']);
  });

  it('is kept in the address with the chosen group', async () => {
    const { page, gateway } = await open({ screen: '/models', config: config() });
    await page.getByLabel('Show models for').selectOption('Narrow');
    await page.getByRole('button', { name: 'Show the route of llama-c' }).click();
    await expect.poll(() => page.url()).toContain('#/models?for=group%3Anarrow&model=llama-c');
    await page.goto(`${gateway.origin}/#/keys`);
    await page.goBack();
    const route = page.getByRole('region', { name: 'Route preview' });
    await expect.poll(() => route.getByLabel('Model').inputValue()).toBe('llama-c');
    await expect.poll(() => rowsOf(page)).toEqual(['llama-cbeta · Chat']);
  });

  it('begins with the most used model', async () => {
    const { page, gateway, clientWith } = await open({ screen: '/keys', config: config() });
    await clientWith(testKey).chat.completions.create({ model: 'gpt-b', messages: [] });
    await page.goto(`${gateway.origin}/#/models`);
    const route = page.getByRole('region', { name: 'Route preview' });
    await expect.poll(() => route.getByLabel('Model').inputValue()).toBe('gpt-b');
    await route.getByText('Will try, in order').waitFor();
  });

  it('groups targets that are skipped for the same reason in one row', async () => {
    const { baseUrl } = upstream;
    const providers = ['gpt-a', 'gpt-b', 'gpt-c'].map((model) => ({ id: `of-${model}`, baseUrl, models: [model] }));
    const { page } = await open({ screen: '/models?model=gpt-a', config: { providers } });
    const items = page.getByRole('region', { name: 'Route preview' }).getByRole('listitem');
    await expect
      .poll(() => items.allTextContents())
      .toEqual([expect.stringMatching(/^of-gpt-a/), 'of-gpt-b · of-gpt-cnot known to serve this model']);
  });

  it('does not list a paused target as tried', async () => {
    upstream.answer((_request, response) => json(response, { error: { message: 'no', code: 'invalid_api_key' } }, 401));
    const only = {
      id: 'alpha',
      baseUrl: upstream.baseUrl,
      models: ['gpt-a'],
      credentials: [{ id: 'c1', secret: 'env:K' }],
    };
    const { page, clientWith } = await open({
      screen: '/models?model=gpt-a',
      env: { K: 'wrong' },
      config: { providers: [only] },
    });
    const route = page.getByRole('region', { name: 'Route preview' });
    await route.getByText('Will try, in order').waitFor();
    await clientWith(testKey)
      .chat.completions.create({ model: 'gpt-a', messages: [] })
      .catch(() => {});
    await route.getByText('Paused until you act').waitFor();
    expect(await route.getByText('Will try, in order').count()).toBe(0);
  });

  it('leads from a model to the playground', async () => {
    const { page } = await open({ screen: '/models', config: config() });
    await page.getByRole('link', { name: 'Try gpt-b in the playground' }).click();
    const model = page.getByRole('region', { name: 'Chat' }).getByLabel('Model', { exact: true });
    await expect.poll(() => model.inputValue()).toBe('gpt-b');
  });
});

describe('an alias', () => {
  it('shows ranks as an order and weights as shares', async () => {
    const aliases = [
      {
        name: 'split',
        targets: [
          { provider: 'alpha', model: 'gpt-a', priority: 0, weight: 3 },
          { provider: 'beta', model: 'gpt-a', priority: 0, weight: 1 },
          { provider: 'beta', model: 'llama-c', priority: 1 },
        ],
      },
    ];
    const { page } = await open({ screen: '/models', config: { ...config(), aliases } });
    const flow = page.getByRole('list', { name: 'Targets of split' }).getByRole('listitem');
    await expect.poll(() => flow.allTextContents()).toEqual(['75% alpha gpt-a25% beta gpt-a', 'beta llama-c']);
  });

  it('has a context window for each target, which can be left to the provider again', async () => {
    const aliases = [{ name: 'long', targets: [{ provider: 'alpha', model: 'gpt-a', contextTokens: 8_000 }] }];
    const { page, gateway } = await open({ screen: '/models', config: { ...config(), aliases } });
    const targets = async () => (await gateway.gateway.query({ type: 'config' })).config.aliases[0]?.targets;
    for (const [text, tokens] of [
      ['200000', 200_000],
      ['', undefined],
    ] as const) {
      await page.getByRole('button', { name: 'Change long' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Context window of target 1, in tokens').fill(text);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await expect.poll(async () => (await targets())?.map(({ contextTokens }) => contextTokens)).toEqual([tokens]);
      await dialog.waitFor({ state: 'hidden' });
    }
  });

  it('keeps what was typed when it changes elsewhere, and asks which is to hold', async () => {
    const { page, gateway, complaints } = await open({ screen: '/models', config: config() });
    await page.getByRole('button', { name: 'Change fast' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Model of target 1').fill('gpt-b');
    const theirs = { name: 'fast', targets: [{ provider: 'beta', model: 'llama-c' }] };
    await gateway.gateway.execute({ type: 'alias.put', alias: theirs });
    const notice = dialog.getByRole('alert').filter({ hasText: 'changed elsewhere' });
    await notice.waitFor();
    expect(await dialog.getByLabel('Model of target 1').inputValue()).toBe('gpt-b');
    await notice.getByRole('button', { name: 'Use their version' }).click();
    expect(await dialog.getByLabel('Model of target 1').inputValue()).toBe('llama-c');
    await dialog.getByLabel('Model of target 1').fill('gpt-a');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await gateway.gateway.query({ type: 'aliases' }))[0]?.targets).toMatchObject([
      { provider: 'beta', model: 'gpt-a' },
    ]);
    expect(complaints).toEqual([]);
  });

  it('is made with targets in order, changed by keyboard, and removed after asking', async () => {
    const { page, gateway, complaints } = await open({ screen: '/models', config: config() });
    await page.getByRole('button', { name: 'New alias' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('best');
    await dialog.getByLabel('Provider of target 1').selectOption('alpha');
    const model = dialog.getByLabel('Model of target 1');
    await model.click();
    const options = page.getByRole('listbox').getByRole('option');
    await expect.poll(() => options.allTextContents()).toEqual(['gpt-a', 'gpt-b']);
    expect(await accessibilityFaults(page)).toEqual([]);
    await model.fill('-B');
    await expect.poll(() => options.allTextContents()).toEqual(['gpt-b']);
    await model.press('ArrowDown');
    await model.press('Enter');
    expect(await model.inputValue()).toBe('gpt-b');
    await dialog.getByRole('button', { name: 'Add target' }).click();
    await dialog.getByLabel('Provider of target 2').selectOption('beta');
    await dialog.getByLabel('Model of target 2').fill('llama-c');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await askedModel(gateway, upstream)).toBe('gpt-b');

    await page.getByRole('button', { name: 'Change best' }).click();
    await liftByKeyboard(page, 'beta/llama-c', 2);
    await page.keyboard.press('Escape');
    await page.getByText('beta/llama-c was not moved.').waitFor({ state: 'attached' });
    await liftByKeyboard(page, 'beta/llama-c', 2);
    await page.keyboard.press('ArrowUp');
    await page.getByText('beta/llama-c is at position 1.').waitFor({ state: 'attached' });
    await page.keyboard.press('Space');
    await expect.poll(() => dialog.getByLabel('Model of target 1').inputValue()).toBe('llama-c');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await askedModel(gateway, upstream)).toBe('llama-c');

    await page.getByRole('button', { name: 'Remove best…' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await gateway.gateway.query({ type: 'aliases' })).map(({ name }) => name)).toEqual(['fast']);
    expect(complaints).toEqual([]);
  });

  it('shares requests between targets of one rank by weight', async () => {
    const { page, gateway } = await open({ screen: '/models', config: config() });
    await page.getByRole('button', { name: 'Change fast' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Weight of target 1').count()).toBe(0);
    await dialog.getByLabel('Share requests with the target above').check();
    await dialog.getByLabel('Weight of target 2').fill('3');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await gateway.gateway.query({ type: 'aliases' }))[0]?.targets).toEqual([
      { provider: 'alpha', model: 'gpt-a', priority: 0, weight: 1 },
      { provider: 'beta', model: 'llama-c', priority: 0, weight: 3 },
    ]);
    await page.getByRole('button', { name: 'Show the route of fast' }).first().click();
    await page.getByText('weight 3').waitFor();
  });

  it('does not silently replace another one', async () => {
    const { page } = await open({ screen: '/models', config: config() });
    await page.getByRole('button', { name: 'New alias' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('fast');
    await dialog.getByLabel('Model of target 1').fill('gpt-a');
    await dialog.getByText('This name is already taken.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  });
});

it.each(appearances)(
  'the models screen is in order in $width px, $colorScheme, $locale',
  async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page, complaints } = await open({ context, screen: '/models', config: config() });
    const check = async (name: string) => {
      await takePicture(page, `models-${name}-${width}-${colorScheme}`);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults(page)).toEqual([]);
    };
    await page
      .getByRole('button', { name: /^(Show the route of fast|查看 fast 的路由)$/ })
      .first()
      .click();
    await page
      .getByText(/“fast”/)
      .first()
      .waitFor();
    await check('route');
    await page.getByRole('combobox', { name: /^(Model|模型)$/ }).fill('gpt-x');
    await page.getByText('(model_not_found)').waitFor();
    await check('refused');
    await page.getByRole('button', { name: /^(Change|修改) fast$/ }).click();
    await page.getByRole('dialog').getByRole('checkbox').check();
    await check('alias');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^(Save|保存)$/ })
      .click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  },
);

function rowsOf(page: Page): Promise<string[]> {
  return page.getByRole('region', { name: 'Available models' }).getByRole('listitem').allTextContents();
}

type Gateway = Awaited<ReturnType<typeof open>>['gateway'];

/** The model that the upstream receives when a client requests `best`. */
async function askedModel({ client }: Gateway, { seen }: ScriptedUpstream): Promise<unknown> {
  await client.chat.completions.create({ model: 'best', messages: [{ role: 'user', content: 'Hello' }] });
  return JSON.parse(String(seen.at(-1)?.body)).model;
}
