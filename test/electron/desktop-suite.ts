import { afterAll, afterEach, beforeAll } from 'vitest';
import { hasChromium, skipWithoutChromium } from '../support/chromium.ts';
import { briefPrograms } from '../support/launch-browser.ts';
import { ensureBuilt } from '../support/program.ts';
import { type DesktopBrowser, startDesktopBrowser } from './desktop-browser.ts';
import { type DesktopOptions, type OpenedDesktop, openDesktop } from './open-desktop.ts';

/**
 * To be called in a test file: desktops that share one Chromium for their windows. What a test opens is closed after
 * the test.
 */
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
