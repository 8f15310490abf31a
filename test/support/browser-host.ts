/**
 * One Chromium for all test files of a run. Each file uses its own contexts. It is started on first use and ended after
 * the last file.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserServer } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { launchBrowser } from './launch-browser.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL that returns the address through which Playwright reaches the browser. */
    browserHost: string;
  }
}

/** Vitest's global setup; returns the teardown function. */
export default async function hostBrowser(project: TestProject): Promise<() => Promise<void>> {
  let browser: Promise<BrowserServer> | undefined;
  const host = createServer(async (_request, response) => {
    try {
      browser ??= launchBrowser();
      const running = await browser;
      // A browser that crashed is not reused for the next file.
      running.once('close', () => {
        browser = undefined;
      });
      response.end(running.wsEndpoint());
    } catch (error) {
      browser = undefined;
      response.writeHead(500).end(String(error));
    }
  });
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  project.provide('browserHost', `http://127.0.0.1:${(host.address() as AddressInfo).port}`);
  return async () => {
    host.close();
    await (await browser)?.close();
  };
}
