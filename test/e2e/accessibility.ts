import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds wrong with the page once nothing on it moves or fades: the rule and the element, a line each. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(endOfMotion);
  // Evaluated by the debugger, which the page's policy does not concern.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>("axe.run({ resultTypes: ['violations'] })");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

/** Runs in the page. What turns or glows without end, as a sign of waiting does, is not waited for. */
async function endOfMotion(): Promise<void> {
  // A transition starts two frames after the act that it shows.
  for (let stillFrames = 0; stillFrames < 3; stillFrames++) {
    await new Promise(requestAnimationFrame);
    const ending = document
      .getAnimations()
      .filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime));
    if (ending.length > 0) stillFrames = 0;
    // One that is cancelled has ended too.
    await Promise.allSettled(ending.map(({ finished }) => finished));
  }
}
