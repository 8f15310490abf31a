import { type BrowserServer, chromium } from 'playwright-core';
import { findChromium } from '../../build/find-chromium.ts';

/**
 * A script for pages of the window. It disables the idle-time preloading of screens, which are then loaded when they
 * are opened: preloading all of them costs more than most tests spend on the screen that they test. Idle callbacks with
 * a timeout, such as the editor's, still run.
 */
export const loadsNothingAhead = `{
  const callWhenIdle = window.requestIdleCallback.bind(window);
  window.requestIdleCallback = (callback, options) => (options?.timeout ? callWhenIdle(callback, options) : 0);
}`;

/**
 * Chromium uses only the last list of features to disable. This list contains Playwright's own entries that concern a
 * page on loopback, plus the pages of the address bar, which Chromium would load for every window and which cause half
 * of a window's cost.
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

/**
 * For pages that are open for seconds: optimising their code and collecting garbage on another thread cost more than
 * they save.
 */
export const briefPrograms = '--js-flags=--no-opt --no-maglev --single-threaded-gc';

/** Starts this machine's Chromium without a window. Sound plays, and a fake microphone beeps. */
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

/** @throws if there is none */
export function chromiumPath(): string {
  const found = findChromium();
  if (found === null) throw new Error('There is no Chromium: install it, or name it by CHROMIUM.');
  return found;
}
