/** The cost of the window and the desktop: the budgets of both, with a real Chromium and the double of Electron. */
import { readFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findChromium } from '../../build/find-chromium.ts';
import { dayMs } from '../../server/contract/units.ts';
import type { RunningGateway } from './gateways.ts';
import type { Bench } from './measuring.ts';
import { buildRequest, clientKey, model } from './payloads.ts';
import { quantile } from './samples.ts';

// The window of a measured gateway.

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

// The time until a captured body of 5 MB is shown, in each view of the window.

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

const windowFolder = join(import.meta.dirname, '../../dist/window');
const requestsPerSecond = 200;
const tailMs = 5_000;
const tickMs = 10;

export async function windowPhase(bench: Bench): Promise<void> {
  const executablePath = findChromium();
  if (executablePath === null) {
    console.error('The window is not measured: there is no Chromium (CHROMIUM names one).');
    return;
  }
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const gateway = await bench.running('sluice');
    await measureOpening(bench, browser, gateway);
    await measureTail(bench, browser, gateway);
    await measureLongBody(bench, browser, gateway);
  } finally {
    await browser.close();
  }
  await measureOverview(bench, await bench.running('sluice-full'));
}

/**
 * Measures the time from the first request for the page until it shows the engine's status, in a browser without stored
 * data.
 */
async function measureOpening(bench: Bench, browser: Browser, gateway: RunningGateway): Promise<void> {
  const page = await openWindow(browser, gateway, '/');
  const interactiveMs = await page.evaluate(() => Number(document.documentElement.dataset.interactiveMs));
  bench.samples.add('window.interactiveMs', 'sluice', interactiveMs);
  const scripts = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .map(({ name }) => new URL(name).pathname)
      .filter((path) => path.endsWith('.js')),
  );
  const first = firstScripts();
  bench.samples.add('window.firstJsKb', 'sluice', gzipKb(first));
  bench.samples.add('window.overviewJsKb', 'sluice', gzipKb([...new Set([...first, ...scripts])]));
  await measureFirstVisits(bench, page);
  const longestTaskMs = await page.evaluate(() => Number(document.documentElement.dataset.longestTaskMs ?? 0));
  bench.samples.add('window.longestTaskMs', 'sluice', longestTaskMs);
  await page.context().close();
}

/**
 * Measures the time from the click to the heading for each screen that was not opened before, once the files of all
 * screens are loaded.
 */
async function measureFirstVisits(bench: Bench, page: Page): Promise<void> {
  await page.waitForFunction((screens) => {
    const fetched = performance.getEntriesByType('resource').map(({ name }) => name);
    return screens.every((name) => fetched.some((url) => url.includes(`/assets/${name}-`) && url.endsWith('.js')));
  }, screens);
  for (const [place, heading] of Object.entries(places)) {
    const visitMs = await page.evaluate(openPlace, { place, heading });
    bench.samples.add('window.firstVisitMs', 'sluice', visitMs);
  }
}

/** By the names of their files. */
const screens = ['Providers', 'Models', 'Groups', 'Keys', 'Requests', 'Playground', 'Connect', 'Settings'];
/** The places with the headings of their first screens. Their other screens open in the same way. */
const places = {
  Models: 'Providers',
  Access: 'Keys',
  Traffic: 'Requests',
  Playground: 'Playground',
  Connect: 'Connect',
};

/** Runs in the page. */
async function openPlace({ place, heading }: { place: string; heading: string }): Promise<number> {
  const link = [...document.querySelectorAll<HTMLElement>('nav a')].find(({ innerText }) => innerText === place);
  const beganMs = performance.now();
  link?.click();
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  while (document.querySelector('main h1')?.textContent !== heading) await nextFrame();
  return performance.now() - beganMs;
}

/** The scripts that the page references, which are all that the first screen needs. */
function firstScripts(): string[] {
  const html = readFileSync(join(windowFolder, 'index.html'), 'utf8');
  return [...html.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, path = '']) => join('/', path));
}

function gzipKb(paths: readonly string[]): number {
  const bytes = paths.map((path) => gzipSync(readFileSync(join(windowFolder, path))).length);
  return bytes.reduce((sum, each) => sum + each, 0) / 1_000;
}

/** Measures frames while requests arrive at a steady rate and each is added to the list. */
async function measureTail(bench: Bench, browser: Browser, gateway: RunningGateway): Promise<void> {
  const page = await openWindow(browser, gateway, '/requests');
  const durationMs = tailMs * bench.scale;
  const counting = page.evaluate(countFrames, durationMs);
  const sent = await sendSteadily(gateway.address.port, durationMs);
  const gapsMs = await counting;
  bench.samples.add('window.tailFps', 'sluice', 1_000 / (gapsMs.reduce((sum, gap) => sum + gap, 0) / gapsMs.length));
  bench.samples.add('window.tailGapMs', 'sluice', quantile(gapsMs, 0.99));
  bench.samples.add('window.tailPerSecond', 'sluice', sent / (durationMs / 1_000));
  await page.context().close();
}

/** Runs in the page: the times between frames. */
async function countFrames(durationMs: number): Promise<number[]> {
  const nextFrame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
  const gapsMs: number[] = [];
  const begin = await nextFrame();
  for (let last = begin; last - begin < durationMs; ) {
    const now = await nextFrame();
    gapsMs.push(now - last);
    last = now;
  }
  return gapsMs;
}

async function sendSteadily(port: number, durationMs: number): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const body = bodyOf(buildRequest('short', { port }));
  const beginMs = performance.now();
  let sent = 0;
  for (let sinceMs = 0; sinceMs < durationMs; sinceMs = performance.now() - beginMs) {
    for (; sent < (sinceMs / 1_000) * requestsPerSecond; sent++) send(port, agent, body);
    await setTimeout(tickMs);
  }
  agent.destroy();
  return sent;
}

function bodyOf(request: Buffer): Buffer {
  return request.subarray(request.indexOf('\r\n\r\n') + 4);
}

function send(port: number, agent: Agent, body: Buffer): void {
  const headers = { authorization: `Bearer ${clientKey}`, 'content-type': 'application/json' };
  const path = '/v1/chat/completions';
  const asked = httpRequest({ port, host: '127.0.0.1', path, method: 'POST', headers, agent });
  // Requests still running at the end are aborted with their connections.
  asked.on('error', () => {});
  asked.on('response', (response) => response.resume());
  asked.end(body);
}

/** Makes all queries of the overview for 90 days at once, as the window does. */
async function measureOverview(bench: Bench, gateway: RunningGateway): Promise<void> {
  const untilMs = Date.now();
  const time = { sinceMs: untilMs - 90 * dayMs, untilMs };
  const grid = { ...time, stepMs: dayMs };
  const questions = [
    { type: 'usage', by: 'model', ...time },
    { type: 'usage-over-time', by: 'day', ...grid },
    { type: 'usage-over-time', by: 'model', names: ['gpt-x'], ...grid },
    { type: 'first-byte-times', ...grid },
  ];
  const beganMs = performance.now();
  await Promise.all(questions.map((question) => control(gateway, 'query', question)));
  bench.samples.add('window.overviewMs', 'sluice', performance.now() - beganMs);
}
