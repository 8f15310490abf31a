/**
 * The Chromium that shows the windows of desktops. Only one desktop can use it at a time, because all windows are in
 * its default context.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { chromiumPath } from '../support/launch-browser.ts';
import { windowOrigin } from './double/window-address.ts';

export interface DesktopBrowser {
  /** Its CDP endpoint. */
  endpoint: string;
  stop(): Promise<void>;
}

const flags = [
  ...['--headless', '--no-sandbox', '--no-first-run', '--disable-gpu', '--lang=en-GB', '--remote-debugging-port=0'],
  // No network access: only the double and its `stream-bridge.ts` answer requests.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  // Without this, Chromium would load the pages of the address bar for every window.
  '--disable-features=LocalNetworkAccessChecks,WebUIOmniboxPopup,WebUIOmniboxAimPopup',
  ...['--disable-background-networking', '--disable-component-update', '--disable-extensions', '--disable-sync'],
];

/** `more`: additional parameters of the browser. */
export async function startDesktopBrowser(...more: string[]): Promise<DesktopBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'sluice-chromium-'));
  const child = spawn(chromiumPath(), [...flags, ...more, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const endpoint = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      const found = /DevTools listening on (ws:\S+)/.exec(text);
      if (found?.[1]) resolve(found[1]);
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`Chromium ended: ${text}`)));
  });
  return {
    endpoint,
    async stop() {
      if (child.exitCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      // Chromium's other processes end a little later, and write files until then.
      rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/**
 * The windows that a desktop started after this call opens in the browser: all pages except those that already exist.
 */
export function windowsOf(browser: Browser): { forget(): Promise<void> } {
  const context = defaultContext(browser);
  const others = new Set(context.pages());
  return {
    /** Closes the windows left open by a desktop that was killed, and deletes what its window stored. */
    async forget() {
      const windows = context.pages().filter((page) => !others.has(page));
      await Promise.all(windows.map((page) => page.close()));
      const [blank] = others;
      if (!blank) throw new Error('this Chromium has lost its first page');
      const cdp = await context.newCDPSession(blank);
      await cdp.send('Storage.clearDataForOrigin', { origin: windowOrigin, storageTypes: 'all' });
    },
  };
}

function defaultContext(browser: Browser): BrowserContext {
  const [context] = browser.contexts();
  if (!context) throw new Error('this Chromium has no default context');
  return context;
}
