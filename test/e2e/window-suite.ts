import { rmSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { buildWindow } from './build-window.ts';
import { type OpenedWindow, type OpenWindowOptions, openWindow } from './open-window.ts';

export type OpenWindowInSuite = (options?: Partial<OpenWindowOptions>) => Promise<OpenedWindow>;

/** For a file of tests: one built window and one browser for all of them; what a test opens is closed after it. */
export function openInSuite(): OpenWindowInSuite {
  let windowFolder: string;
  let browser: Browser;
  let opened: OpenedWindow | undefined;
  beforeAll(async () => {
    windowFolder = await buildWindow();
    browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--autoplay-policy=no-user-gesture-required'],
    });
  }, 120_000);
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(windowFolder, { recursive: true, force: true });
  });
  return async (options = {}) => {
    opened = await openWindow({ browser, windowFolder, ...options });
    return opened;
  };
}

/** A key whose secret is kept, so that the window can show it again. */
export async function createKeptKey({ gateway }: OpenedWindow, name: string): Promise<string> {
  const { secret } = await gateway.gateway.execute({ type: 'key.create', name });
  return secret;
}

/** How many pixels the page is wider than the window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}

/** Narrow and wide, light and dark, both languages. */
export const appearances = [
  { width: 420, colorScheme: 'light', locale: 'en-GB' },
  { width: 420, colorScheme: 'dark', locale: 'zh-CN' },
  { width: 1280, colorScheme: 'light', locale: 'zh-CN' },
  { width: 1280, colorScheme: 'dark', locale: 'en-GB' },
] as const;
