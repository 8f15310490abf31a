import { beforeEach } from 'vitest';
import { findChromium } from '../../build/find-chromium.ts';
import { onlyIf } from './only-if.ts';

const found = findChromium();

/** False only where the tests are skipped without one: with CI=true they fail. */
export const hasChromium = found !== null || process.env.CI === 'true';

/** For a file of tests in a browser. */
export function skipWithoutChromium(): void {
  const canRun = onlyIf(hasChromium, 'there is no Chromium (CHROMIUM names one)');
  beforeEach(({ skip }) => skip(!canRun));
}

/** @throws where there is none. */
export function chromiumPath(): string {
  if (found === null) throw new Error('There is no Chromium: install it, or name it by CHROMIUM.');
  return found;
}
