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
  const { violations } = await axe.run({ resultTypes: ['violations'] });
  observer.disconnect();
  return { violations, hasChanged };
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

/**
 * What can be clicked but is lower or narrower than the 24 px that WCAG 2.2 asks for (2.5.8): one line each. Links within
 * sentences are exempt, as they are there.
 */
export function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const leastPx = 24;
    const clickable =
      'a[href], button, summary, select, textarea, input:not([type=hidden]), [role=button], [role=tab], [role=option], [role^=menuitem]';
    /** What is clicked in its place: the labels of a field, and the whole that a link covers. */
    const areasOf = (element: HTMLElement): DOMRect[] => {
      const { content, position } = getComputedStyle(element, '::after');
      const covered = content !== 'none' && position === 'absolute' ? [element.offsetParent ?? element] : [];
      const labels = element instanceof HTMLInputElement ? [...(element.labels ?? [])] : [];
      return [element, ...labels, ...covered].map((each) => each.getBoundingClientRect());
    };
    const isInSentence = (element: HTMLElement): boolean => {
      if (getComputedStyle(element).display !== 'inline') return false;
      let block = element.parentElement;
      while (block && getComputedStyle(block).display === 'inline') block = block.parentElement;
      const links = [...(block?.querySelectorAll('a, button') ?? [])].map(({ textContent }) => textContent);
      const others = links.reduce((text, link) => text.replace(link, ''), block?.textContent ?? '');
      return /\p{L}/u.test(others);
    };
    return [...document.querySelectorAll<HTMLElement>(clickable)].flatMap((element) => {
      if (!element.checkVisibility({ visibilityProperty: true }) || element.matches(':disabled')) return [];
      const areas = areasOf(element);
      const width = Math.max(...areas.map((area) => area.width));
      const height = Math.max(...areas.map((area) => area.height));
      const isOffScreen = areas.every(({ right, bottom }) => right <= 0 || bottom <= 0) || width <= 1 || height <= 1;
      // Layout rounds to 64ths of a pixel.
      if (isOffScreen || Math.min(width, height) > leastPx - 0.1 || isInSentence(element)) return [];
      return [`${Math.round(width)} × ${Math.round(height)}: ${element.outerHTML.slice(0, 160)}`];
    });
  });
}
