import { afterAll, afterEach, beforeAll } from 'vitest';
import { hasChromium, skipWithoutChromium } from '../support/chromium.ts';
import { briefPrograms } from '../support/launch-browser.ts';
import { ensureBuilt } from '../support/program.ts';
import { type DesktopBrowser, startDesktopBrowser } from './desktop-browser.ts';
import { type DesktopOptions, type OpenedDesktop, openDesktop } from './open-desktop.ts';

/** For a file of tests: desktops with one Chromium for all their windows; what a test opens is closed after it. */
export function openDesktopsInSuite(): (options?: DesktopOptions) => Promise<OpenedDesktop> {
  let browser: DesktopBrowser;
  let opened: OpenedDesktop | undefined;
  skipWithoutChromium();
  beforeAll(async () => {
    if (!hasChromium) return;
    await ensureBuilt();
    browser = await startDesktopBrowser(briefPrograms);
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  afterAll(() => browser?.stop());
  return async (options = {}) => {
    await opened?.close();
    opened = await openDesktop({ browser, ...options });
    return opened;
  };
}
