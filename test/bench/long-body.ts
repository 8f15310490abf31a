/** The time until a captured body of 5 MB is shown, in each view of the window. */
import type { Browser } from 'playwright-core';
import type { RunningGateway } from './gateways.ts';
import type { Bench } from './measuring.ts';
import { control, openWindow } from './opened-window.ts';
import { clientKey, model } from './payloads.ts';

const messages = Array.from({ length: 2_500 }, (_, at) => ({
  role: 'user',
  content: `${at} ${'word "quoted" '.repeat(140)}`,
}));

export async function measureLongBody(bench: Bench, browser: Browser, gateway: RunningGateway): Promise<void> {
  await control(gateway, 'execute', { type: 'capture.start', requests: 1 });
  const response = await fetch(`http://127.0.0.1:${gateway.address.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${clientKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages }),
  });
  await response.arrayBuffer();
  const page = await openWindow(browser, gateway, '/requests');
  await page.locator('a[data-request]').first().click();
  await page.getByRole('tab').first().waitFor();
  // By the time a person has read the summary, the window has loaded the files that it requests when a request is
  // opened.
  await page.waitForFunction(() =>
    performance.getEntriesByType('resource').some(({ name }) => /CodeView.*\.js/.test(name)),
  );
  for (const [tab, shown] of [
    ['Request', '[role=tabpanel] .cm-line'],
    ['Conversation', '[role=tabpanel] ol > li'],
  ] as const)
    bench.samples.add('window.longBodyMs', 'sluice', await page.evaluate(openTab, { tab, shown }));
  await page.context().close();
}

/** Runs in the page: the time from the click until the tab's content is rendered. */
async function openTab({ tab, shown }: { tab: string; shown: string }): Promise<number> {
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const beganMs = performance.now();
  [...document.querySelectorAll<HTMLElement>('[role=tab]')].find(({ textContent }) => textContent === tab)?.click();
  while (!document.querySelector(shown)) await nextFrame();
  await nextFrame();
  return performance.now() - beganMs;
}
