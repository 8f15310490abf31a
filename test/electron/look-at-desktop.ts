/** Helpers that inspect a desktop: its gateway, its tray and its log. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type OpenAI from 'openai';
import type { OpenedDesktop } from './open-desktop.ts';

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
