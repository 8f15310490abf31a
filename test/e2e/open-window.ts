import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openConfPersistence } from '../../server/config/conf-persistence.ts';
import { openConfigStore } from '../../server/config/config-store.ts';
import type { ConfigInput } from '../../server/contract/config.ts';
import type { GatewayPorts } from '../../server/gateway-ports.ts';
import { hashOf, startGateway, type TestGateway, testKey } from '../support/gateway.ts';
import { builtWindow } from '../support/program.ts';
import { type PageLook, takePage } from './window-page.ts';

export interface OpenedWindow {
  gateway: TestGateway;
  context: BrowserContext;
  page: Page;
  /** Errors of the page, among them violations of its content security policy. */
  complaints: string[];
  clientWith(key: string): OpenAI;
  stopEngine(): Promise<void>;
  /** Another one, on the folder and port of the one before. */
  startEngine(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenWindowOptions {
  browser: Browser;
  config?: Partial<ConfigInput>;
  context?: PageLook;
  /** False: the window is opened without the address that signs in. */
  signedIn?: boolean;
  /** Puts something into the data folder before the engine starts. */
  prepare?: (folder: string) => void;
  /** Asks something of the engine before its window is opened. */
  begin?: (gateway: TestGateway) => Promise<unknown>;
  /** The engine's environment besides HOME, which is its folder. */
  env?: Record<string, string>;
  ports?: Partial<GatewayPorts>;
  /** Where in the window: `/keys`. The overview if absent. */
  screen?: string;
  /** True: in a process of its own, and it loads the other screens once it is idle, as it does for a person. */
  isNewPage?: boolean;
}

/** A gateway on a configuration in a real file, and its window in a browser that has stored nothing yet. */
export async function openWindow(options: OpenWindowOptions): Promise<OpenedWindow> {
  const { browser, screen, signedIn = true, env = {} } = options;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-e2e-'));
  const configPath = join(folder, 'config.json');
  const keys = [{ id: 'k1', name: 'first', group: 'default', hash: hashOf(testKey) }];
  writeFileSync(configPath, JSON.stringify({ version: 1, groups: [{ id: 'default' }], keys, ...options.config }));
  options.prepare?.(folder);
  const start = async (port: number) => {
    const config = await openConfigStore({ persistence: openConfPersistence(configPath) });
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
  // If something else has taken the port since, the page only costs more.
  let gateway = await start(taken.port).catch((error) => {
    if (error.code !== 'EADDRINUSE') throw error;
    return start(0);
  });
  let isRunning = true;
  await options.begin?.(gateway);
  const complaints = collectComplaints(page);
  const adminUrl = signedIn ? gateway.gateway.createAdminUrl() : gateway.origin;
  // Where a screen is named, it alone is loaded: the cookie comes without the overview.
  if (screen) await context.request.get(adminUrl);
  await page.goto(screen ? `${gateway.origin}/#${screen}` : adminUrl);
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
