import { type Browser, chromium } from 'playwright-core';
import { beforeEach, inject } from 'vitest';
import { findChromium, findHeadlessChromium } from '../../build/find-chromium.ts';
import { chromiumPath } from './launch-browser.ts';
import { onlyIf } from './only-if.ts';

/** False only where the tests are skipped without one, and say so: with CI=true they fail. */
export const hasChromium = onlyIf(
  findHeadlessChromium() !== null || process.env.CI === 'true',
  'there is no Chromium (CHROMIUM names one)',
);

/** The same of one in which a page can ask for the microphone. */
export const hasDevices = onlyIf(
  findChromium() !== null || process.env.CI === 'true',
  'there is no Chromium but the headless shell (CHROMIUM names one)',
);

/** For a file of tests in a browser. */
export function skipWithoutChromium(): void {
  beforeEach(({ skip }) => skip(!hasChromium));
}

/** The one browser of this run of that kind. What is opened in it through this connection ends with the connection. */
export async function connectBrowser(kind: { asksForDevices?: boolean } = {}): Promise<Browser> {
  const response = await fetch(`${inject('browserHost')}/?${encodeURIComponent(chromiumPath(kind))}`);
  const said = await response.text();
  if (!response.ok) throw new Error(said);
  return chromium.connect(said);
}

let shared: Promise<Browser> | undefined;

/** The same through one connection for all files of a worker, which ends with it; a browser that crashed is not given again. */
export async function sharedBrowser(): Promise<Browser> {
  const browser = await shared?.catch(() => undefined);
  if (browser?.isConnected()) return browser;
  shared = connectBrowser();
  return shared;
}
