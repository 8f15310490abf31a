import type { Browser, Page } from 'playwright-core';
import { afterEach, beforeAll } from 'vitest';
import { hasChromium, sharedBrowser, skipWithoutChromium } from '../support/chromium.ts';
import { ensureBuilt } from '../support/program.ts';
import { type OpenedWindow, type OpenWindowOptions, openWindow } from './open-window.ts';

const isGallery = process.env.SLUICE_GALLERY !== undefined;

type OpenWindowInSuite = (options?: Partial<OpenWindowOptions>) => Promise<OpenedWindow>;

/** For a file of tests: the built window in the browser of this run; what a test opens is closed after it. */
export function openInSuite(): OpenWindowInSuite {
  let browser: Browser;
  let opened: OpenedWindow | undefined;
  skipWithoutChromium();
  beforeAll(async () => {
    if (!hasChromium) return;
    await ensureBuilt();
    browser = await sharedBrowser();
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  return async (options = {}) => {
    opened = await openWindow({ browser, ...options });
    return opened;
  };
}

/** A key whose secret is kept, so that the window can show it again. */
export async function createKeptKey({ gateway }: Pick<OpenedWindow, 'gateway'>, name: string): Promise<string> {
  const { secret } = await gateway.gateway.execute({ type: 'key.create', name });
  return secret;
}

/** How many pixels the page is wider than the window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}

/** For people to look at, in `test-results`, by `npm run gallery` alone. */
export async function takePicture(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  if (isGallery) await page.screenshot({ path: `test-results/${name}.png`, fullPage });
}

interface Appearance {
  width: number;
  colorScheme: 'light' | 'dark';
  locale: 'en-GB' | 'zh-CN';
}

/** Narrow and wide, light and dark, both languages: each pair of them once. */
const allPairs: readonly Appearance[] = [
  { width: 420, colorScheme: 'dark', locale: 'zh-CN' },
  { width: 420, colorScheme: 'light', locale: 'en-GB' },
  { width: 1280, colorScheme: 'light', locale: 'zh-CN' },
  { width: 1280, colorScheme: 'dark', locale: 'en-GB' },
];

/**
 * By `npm run gallery` all of these; by `npm test` the one that differs in all from how the other tests open the window. The
 * command finds the files by this name, and their tests by their titles, `… $width px, $colorScheme, $locale …`.
 */
export const appearances = isGallery ? allPairs : allPairs.slice(0, 1);
