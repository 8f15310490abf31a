import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { openConfigStore } from '../../server/config/config-store.ts';
import { createConfPersistence } from '../../server/config/persistence.ts';
import type { ConfigInput } from '../../server/contract/config.ts';
import { hashOf, startGateway, type TestGateway, type TestPorts, testKey } from '../support/gateway.ts';
import { loadsNothingAhead } from '../support/launch-browser.ts';
import { builtWindow } from '../support/program.ts';

/** Checks the PNG signature, and the width and height in its header. */
export function expectPng(bytes: Buffer, side: number): void {
  expect(bytes.toString('latin1', 0, 8)).toBe('\x89PNG\r\n\x1a\n');
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([side, side]);
}

/**
 * Pages for the tests of the window. A reused page shows the next test's window in the same browser process, where the
 * program is already compiled; that saves two thirds of a window's cost. Therefore each worker keeps one page per
 * language. The next engine listens on the same port as the previous one, because what Chromium stores belongs to an
 * address.
 */

interface PageLook {
  locale?: string;
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
}

interface WindowPage {
  context: BrowserContext;
  page: Page;
  /** The port on which the window's engine must listen; 0 for any. */
  port: number;
  /** Returns the page after use. If an engine still listens at `origin`, the page is kept for the next window. */
  giveBack(origin: string | null): Promise<void>;
}

interface KeptPage {
  context: BrowserContext;
  page: Page;
  port: number;
}

/** By language. */
const keptPages = new Map<string, KeptPage>();

/**
 * A page of the built window. With `isNew`, it has a new browser context without stored data, and may preload screens.
 */
async function takePage(browser: Browser, look: PageLook = {}, isNew = false): Promise<WindowPage> {
  const { locale = 'en-GB', viewport = { width: 1280, height: 800 }, colorScheme = 'light' } = look;
  if (isNew) {
    const context = await browser.newContext({ locale, viewport, colorScheme });
    return { context, page: await context.newPage(), port: 0, giveBack: () => context.close() };
  }
  const last = keptPages.get(locale);
  keptPages.delete(locale);
  const kept = last && !last.page.isClosed() ? last : await openPage(browser, locale);
  const { context, page, port } = kept;
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  return {
    ...{ context, page, port },
    async giveBack(origin) {
      const isKept = origin !== null && !keptPages.has(locale) && (await leave({ page, context }, origin));
      if (isKept) keptPages.set(locale, { context, page, port: Number(new URL(origin).port) });
      else await context.close();
    },
  };
}

async function openPage(browser: Browser, locale: string): Promise<KeptPage> {
  const context = await browser.newContext({ locale });
  await context.addInitScript({ content: loadsNothingAhead });
  return { context, page: await context.newPage(), port: 0 };
}

/**
 * Removes all traces of a test, and leaves the page at an address of the same origin, because otherwise it would lose
 * its process.
 */
async function leave({ page, context }: Pick<KeptPage, 'page' | 'context'>, origin: string): Promise<boolean> {
  if (page.isClosed() || new URL(page.url()).origin !== origin) return false;
  for (const event of ['console', 'dialog', 'pageerror', 'request', 'response'] as const)
    page.removeAllListeners(event);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.goto(`${origin}/icon.svg`);
  await page.mouse.move(0, 0);
  await page.evaluate('localStorage.clear(); sessionStorage.clear();');
  await context.clearCookies();
  await context.clearPermissions();
  return true;
}

export interface OpenedWindow {
  gateway: TestGateway;
  context: BrowserContext;
  page: Page;
  /** Errors on the page, including violations of its content security policy. */
  complaints: string[];
  clientWith(key: string): OpenAI;
  stopEngine(): Promise<void>;
  /** Starts another engine on the same folder and port. */
  startEngine(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenWindowOptions {
  browser: Browser;
  config?: Partial<ConfigInput>;
  context?: PageLook;
  /** If false, the window is opened without the address that signs in. */
  signedIn?: boolean;
  /** Prepares the data folder before the engine starts. */
  prepare?: (folder: string) => void;
  /** Calls the engine before its window is opened. */
  begin?: (gateway: TestGateway) => Promise<unknown>;
  /** Additions to the engine's environment; HOME is its folder. */
  env?: Record<string, string>;
  ports?: TestPorts;
  /** Path within the window, such as `/keys`. Default: the overview. */
  screen?: string;
  /** Opens the window in its own process, and lets it preload the other screens when idle, as in normal use. */
  isNewPage?: boolean;
}

/** A gateway with its configuration in a real file, and its window in a browser without stored data. */
export async function openWindow(options: OpenWindowOptions): Promise<OpenedWindow> {
  const { browser, screen, signedIn = true, env = {} } = options;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-e2e-'));
  const configPath = join(folder, 'config.json');
  const keys = [{ id: 'k1', name: 'first', group: 'default', hash: hashOf(testKey) }];
  const given = { groups: [{ id: 'default' }], keys, ...options.config };
  // As in a new data folder, unless it is one that was prepared.
  const settings = { ...(!options.prepare && { guide: 'open' }), ...options.config?.settings };
  writeFileSync(configPath, JSON.stringify({ version: 1, ...given, settings }));
  options.prepare?.(folder);
  const start = async (port: number) => {
    const config = await openConfigStore({ persistence: createConfPersistence(configPath) });
    return startGateway({
      folder,
      ports: {
        config,
        windowFolder: builtWindow,
        env: { HOME: folder, ...env },
        listen: { host: '127.0.0.1', port },
        ...options.ports,
      },
    });
  };
  const taken = await takePage(browser, options.context, options.isNewPage);
  const { context, page } = taken;
  // If the port has been taken in the meantime, another port is used and the page only takes longer to load.
  let gateway = await start(taken.port).catch((error) => {
    if (error.code !== 'EADDRINUSE') throw error;
    return start(0);
  });
  let isRunning = true;
  await options.begin?.(gateway);
  const complaints = collectComplaints(page);
  const adminUrl = signedIn ? gateway.gateway.createAdminUrl() : gateway.origin;
  // With `screen`, only that screen is loaded: the cookie is set without opening the overview.
  if (screen) await context.request.get(adminUrl);
  await page.goto(screen ? `${gateway.origin}/#${screen}` : adminUrl);
  // The page has loaded before its modules have run. Nobody presses a key on a page that shows nothing yet.
  await page.locator('#root > *').first().waitFor({ state: 'attached' });
  return {
    get gateway() {
      return gateway;
    },
    context,
    page,
    complaints,
    clientWith: (apiKey) => new OpenAI({ baseURL: gateway.baseUrl, apiKey, maxRetries: 0 }),
    async stopEngine() {
      isRunning = false;
      await gateway.stop();
    },
    async startEngine() {
      gateway = await start(Number(new URL(gateway.origin).port));
      isRunning = true;
    },
    async close() {
      await taken.giveBack(isRunning ? gateway.origin : null);
      if (isRunning) await gateway.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function collectComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  return complaints;
}
