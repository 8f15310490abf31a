import { type Browser, chromium } from 'playwright-core';
import { beforeEach, inject } from 'vitest';
import { findChromium } from '../../build/find-chromium.ts';
import { onlyIf } from './only-if.ts';

const found = findChromium();

/**
 * False only if the tests are skipped because there is no Chromium, which is then printed. With CI=true they fail
 * instead.
 */
export const hasChromium = onlyIf(
  found !== null || process.env.CI === 'true',
  'there is no Chromium (CHROMIUM names one)',
);

/** To be called in a file of browser tests. */
export function skipWithoutChromium(): void {
  beforeEach(({ skip }) => skip(!hasChromium));
}

/** Connects to the one browser of this run. Everything opened through the connection ends with it. */
export async function connectBrowser(): Promise<Browser> {
  const response = await fetch(inject('browserHost'));
  const said = await response.text();
  if (!response.ok) throw new Error(said);
  return chromium.connect(said);
}

let shared: Promise<Browser> | undefined;

/**
 * The same, with one connection for all files of a worker, which ends with the worker. A browser that crashed is not
 * reused.
 */
export async function sharedBrowser(): Promise<Browser> {
  const browser = await shared?.catch(() => undefined);
  if (browser?.isConnected()) return browser;
  shared = connectBrowser();
  return shared;
}
