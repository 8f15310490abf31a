import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * The violations that axe finds once nothing on the page moves or fades: one line each, with rule and element. Axe chooses the
 * elements of a rule before it looks at them, so a button that is disabled in between has a fault which it has in neither
 * state: what it finds on a page that changed meanwhile is asked anew.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // The debugger evaluates it, which the page's content security policy does not restrict.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  for (let rest = 10; ; rest--) {
    await page.evaluate(endOfMotion);
    const { violations, hasChanged } = await page.evaluate<Look>(look);
    const faults = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
    if (faults.length === 0 || !hasChanged || rest === 0) return faults;
  }
}

interface Look extends Pick<AxeResults, 'violations'> {
  /** Whether the page has changed while axe looked at it. */
  hasChanged: boolean;
}

const look = `(async () => {
  let hasChanged = false;
  const observer = new MutationObserver(() => { hasChanged = true; });
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const { violations } = await axe.run({ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } });
  // What a dialog covers in part cannot be clicked.
  const dialog = document.querySelector('[aria-modal=true]');
  const isReached = ({ target }) => dialog === null || dialog.contains(document.querySelector(target[0]));
  for (const each of violations) if (each.id === 'target-size') each.nodes = each.nodes.filter(isReached);
  observer.disconnect();
  return { violations: violations.filter(({ nodes }) => nodes.length > 0), hasChanged };
})()`;

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
