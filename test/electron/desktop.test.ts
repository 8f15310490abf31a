/** @suite long */
import { existsSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type {} from '../../renderer/state/api/create-api.ts';
import { begun, eventually } from '../support/eventually.ts';
import { testKey } from '../support/gateway.ts';
import { eventStream, json, startUpstream } from '../support/upstream.ts';
import { chat, chatReply, isChecked, labelOf, openDesktopsInSuite } from './desktop-suite.ts';

const open = openDesktopsInSuite();

describe('the desktop', () => {
  it('serves, and shows its window through its own scheme and IPC', async () => {
    const desktop = await open();
    const client = await desktop.client();
    expect((await client.models.list()).data.map(({ id }) => id)).toContain('demo-chat');
    const page = await desktop.page();
    await page.getByRole('status').getByText('Serving').waitFor();
    await expect.poll(async () => (await desktop.state()).windows).toMatchObject([{ isShown: true }]);
    const { windows, tray } = await desktop.state();
    expect(windows).toMatchObject([{ url: 'sluice-window://app/', bounds: { x: 50, y: 0, width: 1180, height: 770 } }]);
    expect(tray?.icon).toMatch(/tray-serving\.png$/);
    expect(tray?.toolTip).toBe(`Sluice: Serving at ${await desktop.baseUrl()}`);
    expect(desktop.complaints).toEqual([]);
  });

  it('streams to the window as it comes, and stops the provider when the page does', async () => {
    const told = Promise.withResolvers<ServerResponse>();
    const left = Promise.withResolvers<void>();
    const upstream = await startUpstream((_request, response) => {
      eventStream(response);
      response.write('data: {"choices":[{"index":0,"delta":{"content":"first"}}]}\n\n');
      response.on('close', left.resolve);
      told.resolve(response);
    });
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
    const desktop = await open({ config: { providers } });
    const page = await desktop.page();
    await page.getByRole('status').getByText('Serving').waitFor();
    const reading = begun(page.evaluate(readStream, testKey));
    const response = await told.promise;
    // The provider sends the rest only after the page has received the first part.
    await expect.poll(() => page.evaluate(textRead)).toContain('first');
    expect(await page.evaluate(textRead)).not.toContain('second');
    response.write('data: {"choices":[{"index":0,"delta":{"content":"second"}}]}\n\n');
    await expect.poll(() => page.evaluate(textRead)).toContain('second');
    await page.evaluate(() => window.dispatchEvent(new Event('stop-reading')));
    expect(await reading).toBe('AbortError');
    await left.promise;
    await upstream.stop();
  });

  it('switches a provider off by a click in the tray, so that the next request is refused, and on again', async () => {
    const upstream = await startUpstream((_request, response) => json(response, chatReply));
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
    const desktop = await open({ config: { providers } });
    const client = await desktop.client();
    expect(await chat(client, 'gpt-x')).toMatchObject({ object: 'chat.completion' });
    await desktop.order('clickMenu', { id: 'provider:main' });
    await expect.poll(async () => isChecked(desktop, 'provider:main')).toBe(false);
    expect(await chat(client, 'gpt-x')).toMatchObject({ status: 503, code: 'no_healthy_provider' });
    await desktop.order('clickMenu', { id: 'provider:main' });
    await expect.poll(async () => isChecked(desktop, 'provider:main')).toBe(true);
    expect(await chat(client, 'gpt-x')).toMatchObject({ object: 'chat.completion' });
    await expect.poll(async () => labelOf(desktop, 'today')).toMatch(/^Today: 3 requests/);
    await expect.poll(async () => labelOf(desktop, 'last-error')).toBe('Last error: gpt-x: no_healthy_provider');
    const page = await desktop.page();
    await page.getByRole('status').getByText('Serving').waitFor();
    await desktop.order('clickMenu', { id: 'last-error' });
    // It shows that request.
    await page.getByRole('dialog').getByText('no_healthy_provider').first().waitFor();
    await upstream.stop();
  });

  it('switches the demo off from the tray', async () => {
    const desktop = await open({ args: ['--hidden'] });
    const client = await desktop.client();
    await expect.poll(async () => isChecked(desktop, 'provider:demo')).toBe(true);
    await desktop.order('clickMenu', { id: 'provider:demo' });
    await expect.poll(() => chat(client, 'demo-chat')).toMatchObject({ status: 404, code: 'model_not_found' });
  });

  it('switches the gateway off and on from the tray, and the window follows', async () => {
    const desktop = await open();
    const page = await desktop.page();
    await page.getByRole('status').getByText('Serving').waitFor();
    await desktop.order('clickMenu', { id: 'gateway' });
    await expect.poll(async () => labelOf(desktop, 'state')).toBe('Sluice is off');
    expect((await desktop.state()).tray?.icon).toMatch(/tray-off\.png$/);
    await page.getByRole('status').getByText('Serving').waitFor({ state: 'hidden' });
    await desktop.order('clickMenu', { id: 'gateway' });
    await page.getByRole('status').getByText('Serving').waitFor();
    expect(await chat(await desktop.client(), 'demo-chat')).toMatchObject({ object: 'chat.completion' });
  });

  it('opens a terminal whose programs have the key in their environment', async () => {
    const desktop = await open({ config: { keys: [] } });
    const page = await desktop.page();
    await page.getByRole('status').getByText('Serving').waitFor();
    const { secret } = await page.evaluate(async () => {
      const reply = await window.sluiceDesktop?.call('execute', { type: 'key.create', name: 'mine' });
      return reply && 'result' in reply ? Object(reply.result) : {};
    });
    await page.evaluate(() => location.assign('#/connect/zed'));
    await page.getByRole('button', { name: 'Open a terminal with this key' }).click();
    const noted = (name: string) => readFileSync(join(desktop.folder, `terminal.${name}`), 'utf8');
    await eventually(() => existsSync(join(desktop.folder, 'terminal.env')));
    const env = noted('env').split('\n');
    expect(env).toEqual(expect.arrayContaining([`SLUICE_API_KEY=${secret}`, `OPENAI_API_KEY=${secret}`]));
    expect(env).toContain('OPENAI_MODEL=demo-chat');
    expect(noted('called')).toBe(`0  ${desktop.folder}\n`);
  });

  it('copies the base URL and a key from the tray', async () => {
    const desktop = await open();
    const page = await desktop.page();
    const reply = await page.evaluate(() =>
      window.sluiceDesktop?.call('execute', { type: 'key.create', name: 'copied' }),
    );
    const secret = reply && 'result' in reply && 'secret' in reply.result ? reply.result.secret : '';
    expect(secret).toMatch(/^sk-sluice-/);
    await desktop.order('clickMenu', { id: 'copy-base-url' });
    await expect.poll(async () => (await desktop.state()).clipboard).toBe(await desktop.baseUrl());
    await expect.poll(async () => labelOf(desktop, 'key:copied')).toBe('copied');
    await desktop.order('clickMenu', { id: 'key:copied' });
    await expect.poll(async () => (await desktop.state()).clipboard).toBe(secret);
  });
});

/**
 * Runs in the page: streams a chat, stores the text so far for `textRead`, and returns the name of the error that ended
 * it.
 */
async function readStream(key: string): Promise<string> {
  const controller = new AbortController();
  window.addEventListener('stop-reading', () => controller.abort());
  try {
    const reply = await fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-x', stream: true, messages: [] }),
      signal: controller.signal,
    });
    const reader = reply.body?.getReader();
    const decoder = new TextDecoder();
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      document.body.dataset.read = (document.body.dataset.read ?? '') + decoder.decode(read.value);
    }
    return 'none';
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}

function textRead(): string {
  return document.body.dataset.read ?? '';
}
