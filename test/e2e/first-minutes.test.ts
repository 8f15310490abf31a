/**
 * Times a newcomer's first minutes with a person's clicks, starting from a copy of the sources that was never built. On
 * a busy machine, the limits grow by the factor by which other work slows it down.
 */
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectBrowser, hasChromium, skipWithoutChromium } from '../support/chromium.ts';
import { slownessOfMachine } from '../support/cpu-work.ts';
import { findProgram, programTimeoutMs, runProgram } from '../support/installed-programs.ts';
import { onlyIf } from '../support/only-if.ts';
import { checkout, type RunningProgram } from '../support/program.ts';
import { interrupt, newcomerEnv, startByNpm, whatIsShown } from './sluice.ts';

const firstAnswerMs = 60_000;
const codexConnectedMs = 90_000;
const codex = findProgram('codex');
const hasCodex = onlyIf(codex !== null, 'codex is not found (npm install @openai/codex)');
/** What a clone does not contain, and what `npm ci` installs. */
const notCloned = ['.git', 'node_modules', 'dist', 'coverage', 'test-results'];

skipWithoutChromium();
let browser: Browser;
let page: Page;
let folder: string;
let home: string;
let started: RunningProgram | undefined;

beforeAll(async () => {
  if (!hasChromium) return;
  folder = mkdtempSync(join(tmpdir(), 'sluice-first-minutes-'));
  home = mkdtempSync(join(tmpdir(), 'sluice-first-home-'));
  browser = await connectBrowser();
  page = await (await browser.newContext({ locale: 'en-GB' })).newPage();
});
afterAll(async () => {
  if (started) {
    interrupt(started, 'SIGKILL');
    await started.ended;
  }
  await browser?.close();
  for (const each of [folder, home]) if (each) rmSync(each, { recursive: true, force: true, maxRetries: 3 });
});

test('a newcomer’s own question is answered in the playground within a minute of the clone', async () => {
  const slowness = slownessOfMachine();
  const startedAt = performance.now();
  cpSync(checkout, folder, {
    recursive: true,
    filter: (source) => source === checkout || !notCloned.includes(basename(source)),
  });
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'), 'dir');
  started = startByNpm(folder, newcomerEnv(home));
  const shown = await whatIsShown(started);
  await page.goto(shown.window);
  const firstRun = page.getByRole('region', { name: 'Get started' });
  await firstRun.getByRole('button', { name: 'Run it here' }).click();
  await page.getByRole('figure', { name: 'Answer' }).getByText(/demo/).waitFor();
  await page.getByRole('link', { name: 'Playground' }).first().click();
  await page.getByLabel('Message', { exact: true }).fill('What do ferries eat?');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page
    .getByText(/You wrote: "What do ferries eat\?"/)
    .first()
    .waitFor();
  const tookMs = performance.now() - startedAt;
  expect(tookMs).toBeLessThan(firstAnswerMs * Math.max(slowness, slownessOfMachine()));
});

test.runIf(hasCodex)(
  'Codex is set up by Apply, used, and ticked off within a minute and a half',
  { timeout: 2 * programTimeoutMs },
  async () => {
    const slowness = slownessOfMachine();
    const startedAt = performance.now();
    await page.getByRole('link', { name: 'Connect' }).first().click();
    await page.getByRole('navigation', { name: 'Clients' }).getByRole('link', { name: 'Codex CLI' }).click();
    await page.getByRole('button', { name: 'Review change…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    await page.getByText(/Works: demo-chat answered in /).waitFor();
    const parameters = ['exec', '--skip-git-repo-check', 'Hello'];
    const outcome = await runProgram(codex ?? '', { parameters, folder: home, env: {} });
    expect(outcome.exitCode, outcome.complained).toBe(0);
    expect(outcome.said).toContain('demo provider');
    await page
      .getByRole('region', { name: 'Steps for Codex CLI' })
      .getByText(/^It sent a request/)
      .waitFor();
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeLessThan(codexConnectedMs * Math.max(slowness, slownessOfMachine()));
  },
);
