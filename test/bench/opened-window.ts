/** The window of a measured gateway. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { RunningGateway } from './gateways.ts';

/**
 * Opens the window on a screen, in a browser without stored data. The page records when it became interactive, and its
 * longest task.
 */
export async function openWindow(browser: Browser, gateway: RunningGateway, screen: string): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(noteWhenInteractive);
  const { url } = await control(gateway, 'execute', { type: 'window.create-address' });
  await page.goto(String(url));
  await page.waitForFunction(() => document.documentElement.dataset.interactiveMs);
  await page.evaluate((path) => location.assign(`#${path}`), screen);
  return page;
}

/** Runs in the page: records when the first screen shows the engine's status and can be used. */
function noteWhenInteractive(): void {
  const look = () => {
    const root = document.documentElement;
    const isThere = document.querySelector('[role="status"]')?.textContent?.includes('Serving');
    if (!isThere || !document.querySelector('main a, main button') || root.dataset.interactiveMs) return;
    requestAnimationFrame(() => {
      root.dataset.interactiveMs ??= String(performance.now());
    });
  };
  new PerformanceObserver((list) => {
    const { dataset } = document.documentElement;
    const longestMs = Math.max(
      Number(dataset.longestTaskMs ?? 0),
      ...list.getEntries().map(({ duration }) => duration),
    );
    dataset.longestTaskMs = String(longestMs);
  }).observe({ type: 'longtask', buffered: true });
  new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
}

/** @throws if the engine refuses the command or query */
export async function control({ address, dataDir }: RunningGateway, path: 'execute' | 'query', body: object) {
  const token = readFileSync(join(dataDir, 'admin.token'), 'utf8').trim();
  const response = await fetch(`http://127.0.0.1:${address.port}/control/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const reply = await response.json();
  if (!response.ok) throw new Error(`the control plane refuses "${JSON.stringify(body)}": ${JSON.stringify(reply)}`);
  return reply.result;
}
