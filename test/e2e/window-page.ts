/**
 * Pages for the tests of the window. A page that is used again shows the next test's window in the same process of the browser,
 * which has the program compiled already: that is two thirds of what a window costs. So a worker keeps a page for each language,
 * and the next engine listens where the last one did, for what Chromium keeps belongs to an address.
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
  /** Where the engine of the window has to listen; 0 if anywhere. */
  port: number;
  /** For when nothing more is asked of it; `origin`, if an engine still listens there: it is kept for the next window then. */
  giveBack(origin: string | null): Promise<void>;
}

interface KeptPage {
  context: BrowserContext;
  page: Page;
  port: number;
}

/**
 * What moves or fades has done so at once. The processor draws each frame of it, which was half of what drawing cost, and a test
 * waits until it has ended. Not so in a new page, where a person sees it.
 */
const endsMotionAtOnce = `{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(\`*, ::before, ::after {
    transition-duration: 1ms !important;
    transition-delay: 0s !important;
    animation-duration: 1ms !important;
    animation-iteration-count: 1 !important;
  }\`);
  document.adoptedStyleSheets.push(sheet);
}`;

/** By the language. */
const keptPages = new Map<string, KeptPage>();

/** A page of the built window; with `isNew`, one in a browser context of its own that knows nothing yet and loads what it likes ahead. */
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
  await context.addInitScript({ content: loadsNothingAhead + endsMotionAtOnce });
  return { context, page: await context.newPage(), port: 0 };
}

/** Leaves nothing of a test in the page, and the page at an address of the same origin: elsewhere it would lose its process. */
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
