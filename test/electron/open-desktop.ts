/**
 * A desktop in a test: the built main in its own process, in the double of Electron, with a real Chromium for its
 * window. By default it has a new data folder with one key, and a free port.
 */

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { ConfigInput } from '../../server/contract/config.ts';
import { eventually } from '../support/eventually.ts';
import { hashOf, testKey } from '../support/gateway.ts';
import { chromiumPath } from '../support/launch-browser.ts';
import { checkout, collectOutput } from '../support/program.ts';
import { windowOrigin } from './double/chromium-page.ts';
import type { Controls, DesktopState, Outcome } from './double/controls.ts';

// The Chromium that shows the windows of desktops. Only one desktop can use it at a time, because all windows are in
// its default context.

export interface DesktopBrowser {
  /** Its CDP endpoint. */
  endpoint: string;
  stop(): Promise<void>;
}

const flags = [
  ...['--headless', '--no-sandbox', '--no-first-run', '--disable-gpu', '--lang=en-GB', '--remote-debugging-port=0'],
  // No network access: only the double and its bridge for streams answer requests.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  // Without this, Chromium would load the pages of the address bar for every window.
  '--disable-features=LocalNetworkAccessChecks,WebUIOmniboxPopup,WebUIOmniboxAimPopup',
  ...['--disable-background-networking', '--disable-component-update', '--disable-extensions', '--disable-sync'],
];

/** `more`: additional parameters of the browser. */
export async function startDesktopBrowser(...more: string[]): Promise<DesktopBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'sluice-chromium-'));
  const child = spawn(chromiumPath(), [...flags, ...more, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const endpoint = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      const found = /DevTools listening on (ws:\S+)/.exec(text);
      if (found?.[1]) resolve(found[1]);
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`Chromium ended: ${text}`)));
  });
  return {
    endpoint,
    async stop() {
      if (child.exitCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      // Chromium's other processes end a little later, and write files until then.
      rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/**
 * The windows that a desktop started after this call opens in the browser: all pages except those that already exist.
 */
export function windowsOf(browser: Browser): { forget(): Promise<void> } {
  const context = defaultContext(browser);
  const others = new Set(context.pages());
  return {
    /** Closes the windows left open by a desktop that was killed, and deletes what its window stored. */
    async forget() {
      const windows = context.pages().filter((page) => !others.has(page));
      await Promise.all(windows.map((page) => page.close()));
      const [blank] = others;
      if (!blank) throw new Error('this Chromium has lost its first page');
      const cdp = await context.newCDPSession(blank);
      await cdp.send('Storage.clearDataForOrigin', { origin: windowOrigin, storageTypes: 'all' });
    },
  };
}

function defaultContext(browser: Browser): BrowserContext {
  const [context] = browser.contexts();
  if (!context) throw new Error('this Chromium has no default context');
  return context;
}

export interface OpenedDesktop {
  folder: string;
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
  state(): Promise<DesktopState>;
  /** Sends one of the orders in `double/controls.ts`. */
  order<Name extends keyof Controls>(name: Name, argument?: Parameters<Controls[Name]>[0]): Promise<unknown>;
  /** The window's page, as soon as it exists. */
  page(): Promise<Page>;
  /** The page of the panel at the tray. */
  panelPage(): Promise<Page>;
  /** Errors on the page so far. */
  complaints: string[];
  /** The official client, connected to the gateway. */
  client(): Promise<OpenAI>;
  baseUrl(): Promise<string>;
  close(): Promise<void>;
}

export interface DesktopOptions {
  config?: Partial<ConfigInput>;
  env?: Record<string, string>;
  args?: string[];
  /** A file with this name is created in the data folder, so that the name is taken. */
  occupied?: string;
  /** Default: the built main. */
  main?: string;
  /** The browser of a test file, which outlives the desktop. Default: a separate browser. */
  browser?: DesktopBrowser;
}

/** Replacements for the system tools that the desktop calls. */
const systemTools = join(import.meta.dirname, 'double/bin');
const builtMain = join(checkout, 'dist/program/main.js');
/**
 * The cache of code that Node compiled at the first start, which saves most of a start's time. The command line stores
 * its cache there too.
 */
const compileCache = join(checkout, 'dist/compile-cache');

export async function openDesktop(options: DesktopOptions = {}): Promise<OpenedDesktop> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-desktop-'));
  writeConfig(folder, options.config);
  if (options.occupied) writeFileSync(join(folder, 'data', options.occupied), '');
  const chromiumProcess = options.browser ?? (await startDesktopBrowser());
  const desktop = startMain(folder, { ...options, env: { DOUBLE_CDP: chromiumProcess.endpoint, ...options.env } });
  const order = orderer(desktop.child);
  const state = () => order('state') as Promise<DesktopState>;
  const browser = await chromium.connectOverCDP(chromiumProcess.endpoint);
  const windows = windowsOf(browser);
  const complaints: string[] = [];
  watchComplaints(browser, complaints);
  const baseUrl = () =>
    eventually(async () => readAddress(folder)).then(({ host, port }) => `http://${host}:${port}/v1`);
  return {
    ...desktop,
    ...{ folder, state, order, complaints, baseUrl },
    page: () => eventually(() => findPage(browser, '/')),
    panelPage: () => eventually(() => findPage(browser, '/panel.html')),
    client: async () => new OpenAI({ baseURL: await baseUrl(), apiKey: testKey, maxRetries: 0 }),
    async close() {
      desktop.child.kill('SIGKILL');
      await desktop.ended;
      if (options.browser) await windows.forget();
      await browser.close();
      if (!options.browser) await chromiumProcess.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts another instance on the same folder, as when a person clicks the icon again. */
export function startMain(folder: string, { env = {}, args = [], main = builtMain }: DesktopOptions) {
  const child = fork(join(import.meta.dirname, 'double/run.ts'), [main, ...args], {
    env: {
      ...{
        PATH: `${systemTools}:${process.env.PATH}`,
        HOME: folder,
        SLUICE_DATA_DIR: join(folder, 'data'),
        SLUICE_SECRETS: 'file',
        NODE_COMPILE_CACHE: compileCache,
      },
      ...env,
    },
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]): number | null => code);
  return { child, output: collectOutput(child), ended };
}

function writeConfig(folder: string, config: Partial<ConfigInput> = {}): void {
  const keys = [{ id: 'k1', name: 'first', group: 'default', hash: hashOf(testKey) }];
  mkdirSync(join(folder, 'data'), { mode: 0o700 });
  const whole = { version: 1, groups: [{ id: 'default' }], keys, settings: { port: 0 }, ...config };
  writeFileSync(join(folder, 'data/config.json'), JSON.stringify(whole));
}

/** For a process that was started alone. */
export function orderer(child: ChildProcess): OpenedDesktop['order'] {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  child.on('message', ({ id, result, error }: Outcome) => {
    const answered = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) answered?.resolve(result);
    else answered?.reject(new Error(error));
  });
  child.on('exit', () => {
    for (const answered of waiting.values()) answered.reject(new Error('the desktop has ended'));
  });
  return (name, argument) => {
    const id = ++last;
    const answered = Promise.withResolvers<unknown>();
    waiting.set(id, answered);
    // Without the callback, an order to a desktop that has ended would cause an unhandled error.
    child.send({ id, name, argument }, (error) => error && answered.reject(error));
    return answered.promise;
  };
}

interface Address {
  host: string;
  port: number;
}

function readAddress(folder: string): Address | null {
  try {
    const { host, port } = JSON.parse(readFileSync(join(folder, 'data/instance.json'), 'utf8'));
    return port === null ? null : { host, port };
  } catch {
    return null;
  }
}

function findPage(browser: Browser, path: string): Page | null {
  const pages = browser.contexts().flatMap((context) => context.pages());
  const isAt = (page: Page) => page.url().includes('sluice-window') && new URL(page.url()).pathname === path;
  return pages.find(isAt) ?? null;
}

function watchComplaints(browser: Browser, complaints: string[]): void {
  browser.contexts()[0]?.on('page', (page) => {
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
  });
}
