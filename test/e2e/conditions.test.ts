/** Whoever says how a provider or a model is says the same, in the same colour and word. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { messagesFor } from '../../electron/messages.ts';
import { type TrayStatus, trayMenu } from '../../electron/tray-menu.ts';
import { en } from '../../renderer/messages/en/en.ts';
import { zh } from '../../renderer/messages/zh/zh.ts';
import { type Condition, conditionFacts, conditionOf, toneOf } from '../../server/contract/provider-condition.ts';
import { hasChromium, sharedBrowser, skipWithoutChromium } from '../support/chromium.ts';
import { conditionEnv, expectedConditions, expectedOfModels, startConditions } from '../support/conditions.ts';
import { hashOf, testKey } from '../support/gateway.ts';
import { accessibilityFaults } from './accessibility.ts';
import { type Sluice, startSluice } from './sluice.ts';
import { appearances, overflowOf, takePicture } from './window-suite.ts';

skipWithoutChromium();

let services: Awaited<ReturnType<typeof startConditions>>;
let sluice: Sluice;
beforeAll(async () => {
  if (!hasChromium) return;
  services = await startConditions();
  const keys = [{ id: 'k1', group: 'default', hash: hashOf(testKey) }];
  sluice = await startSluice({ env: conditionEnv, config: { ...services.config, version: 1, keys }, key: testKey });
  await services.ask((model) => sluice.client.chat.completions.create({ model, messages: [] }).catch(() => {}));
}, 60_000);
afterAll(async () => {
  await sluice?.remove();
  await services?.stop();
});

it('the engine finds them out, and says them until something is answered', () =>
  expect.poll(conditionsNow, { timeout: 15_000 }).toEqual(expectedConditions));

async function conditionsNow(): Promise<Record<string, Condition>> {
  const providers = await sluice.query({ type: 'providers' });
  return Object.fromEntries(providers.map((provider) => [provider.id, conditionOf(provider, Date.now())]));
}

const expected = Object.entries(expectedConditions);
/** Those that a person should look at. */
const troubles = expected.filter(
  ([id, condition]) => ['bad', 'warning'].includes(toneOf[condition]) && id !== 'degraded',
);

it.each(['en', 'zh'])('the tray says them in %s', async (locale) => {
  const messages = messagesFor(locale);
  const providers = (await sluice.query({ type: 'providers' })).map((provider) => {
    const { id, name, isDemo, enabled } = provider;
    return { id, name, isDemo, enabled, facts: conditionFacts(provider, Date.now()) };
  });
  const status: TrayStatus = {
    ...{
      engine: { kind: 'serving', baseUrl: '' },
      providers,
      defaultGroup: null,
      keys: [],
      today: null,
      lastError: null,
    },
    ...{ showsCost: false, startsAtLogin: false },
    update: { state: 'idle', version: null, notes: null, percent: null, problem: null },
  };
  const nothing = new Proxy({} as Parameters<typeof trayMenu>[1], { get: () => () => {} });
  const labels = new Map(trayMenu(status, nothing, { messages, locale }).map(({ id, label }) => [id, label]));
  for (const [id, condition] of expected) {
    const isPlain = condition === 'ready' || condition === 'off';
    const word = wordOf(condition, messages.health);
    expect(labels.get(`provider:${id}`)).toMatch(isPlain ? RegExp(`^${id}$`) : startOf(messages.inCondition(id, word)));
  }
});

it('the command line says them', async () => {
  const { health } = messagesFor('en');
  const { stdout } = await sluice.cli(['provider', 'list']);
  const rows = new Map(
    stdout
      .split('\n')
      .map((line) => line.split(/ {2,}/))
      .map(([id, ...cells]) => [id, cells]),
  );
  const { stdout: status } = await sluice.cli(['status']);
  const { stdout: short } = await sluice.cli(['status', '--short']);
  for (const [id, condition] of expected) {
    const word = wordOf(condition, health);
    expect(rows.get(id)?.[3]).toMatch(startOf(word));
    const isPlain = ['ready', 'untried', 'waiting'].includes(condition);
    expect(status).toContain(isPlain ? `${id}, ` : `${id} (${word}`);
    const isTrouble = troubles.some(([troubled]) => troubled === id);
    expect(short.includes(`provider "${id}": ${word}`)).toBe(isTrouble);
  }
});

it.each(['en-GB', 'zh-CN'])('the window says them in %s', async (locale) => {
  const { health } = messagesFor(locale);
  await withWindow({ locale, width: 1280, colorScheme: 'light' }, async ({ page, goTo }) => {
    await goTo('/providers');
    for (const [id, condition] of expected) {
      const card = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: id, exact: true }) });
      const dot = card.locator('[data-tone]').first();
      await expect.poll(() => dot.getAttribute('data-tone')).toBe(toneOf[condition]);
      await expect.poll(() => dot.locator('xpath=..').textContent()).toMatch(startOf(wordOf(condition, health)));
    }
    await goTo('/models');
    for (const [model, condition] of Object.entries(expectedOfModels)) {
      const row = page
        .getByRole('listitem')
        .filter({ hasText: model })
        .filter({ has: page.getByRole('img') });
      const dot = row.getByRole('img').first();
      await expect.poll(() => dot.getAttribute('aria-label')).toBe(health.conditions[condition]);
      expect(await dot.getAttribute('data-tone')).toBe(toneOf[condition]);
    }
    await goTo('/');
    await page.getByRole('button', { name: /^(Show all|显示全部)/ }).click();
    for (const [id, condition] of troubles) {
      const name = RegExp(`^(服务商 )?${id}[:：] ?${health.conditions[condition]}[.。]`);
      const link = page.getByRole('link', { name });
      await link.waitFor();
      const isBad = (await link.locator('.tabler-icon-alert-triangle').count()) === 1;
      expect(isBad).toBe(toneOf[condition] === 'bad');
    }
    for (const [id, condition] of expected) {
      if (troubles.some(([troubled]) => troubled === id) || condition === 'degraded') continue;
      expect(await page.getByRole('link', { name: RegExp(`^(服务商 )?${id}[:：]`) }).count()).toBe(0);
    }
  });
});

it.each([
  { locale: 'en-GB', colorScheme: 'light', texts: en },
  { locale: 'zh-CN', colorScheme: 'dark', texts: zh },
] as const)('the panel counts them as Home does and marks the targets it offers, in $locale', async (look) => {
  const { panel, attention, health } = look.texts;
  await withWindow({ ...look, width: 360 }, async ({ page, goTo }) => {
    await goTo('/');
    const header = page.getByRole('region', { name: attention.title }).locator('header');
    const count = Number((await header.textContent())?.match(/\d+/)?.[0]);
    expect(count).toBeGreaterThanOrEqual(troubles.length);
    await page.goto(`${sluice.origin}/panel`);
    const link = page.getByRole('link', { name: panel.attention(count, String(count)) });
    expect(await link.getAttribute('href')).toBe('/#/');
    expect(await link.locator('[data-tone]').getAttribute('data-tone')).toBe('bad');
    await takePicture(page, `conditions-panel-${look.colorScheme}`, { fullPage: false });
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.locator('[data-client]').first().click();
    const search = page.getByRole('searchbox');
    await search.waitFor();
    await takePicture(page, `conditions-panel-targets-${look.colorScheme}`, { fullPage: false });
    expect(await accessibilityFaults(page)).toEqual([]);
    for (const [model, condition] of Object.entries(expectedOfModels)) {
      await search.fill(model);
      const target = page.getByRole('listitem').getByRole('button').filter({ hasText: model });
      const tone = toneOf[condition];
      const isMarked = tone === 'bad' || tone === 'warning';
      expect(await target.locator('[data-tone]').count()).toBe(isMarked ? 1 : 0);
      if (!isMarked) continue;
      expect(await target.locator('[data-tone]').getAttribute('data-tone')).toBe(tone);
      await expect.poll(() => target.textContent()).toContain(health.conditions[condition]);
    }
  });
});

it.each(appearances)('conditions are in order in $width px, $colorScheme, $locale', async (appearance) => {
  await withWindow(appearance, async ({ page, goTo }) => {
    for (const [screen, path] of [
      ['home', '/'],
      ['cards', '/providers'],
      ['models', '/models'],
    ] as const) {
      await goTo(path);
      await page
        .getByText(/unproven/)
        .first()
        .waitFor();
      await takePicture(page, `conditions-${screen}-${appearance.width}-${appearance.colorScheme}`);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults(page)).toEqual([]);
    }
  });
});

/** As it stands for the providers of this test. */
function wordOf(condition: Condition, { conditions, failingModels }: ReturnType<typeof messagesFor>['health']): string {
  return condition === 'degraded' ? failingModels('1', '2', 'm-gone') : conditions[condition];
}

const startOf = (text: string) => RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`);

interface Look {
  locale: string;
  width: number;
  colorScheme: 'light' | 'dark';
}

async function withWindow(
  { locale, width, colorScheme }: Look,
  look: (opened: { page: Page; goTo: (path: string) => Promise<void> }) => Promise<void>,
): Promise<void> {
  const browser = await sharedBrowser();
  const context = await browser.newContext({ locale, colorScheme, viewport: { width, height: 900 } });
  try {
    const page = await context.newPage();
    const { url } = await sluice.execute({ type: 'window.create-address' });
    await page.goto(url);
    await page.getByRole('navigation').first().waitFor();
    await look({ page, goTo: async (path) => void (await page.goto(`${sluice.origin}/#${path}`)) });
  } finally {
    await context.close();
  }
}
