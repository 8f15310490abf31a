/**
 * Pages for the tests of the window. A reused page shows the next test's window in the same browser process, where the
 * program is already compiled; that saves two thirds of a window's cost. Therefore each worker keeps one page per
 * language. The next engine listens on the same port as the previous one, because what Chromium stores belongs to an
 * address.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { loadsNothingAhead } from '../support/loads-nothing-ahead.ts';

export interface PageLook {
  locale?: string;
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
}

export interface WindowPage {
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
export async function takePage(browser: Browser, look: PageLook = {}, isNew = false): Promise<WindowPage> {
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
