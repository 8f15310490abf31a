import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { accessibilityFaults } from './accessibility.ts';
import { expectFocus, tabTo, trackOf } from './person.ts';
import { appearances, openInSuite, overflowOf, ownClipboard, takePicture } from './window-suite.ts';

const open = openInSuite();

describe('a new key', () => {
  it('has a group, an expiry and models of its own, and snippets that work', async () => {
    const { page, gateway, clientWith, complaints } = await open({ screen: '/keys', config: twoGroups });
    await ownClipboard(page);
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('editor');
    await dialog.getByLabel('Group').selectOption('Writers');
    await dialog.getByLabel('Expires').selectOption('In 30 days');
    await dialog.getByLabel('Models').fill('demo-c*');
    await dialog.getByLabel('Models').press('Enter');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const secret = (await page.getByTestId('secret').textContent()) ?? '';
    await dialog.getByText('Python', { exact: true }).click();
    await dialog.getByRole('button', { name: 'Copy Python' }).click();
    await dialog.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
      `client = OpenAI(base_url="${gateway.baseUrl}", api_key="${secret}")`,
    );
    await dialog.getByRole('button', { name: 'Done' }).click();
    const names = (await clientWith(secret).models.list()).data.map(({ id }) => id);
    expect(names).toEqual(['demo-chat']);
    const keys = await gateway.gateway.query({ type: 'keys' });
    expect(keys.at(-1)).toMatchObject({ name: 'editor', group: 'writers', models: ['demo-c*'] });
    const days = (Date.parse(keys.at(-1)?.expiresAt ?? '') - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(30);
    expect(await page.content()).not.toContain(secret);
    expect(complaints).toEqual([]);
  });

  it('shows the aliases of it alone, and removes them', async () => {
    const { page, gateway, complaints } = await open({ screen: '/keys', config: { settings: { demo: 'on' } } });
    const { key } = await gateway.gateway.execute({ type: 'key.create', name: 'editor' });
    for (const name of ['fast', 'careful']) {
      const targets = [{ provider: 'demo', model: 'demo-chat' }];
      await gateway.gateway.execute({ type: 'alias.put', key: key.id, alias: { name, targets } });
    }
    await page.getByText('aliases of its own').waitFor();
    await page.getByRole('button', { name: 'Change editor' }).click();
    const part = page.getByRole('dialog').getByRole('group', { name: 'Aliases of this key alone' });
    await part.getByText('demo-chat').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await takePicture(page, 'key-with-aliases', { fullPage: false });
    await part.getByRole('button', { name: 'Remove fast, as for all keys' }).click();
    await expect.poll(() => part.getByRole('listitem').count()).toBe(1);
    // The window shows the change before it is made.
    const left = async () => (await gateway.gateway.query({ type: 'find-keys', ids: [key.id] })).found[0]?.aliases;
    await expect.poll(async () => (await left())?.map(({ name }) => name)).toEqual(['careful']);
    await part.getByRole('button', { name: 'Remove careful, as for all keys' }).click();
    await part.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  it('shows again only a secret that was kept', async () => {
    const { page, gateway } = await open({ screen: '/keys', config: twoGroups });
    const { secret } = await gateway.gateway.execute({ type: 'key.create', name: 'kept' });
    await gateway.gateway.execute({ type: 'key.create', name: 'gone', keepSecret: false });
    await page.getByRole('switch', { name: 'Enable key gone' }).waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'More for gone' }).click();
    await page.getByRole('menuitem', { name: 'Rotate…' }).waitFor();
    expect(await page.getByRole('menuitem', { name: 'Show secret' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await chooseAct(page, 'kept', 'Show secret');
    expect(await page.getByTestId('secret').textContent()).toBe(secret);
    await page.getByText('can be shown again').waitFor();
  });

  it('makes a second group from the form of a key, which is listed from then on', async () => {
    const { page, gateway, complaints } = await open({ screen: '/keys' });
    const tabs = page.getByRole('navigation', { name: 'Access' });
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    expect(await tabs.count()).toBe(0);
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('editor');
    await dialog.getByRole('button', { name: 'New group…' }).click();
    await expectFocus(dialog.getByLabel('New group'));
    await page.keyboard.type('Writers');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await expect.poll(() => dialog.getByLabel('Group', { exact: true }).inputValue()).toBe('group:writers');
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect((await gateway.gateway.query({ type: 'keys' })).at(-1)).toMatchObject({ name: 'editor', group: 'writers' });
    await tabs.getByRole('link', { name: 'Groups' }).click();
    await page.getByRole('link', { name: 'Writers' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('captures nothing unless that is switched on, and then shows for how long bodies are kept', async () => {
    const { page, gateway } = await open({ screen: '/keys' });
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    const capture = dialog.getByRole('switch', { name: 'Capture its requests' });
    expect(await capture.isChecked()).toBe(false);
    await dialog.getByText(/up to 256 kB of each body, for 7 days/).waitFor();
    await dialog.getByLabel('Name').fill('plain');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'New key' }).click();
    await dialog.getByLabel('Name').fill('watched');
    await trackOf(capture).click();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByTestId('secret').waitFor();
    const keys = await gateway.gateway.query({ type: 'keys' });
    expect(keys.slice(-2)).toMatchObject([
      { name: 'plain', capture: false },
      { name: 'watched', capture: true },
    ]);
  });

  it('needs the keyboard alone', async () => {
    const { page, gateway, complaints } = await open({ screen: '/keys' });
    const newKey = page.getByRole('button', { name: 'New key' });
    await tabTo(page, newKey);
    await page.keyboard.press('Enter');
    await expectFocus(page.getByLabel('Name'));
    // A key without a name could not be told apart from others.
    await page.keyboard.press('Enter');
    await expectFocus(page.getByLabel('Name'));
    expect(await gateway.gateway.query({ type: 'keys' })).toHaveLength(1);
    await page.keyboard.type('typed');
    await page.keyboard.press('Enter');
    await expectFocus(page.getByRole('button', { name: 'Copy secret' }));
    await tabTo(page, page.getByRole('button', { name: 'Done' }));
    await page.keyboard.press('Enter');
    await expectFocus(newKey);
    await page.getByText('typed', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('a key', () => {
  it('can be changed, and keeps its expiry unless that is changed', async () => {
    const expiresAt = '2999-01-01T00:00:00.000Z';
    const { page, gateway, complaints } = await open({
      screen: '/keys',
      config: twoGroups,
      begin: ({ gateway }) => gateway.execute({ type: 'key.update', id: 'k1', changes: { expiresAt, models: ['a'] } }),
    });
    const edit = page.getByRole('button', { name: 'Change first' });
    await edit.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('renamed');
    await dialog.getByLabel('Group').selectOption('Writers');
    await dialog.getByLabel('Models').press('Backspace');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('renamed', { exact: true }).waitFor();
    const [key] = await gateway.gateway.query({ type: 'keys' });
    expect(key).toMatchObject({ name: 'renamed', group: 'writers', models: null, expiresAt });
    await page.getByRole('button', { name: 'Change renamed' }).click();
    await dialog.getByLabel('Expires').selectOption('Never');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await gateway.gateway.query({ type: 'keys' }))[0]?.expiresAt).toBe(null);
    expect(complaints).toEqual([]);
  });

  it('keeps what was changed elsewhere while its form was open', async () => {
    const { page, gateway } = await open({ screen: '/keys', config: twoGroups });
    await page.getByRole('button', { name: 'Change first' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('renamed');
    await gateway.gateway.execute({ type: 'key.update', id: 'k1', changes: { group: 'writers', models: ['a'] } });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const [key] = await gateway.gateway.query({ type: 'keys' });
    expect(key).toMatchObject({ name: 'renamed', group: 'writers', models: ['a'] });
  });

  it('gets another secret only after asking, and the old one ends', async () => {
    const { page, gateway, clientWith } = await open({ screen: '/keys' });
    await chooseAct(page, 'first', 'Rotate…');
    await expectFocus(page.getByRole('button', { name: 'Cancel' }));
    await page.keyboard.press('Enter');
    await expectFocus(page.getByRole('button', { name: 'More for first' }));
    await gateway.client.models.list();
    await chooseAct(page, 'first', 'Rotate…');
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    const secret = (await page.getByTestId('secret').textContent()) ?? '';
    await expect(gateway.client.models.list()).rejects.toMatchObject({ status: 401 });
    expect((await clientWith(secret).models.list()).data.length).toBeGreaterThan(0);
  });
});

describe('a row of the keys screen', () => {
  it('tells a key by its last four characters, copies its secret, and leads to its requests', async () => {
    const { page, gateway, complaints } = await open({ screen: '/keys' });
    await ownClipboard(page);
    const { secret } = await gateway.gateway.execute({ type: 'key.create', name: 'editor' });
    await page.getByText(`…${secret.slice(-4)}`, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Copy the secret of editor' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
    await page.getByRole('link', { name: 'Requests of editor' }).click();
    await expect.poll(() => new URL(page.url()).hash).toBe('#/requests?key=editor');
    expect(complaints).toEqual([]);
  });

  it('keeps the old secret working for the time that was chosen', async () => {
    const { page, gateway, clientWith } = await open({ screen: '/keys' });
    await chooseAct(page, 'first', 'Rotate…');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('The old secret stops working').selectOption('In 24 hours');
    await dialog.getByText(/clients can use either/).waitFor();
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    const secret = (await page.getByTestId('secret').textContent()) ?? '';
    expect((await gateway.client.models.list()).data.length).toBeGreaterThan(0);
    expect((await clientWith(secret).models.list()).data.length).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText(/old secret works until/).waitFor();
  });

  it('closes a secret by Escape only if it can be shown again', async () => {
    const { page, gateway } = await open({ screen: '/keys' });
    await gateway.gateway.execute({ type: 'key.create', name: 'kept' });
    await chooseAct(page, 'kept', 'Show secret');
    await page.getByTestId('secret').waitFor();
    await page.keyboard.press('Escape');
    await page.getByTestId('secret').waitFor({ state: 'detached' });
    await chooseAct(page, 'first', 'Rotate…');
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page.getByText('cannot be shown again').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByTestId('secret').count()).toBe(1);
  });

  it('offers to switch off a key before it is revoked, and captures its requests', async () => {
    const { page, gateway } = await open({ screen: '/keys' });
    await chooseAct(page, 'first', 'Revoke…');
    await page.getByRole('button', { name: 'Switch off instead' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const first = async () => (await gateway.gateway.query({ type: 'keys' }))[0];
    expect(await first()).toMatchObject({ id: 'k1', enabled: false, capture: false });
    await page.getByRole('button', { name: 'Change first' }).click();
    await page.getByRole('switch', { name: 'Capture its requests' }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await first())?.capture).toBe(true);
  });
});

it.each(appearances)(
  'the keys screen is in order in $width px, $colorScheme, $locale',
  async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page, gateway, complaints } = await open({ context, screen: '/keys', config: twoGroups });
    await gateway.gateway.execute({
      type: 'key.create',
      name: 'A key with a name that is rather long',
      models: ['gpt-*', 'o*'],
    });
    await gateway.gateway.execute({ type: 'key.create', name: 'old', expiresAt: '2020-01-01T00:00:00Z' });
    const check = async (name: string) => {
      await takePicture(page, `keys-${name}-${width}-${colorScheme}`);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults(page)).toEqual([]);
    };
    await page.getByRole('switch', { name: /old/ }).waitFor({ state: 'attached' });
    await check('list');
    await page.getByRole('button', { name: /^(New key|新建密钥)$/ }).click();
    await page.getByRole('dialog').getByRole('textbox').first().fill('new');
    await check('create');
    await page.getByRole('button', { name: /^(Create|创建)$/ }).click();
    await page.getByTestId('secret').waitFor();
    await check('secret');
    expect(complaints).toEqual([]);
  },
);

async function chooseAct(page: Page, key: string, act: string): Promise<void> {
  await page.getByRole('button', { name: `More for ${key}` }).click();
  await page.getByRole('menuitem', { name: act }).click();
}

const twoGroups = { groups: [{ id: 'default' }, { id: 'writers', name: 'Writers' }] };
