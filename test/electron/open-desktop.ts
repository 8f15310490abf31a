/**
 * A desktop in a test: the built main in its own process, in the double of Electron, with a real Chromium for its
 * window. By default it has a new data folder with one key, and a free port.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { ConfigInput } from '../../server/contract/config.ts';
import { eventually } from '../support/eventually.ts';
import { hashOf, testKey } from '../support/gateway.ts';
import { checkout, collectOutput } from '../support/program.ts';
import { type DesktopBrowser, startDesktopBrowser, windowsOf } from './desktop-browser.ts';
import type { Controls, DesktopState, Outcome } from './double/controls.ts';

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
