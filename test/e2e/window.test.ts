/** @suite long */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { OpenAI } from 'openai';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadDeclarativeConfig } from '../../server/config/declarative.ts';
import { builtWindow } from '../support/program.ts';
import { json, startUpstream } from '../support/upstream.ts';
import { accessibilityFaults } from './accessibility.ts';
import { expectFocus, setSwitch, tabTo, trackOf } from './person.ts';
import {
  appearances,
  appearancesDownTo380,
  openInSuite,
  overflowOf,
  ownClipboard,
  takePicture,
} from './window-suite.ts';

const jsBudgetBytes = 300 * 1024;

const open = openInSuite();

describe('the window in a browser', () => {
  it('shows that Sluice serves, and copies the base URL', async () => {
    const { page, gateway, complaints } = await open();
    await ownClipboard(page);
    await page.getByRole('status').getByText('Serving').waitFor();
    const status = page.getByRole('main');
    await status.getByText(gateway.baseUrl, { exact: true }).first().waitFor();
    await status.getByRole('button', { name: 'Copy Base URL' }).click();
    await status.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(gateway.baseUrl);
    expect(complaints).toEqual([]);
  });

  it('switches a provider off, so that the next request is refused, and on again', async () => {
    const upstream = await startUpstream((_request, response) => json(response, chatReply));
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
    const { page, gateway, complaints } = await open({ screen: '/providers', config: { providers } });
    const power = page.getByRole('switch', { name: 'Use provider main' });
    await setSwitch(power, false);
    expect(await chat(gateway.client, 'gpt-x')).toMatchObject({ status: 503, code: 'no_healthy_provider' });
    await setSwitch(power, true);
    expect(await chat(gateway.client, 'gpt-x')).toMatchObject({ object: 'chat.completion' });
    expect(complaints).toEqual([]);
    await upstream.stop();
  });

  it('switches the demo off, so that its models are gone, and on again', async () => {
    const { page, gateway, complaints } = await open({ screen: '/providers' });
    const power = page.getByRole('switch', { name: 'Use provider Sluice demo' });
    await setSwitch(power, false);
    await page.getByText('No providers').waitFor();
    expect(await chat(gateway.client, 'demo-chat')).toMatchObject({ status: 404, code: 'model_not_found' });
    await setSwitch(power, true);
    expect(await chat(gateway.client, 'demo-chat')).toMatchObject({ object: 'chat.completion' });
    expect(complaints).toEqual([]);
  });

  it('creates a key, shows its secret once, and that it is used', async () => {
    const { page, clientWith, complaints } = await open({ screen: '/keys' });
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('my editor');
    await page.getByRole('button', { name: 'Create' }).click();
    const secret = (await page.getByTestId('secret').textContent()) ?? '';
    expect(secret).toMatch(/^sk-sluice-\w{40,}$/);
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(secret);
    await chat(clientWith(secret), 'demo-chat');
    await section(page, 'Keys').getByText('used just now').waitFor();
    expect(complaints).toEqual([]);
  });

  it('revokes a key only after asking', async () => {
    const { page, gateway } = await open({ screen: '/keys' });
    const keys = section(page, 'Keys');
    const more = keys.getByRole('button', { name: 'More for first' });
    const revoke = page.getByRole('menuitem', { name: 'Revoke…' });
    await more.click();
    await revoke.click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expectFocus(more);
    expect(await chat(gateway.client, 'demo-chat')).toMatchObject({ object: 'chat.completion' });
    await more.click();
    await revoke.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await keys.getByText('No keys').waitFor();
    expect(await chat(gateway.client, 'demo-chat')).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  it('disables a key and enables it again', async () => {
    const { page, gateway } = await open({ screen: '/keys' });
    const power = page.getByRole('switch', { name: 'Enable key first' });
    await setSwitch(power, false);
    expect(await chat(gateway.client, 'demo-chat')).toMatchObject({ status: 401, code: 'key_disabled' });
    await setSwitch(power, true);
    expect(await chat(gateway.client, 'demo-chat')).toMatchObject({ object: 'chat.completion' });
  });

  it('stays signed in over a reload', async () => {
    const { page, complaints } = await open();
    await page.getByText('Serving').waitFor();
    await page.reload();
    await page.getByText('Serving').waitFor();
    expect(complaints).toEqual([]);
  });

  it.each([
    ['/', 'This window is not signed in'],
    ['/control/session?token=wrong', 'This link no longer works'],
  ])('tells a stranger who opens %s how to sign in', async (path, title) => {
    const { page, gateway } = await open({ signedIn: false });
    await ownClipboard(page);
    await page.goto(gateway.origin + path);
    await page.getByRole('heading', { name: title }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Copy command', exact: true }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('sluice window --open');
    expect(await page.getByRole('navigation').count()).toBe(0);
  });

  it('shows nothing about the last 24 hours if they could not be queried', async () => {
    const window = await open({ isNewPage: true });
    const { page } = window;
    await page.getByText('Serving').waitFor();
    await everyScreenLoaded(page);
    await window.stopEngine();
    await page.getByText('Connection to the engine lost.').waitFor();
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByText('Sluice demo').waitFor();
    expect(await page.getByText('Answered no requests in the last 24 hours.').count()).toBe(0);
    await window.startEngine();
    await page.getByText('Answered no requests in the last 24 hours.').waitFor();
  });

  it('says why nothing can be changed if the configuration comes from a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-read-only-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'sluice.json');
    writeFileSync(file, JSON.stringify({ version: 1, groups: [{ id: 'default' }] }));
    const { page } = await open({ ports: { config: await loadDeclarativeConfig(file) }, screen: '/providers' });
    const isOff = (name: string) => page.getByRole('button', { name }).isDisabled();
    for (const [screen, button] of [
      ['providers', 'Add provider'],
      ['models', 'New alias'],
      ['groups', 'New group'],
      ['groups/default', 'Remove…'],
      ['keys', 'New key'],
    ] as const) {
      await page.goto(`${page.url().split('#')[0]}#/${screen}`);
      await page.getByText('Read-only: the configuration comes from a file.').waitFor();
      expect(await isOff(button), screen).toBe(true);
    }
    await page.goto(`${page.url().split('#')[0]}#/requests`);
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    expect(await page.getByText('Read-only').count()).toBe(0);
  });

  it('says that the engine is gone, and goes on when it is back', async () => {
    const window = await open({ screen: '/providers' });
    const { page } = window;
    const power = page.getByRole('switch', { name: 'Use provider Sluice demo' });
    await trackOf(power).waitFor();
    await window.stopEngine();
    await page.getByText('Connection to the engine lost.').waitFor();
    await trackOf(power).click({ force: true });
    expect(await power.isChecked()).toBe(true);
    await window.startEngine();
    await page.getByText('Serving').waitFor();
    await setSwitch(power, false);
  });

  it('is operated by keyboard alone', async () => {
    const { page, complaints } = await open();
    await tabTo(page, page.getByRole('link', { name: 'Access' }));
    await page.keyboard.press('Enter');
    await expectFocus(page.getByRole('heading', { name: 'Keys', level: 1 }));
    const newKey = page.getByRole('button', { name: 'New key' });
    await tabTo(page, newKey);
    await page.keyboard.press('Enter');
    await expectFocus(page.getByLabel('Name'));
    await page.keyboard.type('typed');
    await page.keyboard.press('Enter');
    await expectFocus(page.getByRole('button', { name: 'Copy secret' }));
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByTestId('secret').waitFor({ state: 'detached' });
    await expectFocus(newKey);
    const power = page.getByRole('switch', { name: 'Enable key typed' });
    await tabTo(page, power);
    await page.keyboard.press('Space');
    await expect.poll(() => power.isChecked()).toBe(false);
    await expectFocus(power);
    expect(complaints).toEqual([]);
  });

  it('gives the focus to the requested screen, even if the first one has not loaded yet', async () => {
    const { page } = await open();
    await page.route('**/assets/Overview-*.js', () => {});
    await page.reload();
    await tabTo(page, page.getByRole('link', { name: 'Access' }));
    await page.keyboard.press('Enter');
    await expectFocus(page.getByRole('heading', { name: 'Keys', level: 1 }));
  });

  it('speaks the chosen language, also after a reload', async () => {
    const { page } = await open();
    await page.getByRole('button', { name: 'Language' }).click();
    await page.getByRole('menuitemradio', { name: '简体中文' }).click();
    await page.getByRole('heading', { name: '首页' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: '首页' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-CN');
  });

  it('is dark before its program runs, if dark was chosen', async () => {
    const { page } = await open({ context: { colorScheme: 'light' } });
    await page.getByRole('button', { name: 'Appearance' }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    await page.route('**/assets/*.js', (route) => route.abort());
    await page.reload({ waitUntil: 'domcontentloaded' });
    expect(await backgroundOf(page)).toBe('rgb(22, 24, 26)');
  });

  it.each(appearancesDownTo380)('fits in $width px, $colorScheme, $locale', async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page, gateway, complaints } = await open({ context, config: crowdedConfig });
    for (const screen of ['providers', 'keys']) {
      await page.goto(`${gateway.origin}/#/${screen}`);
      await page.getByRole('switch').first().waitFor({ state: 'attached' });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(overflow).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults(page)).toEqual([]);
      await takePicture(page, `${screen}-${width}-${colorScheme}-${locale}`);
    }
    expect(complaints).toEqual([]);
  });

  it('says where it is in its title, and leads anywhere and back', async () => {
    const { page, complaints } = await open();
    await expect.poll(() => page.title()).toBe('Home – Sluice');
    await page.getByRole('link', { name: 'Access' }).click();
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    expect(await page.title()).toBe('Keys – Sluice');
    expect(await page.getByRole('link', { name: 'Access' }).getAttribute('aria-current')).toBe('page');
    await page.goBack();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    expect(complaints).toEqual([]);
  });

  it.each(appearances)(
    'says of an address that there is no such page, in $width px, $colorScheme, $locale',
    async (look) => {
      const { width, colorScheme, locale } = look;
      const context = { viewport: { width, height: 800 }, colorScheme, locale };
      const { page } = await open({ screen: '/provider', context });
      await page
        .getByRole('heading', { name: /^There is no page at this address|^此地址没有页面/, level: 1 })
        .waitFor();
      await takePicture(page, `no-page-${width}-${colorScheme}-${locale}`);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByRole('link', { name: /^Open “Home”|^打开“首页”/ }).click();
      await page.getByRole('heading', { name: /^Home|^首页/, level: 1 }).waitFor();
    },
  );

  it('keeps the other screens when one cannot be loaded', async () => {
    const { page, gateway } = await open({ signedIn: false });
    await page.route('**/assets/Keys-*.js', (route) => route.abort());
    await page.goto(gateway.gateway.createAdminUrl());
    await page.getByRole('link', { name: 'Access' }).click();
    await page.getByRole('heading', { name: 'This screen could not be loaded' }).waitFor();
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByRole('heading', { name: 'Providers', level: 1 }).waitFor();
  });

  it('has loaded every screen when it is idle, so that they open without the engine too', async () => {
    const window = await open({ isNewPage: true });
    const { page, complaints } = window;
    await everyScreenLoaded(page);
    await window.stopEngine();
    await page.getByText('Connection to the engine lost.').waitFor();
    for (const [link, heading = link] of ways) {
      await page.getByRole('link', { name: link, exact: true }).click();
      await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor();
    }
    // A request that was on its way when the engine stopped fails in another way than later ones.
    expect(complaints.filter((text) => !text.includes('net::ERR_'))).toEqual([]);
  });

  it('says why a screen cannot be opened while the engine is gone, and opens it when it is back', async () => {
    const window = await open({ signedIn: false });
    const { page } = window;
    let isAnswered = false;
    await page.route('**/assets/Keys-*.js', (route) => (isAnswered ? route.continue() : route.abort()));
    await page.goto(window.gateway.gateway.createAdminUrl());
    await page.getByText('Serving').waitFor();
    await window.stopEngine();
    await page.getByText('Connection to the engine lost.').waitFor();
    await page.getByRole('link', { name: 'Access' }).click();
    const broken = page.getByRole('alert').filter({ hasText: 'This screen could not be loaded' });
    await broken.getByText('The engine is not responding.').waitFor();
    expect(await page.getByText('keeps running').count()).toBe(0);
    isAnswered = true;
    await window.startEngine();
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    await page.getByText('Serving').waitFor();
  });

  it('is sent compressed, and unchanged files are not requested again', async () => {
    const { page } = await open();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    const requests: { url: string; encoding: string | undefined }[] = [];
    page.on('response', (response) => {
      if (/\.(js|css)$/.test(response.url()))
        requests.push({ url: response.url(), encoding: response.headers()['content-encoding'] });
    });
    await page.reload();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    expect(requests.find(({ url }) => /index-.*\.js$/.test(url))?.encoding).toBe('br');
  });

  it('loads at most 300 kB of program before it shows something, compressed', () => {
    const page = readFileSync(join(builtWindow, 'index.html'), 'utf8');
    const files = [...page.matchAll(/(?:src|href)="\.?\/([^"]+\.js)"/g)].map(([, file = '']) =>
      join(builtWindow, file),
    );
    expect(files.length).toBeGreaterThan(1);
    const bytes = files.map((file) => gzipSync(readFileSync(file)).length).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeLessThan(jsBudgetBytes);
  });
});

const chatReply = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
};

/** Links to click one after the other, and the heading that each leads to if it is not the link's own text. */
const ways: readonly [link: string, heading?: string][] = [
  ['Models', 'Providers'],
  ['Models & aliases'],
  ['Access', 'Keys'],
  ['Traffic', 'Requests'],
  ['Sessions'],
  ['Playground'],
  ['Connect'],
  ['Settings'],
  ['Home'],
];

const longName = 'The provider of the whole company, for production, with a name that does not end';
const crowdedConfig = {
  providers: [
    { id: 'long', name: longName, baseUrl: `http://127.0.0.1:9/${'deployments/'.repeat(8)}v1`, models: ['*'] },
    { id: 'bare', baseUrl: 'http://127.0.0.1:9/v1', credentials: [{ id: 'c', secret: 'env:NOT_SET' }], models: ['*'] },
  ],
  settings: { demo: 'on' as const },
};

/** Resolves with the answer or the error. */
async function chat(client: OpenAI, model: string): Promise<unknown> {
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  return client.chat.completions.create({ model, messages }).catch((error: unknown) => error);
}

function section(page: Page, name: string): Locator {
  return page.getByRole('region', { name });
}

function backgroundOf(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
}

/** The files of a screen may arrive before the files that they import. */
async function everyScreenLoaded(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const fetched = new Set(performance.getEntriesByType('resource').map(({ name }) => name));
    const named = [...document.querySelectorAll<HTMLLinkElement>('link[rel=modulepreload], link[rel=stylesheet]')];
    const screens = named.filter(({ href }) =>
      /\/(Providers|Models|Groups|Keys|Requests|Playground|Connect|Settings)-[^/]*\.js$/.test(href),
    );
    return screens.length === 8 && named.every(({ href }) => fetched.has(href));
  });
}
