import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { hasChromium, skipWithoutChromium } from '../support/chromium.ts';
import { briefPrograms } from '../support/launch-browser.ts';
import { ensureBuilt } from '../support/program.ts';
import { startUpstream } from '../support/upstream.ts';
import {
  type DesktopBrowser,
  type DesktopOptions,
  type OpenedDesktop,
  openDesktop,
  startDesktopBrowser,
} from './open-desktop.ts';

// Helpers that inspect a desktop: its gateway, its tray and its log.

export const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }];
export const chatReply = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
};

export function chunk(content: string): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }];
  return `data: ${JSON.stringify({ ...chatReply, object: 'chat.completion.chunk', choices })}\n\n`;
}

/** Resolves with the answer or the error, for comparison. */
export function chat(client: OpenAI, model: string): Promise<unknown> {
  return client.chat.completions.create({ model, messages }).catch((error: unknown) => error);
}

/** A provider whose stream begins with `Hel` and continues when the test says so. */
export async function startHeldStream() {
  let finish = () => {};
  const upstream = await startUpstream((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk('Hel'));
    finish = () => response.end(`${chunk('lo')}data: [DONE]\n\n`);
  });
  const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
  return { upstream, providers, finish: () => finish() };
}

export async function itemOf(desktop: OpenedDesktop, id: string) {
  return (await desktop.state()).tray?.menu.find((item) => item.id === id);
}

export async function labelOf(desktop: OpenedDesktop, id: string): Promise<string | undefined> {
  return (await itemOf(desktop, id))?.label;
}

export async function isChecked(desktop: OpenedDesktop, id: string): Promise<boolean | null | undefined> {
  return (await itemOf(desktop, id))?.checked;
}

export function logOf({ folder }: OpenedDesktop): string {
  return readFileSync(join(folder, 'data/logs/sluice.log'), 'utf8');
}

/**
 * To be called in a test file: desktops that share one Chromium for their windows. What a test opens is closed after
 * the test.
 */
export function openDesktopsInSuite(): (options?: DesktopOptions) => Promise<OpenedDesktop> {
  let browser: DesktopBrowser;
  let opened: OpenedDesktop | undefined;
  skipWithoutChromium();
  beforeAll(async () => {
    if (!hasChromium) return;
    await ensureBuilt();
    browser = await startDesktopBrowser(briefPrograms);
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  afterAll(() => browser?.stop());
  return async (options = {}) => {
    await opened?.close();
    opened = await openDesktop({ browser, ...options });
    return opened;
  };
}
