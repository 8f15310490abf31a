import { beforeEach } from 'vitest';
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

/** @throws where there is none. */
export function chromiumPath(): string {
  if (found === null) throw new Error('There is no Chromium: install it, or name it by CHROMIUM.');
  return found;
}
