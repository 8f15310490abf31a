import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The violations that axe finds once nothing on the page moves or fades: one line each, with rule and element. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(endOfMotion);
  // The debugger evaluates it, which the page's content security policy does not restrict.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>("axe.run({ resultTypes: ['violations'] })");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

/** Runs in the page. Endless animations, such as spinners, are ignored. */
async function endOfMotion(): Promise<void> {
  // A transition starts two frames after the action that it shows.
  for (let stillFrames = 0; stillFrames < 3; stillFrames++) {
    await new Promise(requestAnimationFrame);
    const ending = document
      .getAnimations()
      .filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime));
    if (ending.length > 0) stillFrames = 0;
    // A cancelled animation has ended as well.
    await Promise.allSettled(ending.map(({ finished }) => finished));
  }
}
