/**
 * A page in a real Chromium, driven over CDP as Electron drives its own pages: the preload runs in an isolated world,
 * every request is intercepted, and main's handler answers the app's own scheme.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { OnBeforeRequestListenerDetails } from 'electron';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';
import { loadsNothingAhead } from '../../support/launch-browser.ts';
import { asElectron } from './as-electron.ts';
import { defaultSession, protocol } from './engine-of-pages.ts';
import {
  type FromPreload,
  pageWorldScript,
  preloadWorld,
  preloadWorldScript,
  runAsWindow,
  sendBinding,
} from './worlds.ts';

// Over CDP, a response can only be given as a whole. A streamed response reaches the page through this loopback server
// instead: the page's request is redirected to it without the page noticing, and the server passes on the pieces from
// main's handler.

const waiting = new Map<string, Response>();
let address: Promise<string> | undefined;

/** The address to which the page's request must be redirected. */
export async function bridge(reply: Response): Promise<string> {
  address ??= listen();
  const id = randomUUID();
  waiting.set(id, reply);
  return `${await address}/${id}`;
}

async function listen(): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const id = url.slice(1);
    const reply = waiting.get(id);
    waiting.delete(id);
    if (reply) void send(reply, response);
    else response.writeHead(404).end();
  });
  server.unref();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** If the page leaves, the handler's stream ends too, as in Electron. */
async function send(reply: Response, response: ServerResponse): Promise<void> {
  response.writeHead(reply.status, Object.fromEntries(reply.headers));
  response.flushHeaders();
  if (!reply.body) return void response.end();
  await pipeline(Readable.fromWeb(reply.body as import('node:stream/web').ReadableStream), response).catch(() => {});
}

/**
 * CDP cannot register a scheme in Chromium, so `sluice-window://app/` is `https://app.sluice-window.test/` within it.
 * All code outside Chromium sees the scheme's URL.
 */
const schemeHost = '.sluice-window.test';

/** The origin under which Chromium stores the window's data. */
export const windowOrigin = `https://app${schemeHost}`;

export function toHttps(url: string): string {
  const { host, pathname, search, hash } = new URL(url);
  return url.startsWith('sluice-window:') ? `https://${host}${schemeHost}${pathname}${search}${hash}` : url;
}

export function toScheme(url: string): string {
  const { hostname, pathname, search, hash } = new URL(url);
  if (!hostname.endsWith(schemeHost)) return url;
  return `sluice-window://${hostname.slice(0, -schemeHost.length)}${pathname}${search}${hash}`;
}

interface PageListener {
  /** If it returns false, the navigation is refused. */
  mayNavigate(url: string, isMainFrame: boolean): boolean;
  navigating(url: string): void;
  opens(url: string): void;
  invoked(message: FromPreload): Promise<unknown>;
  /** The page calls `window.close()`. */
  closes(): void;
  crashed(): void;
  closed(): void;
}

let browser: Promise<Browser> | undefined;

export class ChromiumPage {
  readonly #page: Page;
  readonly #cdp: CDPSession;
  readonly #listener: PageListener;
  #mainFrameId = '';
  #preloadContext: number | undefined;
  /** The address that main itself loads, which does not count as a navigation by the page. */
  #loading: string | undefined;
  url = '';

  static async open(preload: string, isVisible: boolean, listener: PageListener): Promise<ChromiumPage> {
    browser ??= chromium.connectOverCDP(process.env.DOUBLE_CDP ?? '');
    const context = (await browser).contexts()[0];
    if (!context) throw new Error('this Chromium has no default context');
    const page = await context.newPage();
    const opened = new ChromiumPage(page, await context.newCDPSession(page), listener);
    await opened.#prepare(readFileSync(preload, 'utf8'), isVisible);
    return opened;
  }

  private constructor(page: Page, cdp: CDPSession, listener: PageListener) {
    this.#page = page;
    this.#cdp = cdp;
    this.#listener = listener;
  }

  async #prepare(preload: string, isVisible: boolean): Promise<void> {
    const cdp = this.#cdp;
    await Promise.all([cdp.send('Page.enable'), cdp.send('Runtime.enable'), cdp.send('Inspector.enable')]);
    this.#mainFrameId = (await cdp.send('Page.getFrameTree')).frameTree.frame.id;
    cdp.on('Runtime.executionContextCreated', ({ context }) => {
      if (context.name === preloadWorld) this.#preloadContext = context.id;
    });
    cdp.on(
      'Runtime.bindingCalled',
      ({ payload, executionContextId }) => void this.#answer(payload, executionContextId),
    );
    cdp.on('Page.windowOpen', ({ url }) => this.#listener.opens(url));
    cdp.on('Inspector.targetCrashed', () => this.#listener.crashed());
    // If the page is gone by then, its requests are not answered.
    cdp.on('Fetch.requestPaused', (paused) => void this.#request(paused).catch(() => {}));
    this.#page.on('popup', (popup) => void popup.close());
    this.#page.on('close', () => this.#listener.closed());
    this.#page.on('crash', () => {});
    await cdp.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
    await this.#page.exposeFunction('electronDoubleClose', () => this.#listener.closes());
    await cdp.send('Page.addScriptToEvaluateOnNewDocument', { source: `(${runAsWindow})(${isVisible})` });
    await cdp.send('Runtime.addBinding', { name: sendBinding, executionContextName: preloadWorld });
    await cdp.send('Page.addScriptToEvaluateOnNewDocument', { source: pageWorldScript() });
    await cdp.send('Page.addScriptToEvaluateOnNewDocument', { source: loadsNothingAhead });
    await cdp.send('Page.addScriptToEvaluateOnNewDocument', {
      source: preloadWorldScript(preload),
      worldName: preloadWorld,
    });
  }

  /** With the screen to which the page has gone by itself. */
  get address(): string {
    const shown = toScheme(this.#page.url());
    return shown.split('#')[0] === this.url.split('#')[0] ? shown : this.url;
  }

  async load(url: string, { width, height }: { width: number; height: number }): Promise<void> {
    this.#loading = url;
    await this.#page.setViewportSize({ width, height });
    // Electron has no limit for it, and a window whose page came too late would never be shown.
    await this.#page.goto(toHttps(url), { timeout: 0 });
  }

  send(channel: string, args: unknown[]): void {
    void this.#inPreload(`electronDoubleReceive(${JSON.stringify(channel)}, ${JSON.stringify(args)})`);
  }

  /** As Electron tells the page of a window that is shown or hidden. */
  async setVisible(isVisible: boolean): Promise<void> {
    await this.#cdp.send('Runtime.evaluate', { expression: `electronDoubleShow(${isVisible})` });
  }

  /** Crashes the page with the browser's own command, so that its process really ends. */
  crash(): void {
    void this.#cdp.send('Page.crash').catch(() => {});
  }

  async close(): Promise<void> {
    await this.#page.close();
  }

  async #answer(payload: string, contextId: number): Promise<void> {
    const message: FromPreload = JSON.parse(payload);
    const { id } = message;
    const reply = await this.#listener.invoked(message).then(
      (value) => ({ id, value }),
      (error: unknown) => ({ id, error: String(error) }),
    );
    await this.#inPreload(`electronDoubleReply(${JSON.stringify(reply)})`, contextId);
  }

  async #inPreload(expression: string, contextId = this.#preloadContext): Promise<void> {
    // A page that is gone receives no messages either.
    if (contextId !== undefined) await this.#cdp.send('Runtime.evaluate', { expression, contextId }).catch(() => {});
  }

  async #request({ requestId, request, resourceType, frameId }: Paused): Promise<void> {
    const url = toScheme(request.url);
    const isMainFrame = resourceType === 'Document' && frameId === this.#mainFrameId;
    const isAsked =
      resourceType !== 'Document' || url === this.#loading || this.#listener.mayNavigate(url, isMainFrame);
    if (!isAsked) return this.#fail(requestId, 'Aborted');
    if (isMainFrame) {
      this.url = url;
      this.#listener.navigating(url);
    }
    if (await isCancelled(url)) return this.#fail(requestId, 'BlockedByClient');
    const handler = protocol.handlers.get(new URL(url).protocol.slice(0, -1));
    if (!handler) return this.#fail(requestId, 'InternetDisconnected');
    const { method, headers, postData } = request;
    const reply = await handler(new Request(url, { method, headers, ...(postData && { body: postData }) }));
    if (/^text\/event-stream\b/.test(reply.headers.get('content-type') ?? '')) {
      await this.#cdp.send('Fetch.continueRequest', { requestId, url: await bridge(reply) });
      return;
    }
    await this.#cdp.send('Fetch.fulfillRequest', {
      requestId,
      responseCode: reply.status,
      responseHeaders: [...reply.headers].map(([name, value]) => ({ name, value })),
      body: Buffer.from(await reply.arrayBuffer()).toString('base64'),
    });
  }

  async #fail(requestId: string, errorReason: 'Aborted' | 'BlockedByClient' | 'InternetDisconnected'): Promise<void> {
    await this.#cdp.send('Fetch.failRequest', { requestId, errorReason });
  }
}

interface Paused {
  requestId: string;
  frameId: string;
  resourceType: string;
  request: { url: string; method: string; headers: Record<string, string>; postData?: string };
}

async function isCancelled(url: string): Promise<boolean> {
  const { filter } = defaultSession;
  if (!filter) return false;
  const details = asElectron<OnBeforeRequestListenerDetails>({ url });
  const { cancel = false } = await new Promise<{ cancel?: boolean }>((resolve) => filter(details, resolve));
  return cancel;
}
