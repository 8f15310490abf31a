import { type BrowserServer, chromium } from 'playwright-core';
import { findChromium, findHeadlessChromium } from '../../build/find-chromium.ts';

/**
 * Of two lists of features to disable Chromium takes the last, so these are Playwright's own (that concern a page on loopback),
 * and the pages of the address bar, which Chromium would load anew for every window: half of what a window costs.
 */
const disabledFeatures = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
];

/** For pages that are used for seconds: to optimise their program, and to collect its garbage beside it, costs more than it saves. */
export const briefPrograms = '--js-flags=--no-opt --no-maglev --single-threaded-gc';

/** Without a window; sound plays, and there is a microphone that hears a beep. */
export function launchBrowser(executablePath: string): Promise<BrowserServer> {
  return chromium.launchServer({
    executablePath,
    host: '127.0.0.1',
    args: [
      ...['--no-sandbox', '--autoplay-policy=no-user-gesture-required', '--use-fake-device-for-media-stream'],
      `--disable-features=${disabledFeatures.join(',')}`,
      briefPrograms,
    ],
  });
}

/**
 * The Chromium of this machine that takes the least processor time; with `asksForDevices`, one in which a page can ask for the
 * microphone, which the shell without windows refuses to all.
 *
 * @throws where there is none.
 */
export function chromiumPath({ asksForDevices = false } = {}): string {
  const found = asksForDevices ? findChromium() : findHeadlessChromium();
  if (found === null) throw new Error('There is no Chromium: install it, or name it by CHROMIUM.');
  return found;
}
