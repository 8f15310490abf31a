import type { Browser, Page } from 'playwright-core';
import { afterEach, beforeAll } from 'vitest';
import { hasChromium, sharedBrowser, skipWithoutChromium } from '../support/chromium.ts';
import { ensureBuilt } from '../support/program.ts';
import { type OpenedWindow, type OpenWindowOptions, openWindow } from './open-window.ts';

const isGallery = process.env.SLUICE_GALLERY !== undefined;

type OpenWindowInSuite = (options?: Partial<OpenWindowOptions>) => Promise<OpenedWindow>;

/** To be called in a test file: the built window in this run's browser. What a test opens is closed after the test. */
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

/** A key whose secret is stored, so that the window can show it again. */
export async function createKeptKey({ gateway }: Pick<OpenedWindow, 'gateway'>, name: string): Promise<string> {
  const { secret } = await gateway.gateway.execute({ type: 'key.create', name });
  return secret;
}

/** A clipboard of this page alone: test files that run at the same time share the browser, and so its clipboard. */
export async function ownClipboard(page: Page): Promise<void> {
  await page.addInitScript(clipboardOfPage);
  await page.evaluate(clipboardOfPage);
}

/** Runs in the page. */
function clipboardOfPage(): void {
  let copied = '';
  const writeText = async (text: string) => {
    copied = text;
  };
  Object.defineProperty(navigator, 'clipboard', {
    configurable: true,
    value: { writeText, readText: async () => copied },
  });
}

/** By how many pixels the page is wider than the window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}

/** Pictures for people in `test-results`, only with `npm run gallery`. */
export async function takePicture(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  if (isGallery) await page.screenshot({ path: `test-results/${name}.png`, fullPage });
}

interface Appearance {
  width: number;
  colorScheme: 'light' | 'dark';
  locale: 'en-GB' | 'zh-CN';
}

/** Narrow and wide, light and dark, both languages: every pair of them once. */
const allPairs: readonly Appearance[] = [
  { width: 420, colorScheme: 'dark', locale: 'zh-CN' },
  { width: 420, colorScheme: 'light', locale: 'en-GB' },
  { width: 1280, colorScheme: 'light', locale: 'zh-CN' },
  { width: 1280, colorScheme: 'dark', locale: 'en-GB' },
];

/**
 * For tests of how a screen looks, which only `npm run gallery` runs. The command finds the files by this name, and their
 * tests by titles like `… $width px, $colorScheme, $locale …`.
 */
export const appearances = isGallery ? allPairs : [];

/** The same, and the narrowest window. */
export const appearancesDownTo380 = isGallery
  ? [...allPairs, { width: 380, colorScheme: 'light', locale: 'en-GB' } as const]
  : [];

/**
 * For a screen's only test, which also tests what the screen does. `npm test` uses the one appearance that differs in
 * every respect from how other tests open the window.
 */
export const oneOrAllAppearances = isGallery ? allPairs : allPairs.slice(0, 1);
