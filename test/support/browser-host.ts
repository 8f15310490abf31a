/**
 * One Chromium of each kind that is asked for, for all test files of a run, each with contexts of its own: begun when the first asks,
 * ended after the last.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserServer } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { launchBrowser } from './launch-browser.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers a program's path, in the query, with the address at which Playwright reaches the browser. */
    browserHost: string;
  }
}

/** Vitest's global setup; what it returns is the teardown. */
export default async function hostBrowser(project: TestProject): Promise<() => Promise<void>> {
  const browsers = new Map<string, Promise<BrowserServer>>();
  const host = createServer(async ({ url = '' }, response) => {
    const program = decodeURIComponent(url.slice('/?'.length));
    try {
      const browser = browsers.get(program) ?? launchBrowser(program);
      browsers.set(program, browser);
      const running = await browser;
      // One that crashed is not given to the next file.
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
