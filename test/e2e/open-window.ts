import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createConfPersistence } from '../../server/config/conf-persistence.ts';
import { openConfigStore } from '../../server/config/config-store.ts';
import type { ConfigInput } from '../../server/contract/config.ts';
import { hashOf, startGateway, type TestGateway, type TestPorts, testKey } from '../support/gateway.ts';
import { builtWindow } from '../support/program.ts';
import { type PageLook, takePage } from './window-page.ts';

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
