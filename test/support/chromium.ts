import { type Browser, chromium } from 'playwright-core';
import { beforeEach, inject } from 'vitest';
import { findChromium } from '../../build/find-chromium.ts';
import { onlyIf } from './only-if.ts';

const found = findChromium();

/** False only where the tests are skipped without one, and say so: with CI=true they fail. */
export const hasChromium = onlyIf(
  found !== null || process.env.CI === 'true',
  'there is no Chromium (CHROMIUM names one)',
);

/** For a file of tests in a browser. */
export function skipWithoutChromium(): void {
  beforeEach(({ skip }) => skip(!hasChromium));
}

/** The one browser of this run. What is opened in it through this connection ends with the connection. */
export async function connectBrowser(): Promise<Browser> {
  const response = await fetch(inject('browserHost'));
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
