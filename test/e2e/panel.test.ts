/** The panel at the tray, as its page is in Chromium. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { en } from '../../renderer/messages/en/en.ts';
import { zh } from '../../renderer/messages/zh/zh.ts';
import { builtWindow } from '../support/program.ts';
import { accessibilityFaults } from './accessibility.ts';
import { furnish, furnishedConfig, furnishedEnv } from './filled-ledger.ts';
import type { OpenedWindow } from './open-window.ts';
import { openInSuite, overflowOf, takePicture } from './window-suite.ts';

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
    await takePicture(page, `panel-${look.colorScheme}-${look.locale}`, { fullPage: false });
    expect(await page.evaluate(() => document.documentElement.lang)).toBe(look.locale === 'en-GB' ? 'en' : 'zh-CN');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
  });

  it('shows what the day was, who called, and the latest requests, and follows them', async () => {
    const { page, clientWith, gateway } = await openPanel({ config: { settings: { demo: 'on' } } });
    await page.getByText('Nothing has called Sluice yet').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
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

  it('shows three clients at first and the rest when asked, so that the latest requests stay in sight', async () => {
    const { page, gateway, clientWith } = await openPanel({ config: { settings: { demo: 'on' } } });
    for (const name of ['One', 'Two', 'Three', 'Four', 'Five']) {
      const { secret } = await gateway.gateway.execute({ type: 'key.create', name });
      const messages = [{ role: 'user' as const, content: 'hello' }];
      await clientWith(secret).chat.completions.create({ model: 'demo-chat', messages });
    }
    const clients = section(page, 'Clients today');
    const more = clients.getByRole('button', { name: '2 more' });
    await more.waitFor();
    expect(await clients.getByRole('listitem').count()).toBe(4);
    expect(await accessibilityFaults(page)).toEqual([]);
    await more.press('Enter');
    await clients.getByRole('button', { name: 'Fewer', expanded: true }).waitFor();
    expect(await clients.getByRole('listitem').count()).toBe(6);
    expect(await focused(page)).toBe('Fewer');
  });

  it('calls a session by how it begins, as the window does', async () => {
    const groups = [{ id: 'default', capture: true }];
    const { page, gateway, clientWith } = await openPanel({ config: { groups, settings: { demo: 'on' } } });
    const { secret } = await gateway.gateway.execute({ type: 'key.create', name: 'Editor' });
    await clientWith(secret).chat.completions.create({
      ...{ model: 'demo-chat', prompt_cache_key: 'conversation-1' },
      messages: [{ role: 'user', content: 'Mend the gate' }],
    });
    await section(page, 'Sessions').getByText('Mend the gate').waitFor();
    await page.getByRole('button', { name: 'Stop session Mend the gate' }).waitFor();
    await page.goto(`${gateway.origin}/#/sessions`);
    await page.getByRole('link', { name: 'Mend the gate' }).waitFor();
  });

  it('is gone through by arrow keys alone, and starts and stops a capture', async () => {
    const { page, gateway } = await openPanel({ config: furnishedConfig, env: furnishedEnv, prepare: furnish });
    await page.getByRole('listitem').nth(7).waitFor();
    // Past the figures of what failed and was refused today.
    await expect
      .poll(async () => {
        await page.keyboard.press('ArrowDown');
        return focused(page);
      })
      .toContain('Codex');
    await page.keyboard.press('Home');
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

  it('switches who answers a client, says who else is concerned, and takes it back', async () => {
    const { page, gateway } = await openPanel({ config: furnishedConfig, env: furnishedEnv, prepare: furnish });
    const fast = async () => (await gateway.gateway.query({ type: 'aliases' })).find(({ name }) => name === 'fast');
    const before = await fast();
    const row = section(page, 'Clients today').getByRole('button', { name: /Codex CLI/ });
    await row.focus();
    await page.keyboard.press('ArrowRight');
    const menu = section(page, 'Who answers Codex CLI');
    await menu.getByRole('button', { name: 'fast', exact: true }).press('Enter');
    await menu.getByText('is also used by openai-python').waitFor();
    await menu.locator('[aria-current]').getByText('gpt-5-mini').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await menu
      .getByRole('listitem')
      .getByRole('button', { name: /qwen3:14b/ })
      .press('Enter');
    await page.getByText('fast is now qwen3:14b at Ollama.').waitFor();
    expect((await fast())?.targets[0]).toMatchObject({ provider: 'ollama', model: 'qwen3:14b', priority: 0 });
    expect((await fast())?.targets).toHaveLength(before?.targets.length ?? 0);
    await expect.poll(() => focused(page)).toContain('Codex CLI');
    await page.getByRole('button', { name: 'Undo' }).press('Enter');
    await expect.poll(fast).toEqual(before);

    await row.press('ArrowRight');
    await menu.getByRole('button', { name: 'gpt-5', exact: true }).press('Enter');
    await menu.getByText('A choice adds an alias of this name').waitFor();
    await page.keyboard.press('ArrowLeft');
    await menu.waitFor({ state: 'detached' });

    await section(page, 'Clients today')
      .getByRole('button', { name: /Editor/ })
      .press('Enter');
    const ofEditor = section(page, 'Who answers openai-python');
    await ofEditor.getByRole('searchbox').fill('embed ollama');
    await page.keyboard.press('ArrowDown');
    expect(await focused(page)).toBe('nomic-embed-textOllama');
    await page.keyboard.press('Escape');
    await ofEditor.waitFor({ state: 'detached' });
  });

  it.each([
    { colorScheme: 'light', locale: 'en-GB' },
    { colorScheme: 'dark', locale: 'zh-CN' },
  ] as const)('switches for one key alone and takes it back, $colorScheme, $locale', async (look) => {
    const { page, gateway } = await openPanel({
      ...{ context: look, config: furnishedConfig, env: furnishedEnv, prepare: furnish },
    });
    const texts = look.locale === 'en-GB' ? en.panel : zh.panel;
    const aliases = async () => (await gateway.gateway.query({ type: 'aliases' })).find(({ name }) => name === 'fast');
    const own = async () =>
      (await gateway.gateway.query({ type: 'find-keys', ids: ['codex'] })).found[0]?.aliases ?? [];
    const before = await aliases();
    const row = section(page, texts.clients).getByRole('button', { name: /Codex CLI/ });
    const menu = section(page, texts.answersFor('Codex CLI'));
    const openMenu = async () => {
      await row.press('ArrowRight');
      await menu.getByRole('button', { name: 'fast', exact: true }).press('Enter');
    };
    await openMenu();
    const onlyForKey = menu.getByRole('button', { name: texts.onlyForKey });
    await onlyForKey.press('Enter');
    expect(await onlyForKey.getAttribute('aria-pressed')).toBe('true');
    await menu.locator('[aria-current]').waitFor();
    await takePicture(page, `panel-only-key-${look.colorScheme}-${look.locale}`, { fullPage: false });
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    const choice = menu.getByRole('listitem').getByRole('button', { name: /qwen3:14b/ });
    await choice.press('Enter');
    const said = page.getByRole('status').getByText('Codex CLI');
    await said.waitFor();
    expect(await own()).toMatchObject([
      { name: 'fast', targets: [{ provider: 'ollama' }, { provider: 'openai' }, {}] },
    ]);
    expect(await aliases()).toEqual(before);

    await openMenu();
    await menu.getByText(texts.isOnlyForKey).waitFor();
    await takePicture(page, `panel-own-${look.colorScheme}-${look.locale}`, { fullPage: false });
    expect(await accessibilityFaults(page)).toEqual([]);
    await menu.getByRole('button', { name: texts.asForAllKeys }).press('Enter');
    await page.getByText(texts.switchedBack('fast', 'Codex CLI')).waitFor();
    expect(await own()).toEqual([]);
    await page.getByRole('button', { name: texts.undo }).press('Enter');
    await expect.poll(own).toMatchObject([{ name: 'fast' }]);
  });

  it('shows an alias that a team preset has locked as locked', async () => {
    const { page, gateway } = await openPanel({ config: furnishedConfig, env: furnishedEnv, prepare: furnish });
    const alias = { name: 'fast', targets: [{ provider: 'openai', model: 'gpt-5-mini' }] };
    await gateway.gateway.execute({
      type: 'team-preset.apply',
      preset: { teamPreset: 1, name: 'Ours', organisation: 'Example Inc.', aliases: [alias], locked: ['aliases/fast'] },
    });
    await section(page, 'Clients today')
      .getByRole('button', { name: /Editor/ })
      .press('Enter');
    const menu = section(page, 'Who answers openai-python');
    await menu.getByRole('button', { name: 'fast', exact: true }).press('Enter');
    await menu.getByText('Locked by Example Inc.').waitFor();
    const choices = menu.getByRole('listitem').getByRole('button');
    expect(await choices.count()).toBeGreaterThan(1);
    for (const choice of await choices.all()) expect(await choice.isDisabled()).toBe(true);
    expect(await menu.getByRole('button', { name: 'Only for this key' }).count()).toBe(0);
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

/** Runs in the page, in place of the desktop's preload: a desktop whose engine is off until it is switched on. */
function pretendDesktop(): void {
  const calls: [string, unknown][] = [];
  let listener: (message: unknown) => void = () => {};
  let gateway = 'off';
  const off = { error: { code: 'shutting_down', message: 'The gateway is off.', type: 'server_error', param: null } };
  Object.assign(window, {
    calls,
    close: () => calls.push(['close', null]),
    sluiceDesktop: {
      async call(name: string, argument: unknown) {
        calls.push([name, argument]);
        if (name === 'setGateway') {
          gateway = argument ? 'serving' : 'off';
          listener({ type: 'desktop', desktop: { gateway } });
        }
        return name === 'desktop' || name === 'setGateway' ? { result: { gateway } } : off;
      },
      listen: (next: typeof listener) => {
        listener = next;
      },
    },
  });
}

describe('the panel of the desktop', () => {
  it('switches Sluice on and off, opens the window, and leaves with Escape', async () => {
    const { page, gateway } = await open({ context: { viewport: size }, isNewPage: true });
    await page.addInitScript(pretendDesktop);
    await page.goto(`${gateway.origin}/panel`);
    await page.getByText('Sluice is off.').waitFor();
    const power = page.getByRole('switch', { name: 'Sluice on or off' });
    expect(await power.getAttribute('aria-checked')).toBe('false');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => power.getAttribute('aria-checked')).toBe('true');
    await power.press('Space');
    await page.getByText('Sluice is off.').waitFor();
    await page.getByRole('link', { name: 'Open Sluice' }).press('Enter');
    await page.keyboard.press('Escape');
    const calls: [string, unknown][] = await page.evaluate('window.calls');
    expect(calls.filter(([name]) => ['setGateway', 'showWindow', 'close'].includes(name))).toEqual([
      ['setGateway', true],
      ['setGateway', false],
      ['showWindow', '/'],
      ['close', null],
    ]);
  });
});

describe('the page of the panel', () => {
  const html = () => readFileSync(join(builtWindow, 'panel.html'), 'utf8');
  const files = () => ['panel.html', ...[...html().matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, file = '']) => file)];

  it('is at most 150 kB, compressed, with all that it loads, its typeface included', () => {
    const styles = files().filter((file) => file.endsWith('.css'));
    const fonts = styles.flatMap((file) => readFileSync(join(builtWindow, file), 'utf8').match(/[\w-]+\.woff2/g) ?? []);
    expect(fonts).toHaveLength(1);
    const sizes = [...files(), ...fonts.map((file) => `assets/${file}`)].map(
      (file) => gzipSync(readFileSync(join(builtWindow, file)), { level: 9 }).length,
    );
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
