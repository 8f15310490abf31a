/** The panel at the tray, as its page is in Chromium. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { en } from '../../renderer/messages/en/en.ts';
import { builtWindow } from '../support/program.ts';
import { accessibilityFaults } from './accessibility.ts';
import { furnish, furnishedConfig, furnishedEnv } from './furnished.ts';
import type { OpenedWindow } from './open-window.ts';
import { openInSuite, overflowOf } from './window-suite.ts';

const open = openInSuite();
const size = { width: 360, height: 520 };

async function openPanel(options: Parameters<typeof open>[0] = {}): Promise<OpenedWindow> {
  const window = await open({ ...options, context: { viewport: size, ...options.context } });
  await window.page.goto(`${window.gateway.origin}/panel`);
  await window.page.locator('dl').waitFor();
  return window;
}

/** As when the desktop hides the window and shows it again. */
async function show(page: Page, isShown: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event('visibilitychange'));
  }, !isShown);
}

const section = (page: Page, name: string | RegExp) => page.getByRole('region', { name });
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? '');

describe('the panel', () => {
  it.each([
    { colorScheme: 'light', locale: 'en-GB' },
    { colorScheme: 'dark', locale: 'zh-CN' },
  ] as const)('has no faults of accessibility and shows nothing cut off, $colorScheme, $locale', async (look) => {
    const { page, complaints } = await openPanel({
      context: look,
      config: furnishedConfig,
      env: furnishedEnv,
      prepare: furnish,
    });
    await page.getByRole('listitem').nth(7).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe(look.locale === 'en-GB' ? 'en' : 'zh-CN');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
  });

  it('shows what the day was, who called, and the latest requests, and follows them', async () => {
    const { page, clientWith, gateway } = await openPanel({ config: { settings: { demo: 'on' } } });
    await page.getByText('No program has called Sluice today.').waitFor();
    const { secret } = await gateway.gateway.execute({ type: 'key.create', name: 'Editor' });
    await clientWith(secret).chat.completions.create({
      model: 'demo-chat',
      messages: [{ role: 'user', content: 'hello' }],
    });
    const client = section(page, 'Clients today').getByRole('listitem');
    await client.getByText('openai-node').waitFor();
    expect(await client.textContent()).toContain('Editor');
    expect(await client.textContent()).toContain('demo-chat → ');
    expect(await section(page, 'Latest requests').getByRole('listitem').textContent()).toContain('demo-chat');
    const figures = page.locator('dl');
    expect(await figures.getByRole('definition').allTextContents()).toEqual([
      '$0.00',
      '1',
      expect.stringMatching(/\d/),
    ]);
  });

  it('is gone through by arrow keys alone, and starts and stops a capture', async () => {
    const { page, gateway } = await openPanel({ config: furnishedConfig, env: furnishedEnv, prepare: furnish });
    await page.getByRole('listitem').nth(7).waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await focused(page)).toContain('Codex');
    await page.keyboard.press('ArrowUp');
    expect(await focused(page)).toBe('Open Sluice');
    await page.keyboard.press('ArrowUp');
    expect(await focused(page)).toBe('Capture 10 min');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Capturing, 10 min left' }).waitFor();
    expect((await gateway.gateway.query({ type: 'status' })).capture).toMatchObject([{ kind: 'all' }]);
    await page.getByRole('button', { name: 'Capturing, 10 min left' }).press('Enter');
    await page.getByRole('button', { name: 'Capture 10 min' }).waitFor();
    expect((await gateway.gateway.query({ type: 'status' })).capture).toEqual([]);
  });

  it('asks nothing and listens to nothing while it is hidden, and knows the news once it is shown', async () => {
    const { page, gateway, clientWith } = await openPanel({ config: { settings: { demo: 'on' } } });
    const { secret } = await gateway.gateway.execute({ type: 'key.create', name: 'Editor' });
    const call = () =>
      clientWith(secret).chat.completions.create({ model: 'demo-chat', messages: [{ role: 'user', content: 'hi' }] });
    const requests = page.getByRole('definition').nth(1);
    await call();
    await expect.poll(() => requests.textContent()).toBe('1');

    const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/control/events'));
    await show(page, false);
    await ended;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await call();
    // Longer than it waits before it asks after an event.
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1_000)));
    expect(asked).toEqual([]);
    expect(await requests.textContent()).toBe('1');
    await show(page, true);
    await expect.poll(() => requests.textContent()).toBe('2');
  });

  it('says that Sluice does not respond, with the last known figures, and recovers', async () => {
    const window = await openPanel({ config: furnishedConfig, env: furnishedEnv, prepare: furnish });
    const { page } = window;
    const figures = await page.getByRole('definition').allTextContents();
    await window.stopEngine();
    await page.getByText('These are the last known figures').waitFor();
    expect(await page.getByRole('definition').allTextContents()).toEqual(figures);
    expect(await page.getByRole('button', { name: 'Capture 10 min' }).isDisabled()).toBe(true);
    await window.startEngine();
    await page.getByText('These are the last known figures').waitFor({ state: 'detached' });
  });
});

describe('the page of the panel', () => {
  const html = () => readFileSync(join(builtWindow, 'panel.html'), 'utf8');
  const files = () => ['panel.html', ...[...html().matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, file = '']) => file)];

  it('is at most 150 kB, compressed, with all that it loads', () => {
    const sizes = files().map((file) => gzipSync(readFileSync(join(builtWindow, file)), { level: 9 }).length);
    expect(sizes.length).toBeGreaterThanOrEqual(4);
    expect(sizes.reduce((sum, each) => sum + each, 0)).toBeLessThan(150_000);
  });

  it('loads nothing later, and has nothing of the screens of the window', () => {
    const scripts = files().filter((file) => file.endsWith('.js'));
    const text = scripts.map((file) => readFileSync(join(builtWindow, file), 'utf8')).join();
    expect(text).not.toMatch(/\bimport\(/);
    const others = readdirSync(join(builtWindow, 'assets'))
      .filter((file) => file.endsWith('.js') && !scripts.includes(`assets/${file}`))
      .map((file) => readFileSync(join(builtWindow, 'assets', file), 'utf8'))
      .join();
    const { connect, groups, keys, models, providers, sessions } = en;
    for (const { lead } of [connect, groups, keys, models, providers, sessions]) {
      expect(others).toContain(lead);
      expect(text).not.toContain(lead);
    }
  });
});
