/**
 * One Chromium of each kind that is asked for, shared by all test files of a run. Each file uses its own contexts. A browser
 * is started on first use and ended after the last file.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserServer } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { launchBrowser } from './launch-browser.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL that, with the path of a Chromium as its query, returns the address through which Playwright reaches it. */
    browserHost: string;
  }
}

/** Vitest's global setup; returns the teardown function. */
export default async function hostBrowser(project: TestProject): Promise<() => Promise<void>> {
  const browsers = new Map<string, Promise<BrowserServer>>();
  const host = createServer(async ({ url = '' }, response) => {
    const program = decodeURIComponent(url.slice('/?'.length));
    try {
      const browser = browsers.get(program) ?? launchBrowser(program);
      browsers.set(program, browser);
      const running = await browser;
      // A browser that crashed is not reused for the next file.
      running.once('close', () => browsers.delete(program));
      response.end(running.wsEndpoint());
    } catch (error) {
      browsers.delete(program);
      response.writeHead(500).end(String(error));
    }
  });
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  project.provide('browserHost', `http://127.0.0.1:${(host.address() as AddressInfo).port}`);
  return async () => {
    host.close();
    for (const browser of browsers.values()) await (await browser).close();
  };
}
