import { type BrowserServer, chromium } from 'playwright-core';
import { findChromium } from '../../build/find-chromium.ts';

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

/** The Chromium of this machine, without a window; sound plays, and there is a microphone that hears a beep. */
export function launchBrowser(): Promise<BrowserServer> {
  return chromium.launchServer({
    executablePath: chromiumPath(),
    host: '127.0.0.1',
    args: [
      ...['--no-sandbox', '--autoplay-policy=no-user-gesture-required', '--use-fake-device-for-media-stream'],
      `--disable-features=${disabledFeatures.join(',')}`,
      briefPrograms,
    ],
  });
}

/** @throws where there is none. */
export function chromiumPath(): string {
  const found = findChromium();
  if (found === null) throw new Error('There is no Chromium: install it, or name it by CHROMIUM.');
  return found;
}
