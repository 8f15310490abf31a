import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type {} from '../../renderer/open-api.ts';
import { begun } from '../support/begun.ts';
import { skipWithoutChromium } from '../support/chromium.ts';
import { testKey } from '../support/gateway.ts';
import { onlyIf } from '../support/only-if.ts';
import { checkout, ensureBuilt } from '../support/program.ts';
import { eventStream, json, startUpstream } from '../support/upstream.ts';
import { type DesktopOptions, type OpenedDesktop, openDesktop, startMain } from './open-desktop.ts';

let opened: OpenedDesktop | undefined;

skipWithoutChromium();
beforeAll(ensureBuilt);
afterEach(async () => {
  await opened?.close();
  opened = undefined;
});

async function open(options: DesktopOptions = {}): Promise<OpenedDesktop> {
  opened = await openDesktop(options);
  return opened;
}

describe('the desktop', () => {
  it('serves, and shows its window through its own scheme and IPC', async () => {
    const desktop = await open();
    const client = await desktop.client();
    expect((await client.models.list()).data.map(({ id }) => id)).toContain('demo-chat');
    const page = await desktop.page();
    await page.getByRole('status').getByText('Serving').waitFor();
    await expect.poll(async () => (await desktop.state()).windows).toMatchObject([{ isShown: true }]);
    const { windows, tray } = await desktop.state();
    expect(windows).toMatchObject([
      { url: 'sluice-window://app/', bounds: { x: 860, y: 128, width: 420, height: 640 } },
    ]);
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
    // The provider says nothing more until the page has what it said first.
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
    // Of that very request.
    await page.getByRole('dialog').getByText('no_healthy_provider').first().waitFor();
    await upstream.stop();
  });

  it('switches the demo off and on from the tray', async () => {
    const desktop = await open();
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

  it('gives a closed window’s memory back, goes on serving, and opens the next where the last one was', async () => {
    const desktop = await open();
    const page = await desktop.page();
    await expect.poll(async () => (await desktop.state()).windows).toMatchObject([{ isShown: true }]);
    const bounds = { x: 40, y: 50, width: 700, height: 500 };
    await desktop.order('moveWindow', { bounds });
    await desktop.order('closeWindow');
    await expect.poll(() => page.isClosed()).toBe(true);
    expect((await desktop.state()).windows).toEqual([]);
    expect(await chat(await desktop.client(), 'demo-chat')).toMatchObject({ object: 'chat.completion' });
    await desktop.order('clickTray');
    await (await desktop.page()).getByRole('status').getByText('Serving').waitFor();
    expect((await desktop.state()).windows).toMatchObject([{ bounds }]);
  });

  it('opens at the tray, on its display, for as long as nobody moves it on that one', async () => {
    const desktop = await open();
    const isAt = (bounds: object) =>
      expect.poll(async () => (await desktop.state()).windows).toMatchObject([{ isShown: true, bounds }]);
    const openWithTrayAt = async (x: number, y: number) => {
      await desktop.order('closeWindow');
      await desktop.order('moveTray', { bounds: { x, y, width: 24, height: 24 } });
      await desktop.order('clickTray');
    };
    await isAt({ x: 860, y: 128, width: 420, height: 640 });
    // The bar is on the other display now.
    await openWithTrayAt(-40, 1044);
    await isAt({ x: -420, y: 396, width: 420, height: 640 });
    const moved = { x: -1000, y: 100, width: 600, height: 500 };
    await desktop.order('moveWindow', { bounds: moved });
    // And now at the top of the first one.
    await openWithTrayAt(600, 0);
    await isAt({ x: 402, y: 32, width: 420, height: 640 });
    await openWithTrayAt(-40, 1044);
    await isAt(moved);
  });

  it('shows the first one’s window when it is started again', async () => {
    const desktop = await open({ args: ['--hidden'] });
    await desktop.baseUrl();
    await expect.poll(async () => labelOf(desktop, 'state')).toMatch(/^Serving/);
    expect((await desktop.state()).windows).toEqual([]);
    const second = startMain(desktop.folder, {});
    expect(await second.ended).toBe(0);
    await (await desktop.page()).getByRole('status').getByText('Serving').waitFor();
    expect((await desktop.state()).windows).toHaveLength(1);
  });

  it.runIf(onlyIf(process.platform === 'linux', 'only Linux has desktops without a tray'))(
    'shows its window where there is no tray, even if it was started without',
    async () => {
      const desktop = await open({ args: ['--hidden'], env: { DOUBLE_TRAY: 'false' } });
      await (await desktop.page()).getByRole('status').getByText('Serving').waitFor();
      await expect.poll(async () => (await desktop.state()).windows).toMatchObject([{ isShown: true }]);
    },
  );

  it('goes on serving when the window’s process crashes, and opens a new one', async () => {
    const desktop = await open();
    await (await desktop.page()).getByRole('status').getByText('Serving').waitFor();
    await desktop.order('crashPage');
    await expect.poll(async () => (await desktop.state()).windows).toEqual([]);
    expect(await chat(await desktop.client(), 'demo-chat')).toMatchObject({ object: 'chat.completion' });
    await desktop.order('clickMenu', { id: 'open' });
    await expect.poll(async () => (await desktop.state()).windows).toMatchObject([{ isShown: true }]);
    await expect.poll(() => logOf(desktop)).toContain('the window’s process is gone');
  });

  it('opens a new connection upstream after sleep', async () => {
    const ports: (number | undefined)[] = [];
    const upstream = await startUpstream((_request, response, { socket }) => {
      ports.push(socket.remotePort);
      json(response, chatReply);
    });
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
    const desktop = await open({ config: { providers }, args: ['--hidden'] });
    const client = await desktop.client();
    for (let round = 0; round < 2; round++) await chat(client, 'gpt-x');
    await desktop.order('power', { event: 'suspend' });
    await desktop.order('power', { event: 'resume' });
    expect(await chat(client, 'gpt-x')).toMatchObject({ object: 'chat.completion' });
    expect(ports[1]).toBe(ports[0]);
    expect(ports[2]).not.toBe(ports[0]);
    await upstream.stop();
  });

  it('reaches providers through the proxy that the operating system names', async () => {
    const asked: string[] = [];
    const proxy = await startUpstream(({ url }, response) => {
      asked.push(url);
      json(response, chatReply);
    });
    const providers = [{ id: 'main', baseUrl: 'http://upstream.invalid/v1', models: ['gpt-x'] }];
    const env = { DOUBLE_PROXY: `PROXY ${new URL(proxy.origin).host}; DIRECT` };
    const desktop = await open({ config: { providers }, args: ['--hidden'], env });
    expect(await chat(await desktop.client(), 'gpt-x')).toMatchObject({ object: 'chat.completion' });
    expect(asked).toEqual(['http://upstream.invalid/v1/chat/completions']);
    await proxy.stop();
  });

  it('ends only when a running stream has, and leaves nothing behind', async () => {
    let finish = () => {};
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk('Hel'));
      finish = () => response.end(`${chunk('lo')}data: [DONE]\n\n`);
    });
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
    const desktop = await open({ config: { providers }, args: ['--hidden'] });
    const client = await desktop.client();
    const stream = await client.chat.completions.create({ model: 'gpt-x', messages, stream: true });
    let text = '';
    for await (const { choices } of stream) {
      text += choices[0]?.delta.content ?? '';
      if (text !== 'Hel') continue;
      await desktop.order('quit');
      expect(desktop.child.exitCode).toBeNull();
      finish();
    }
    expect(text).toBe('Hello');
    expect(await desktop.ended).toBe(0);
    expect(() => readFileSync(join(desktop.folder, 'data/instance.json'))).toThrow('ENOENT');
    expect(logOf(desktop).trim().split('\n').at(-1)).toContain('"msg":"stopped"');
    await upstream.stop();
  });

  /** A desktop with a stream that runs until the test says otherwise. */
  async function openWithStream(options: DesktopOptions = {}) {
    let finish = () => {};
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk('Hel'));
      finish = () => response.end(`${chunk('lo')}data: [DONE]\n\n`);
    });
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
    const desktop = await open({ config: { providers }, ...options });
    const client = await desktop.client();
    const stream = await client.chat.completions.create({ model: 'gpt-x', messages, stream: true });
    const pieces = stream[Symbol.asyncIterator]();
    await pieces.next();
    const restOfStream = async () => {
      finish();
      for (let piece = await pieces.next(); !piece.done; piece = await pieces.next());
      await upstream.stop();
    };
    return { desktop, upstream, restOfStream };
  }

  it('does not hold up a logout, which that would call off', async () => {
    const { desktop, upstream } = await openWithStream({ args: ['--hidden'] });
    // A quit that is prevented would be answered.
    await expect(desktop.order('logOut')).rejects.toThrow('the desktop has ended');
    expect(await desktop.ended).toBe(0);
    await upstream.stop();
  });

  it('shows its window only when the engine is on, whenever it is asked to', async () => {
    const desktop = await open({ args: ['--hidden'], env: { DOUBLE_ACTIVATED: '1' } });
    await desktop.page();
    expect((await desktop.state()).windows).toMatchObject([{ trayWhenOpened: expect.stringMatching(/Serving at/) }]);
  });

  it('begins to end when Windows tells its window that the session does', async () => {
    const { desktop, restOfStream } = await openWithStream();
    await desktop.page();
    await desktop.order('endSession');
    await expect.poll(async () => labelOf(desktop, 'state')).toBe('Sluice stops when running requests have ended…');
    await restOfStream();
    expect(await desktop.ended).toBe(0);
  });

  it('is started again by whoever starts it while it ends', async () => {
    const { desktop, restOfStream } = await openWithStream({ args: ['--hidden'] });
    await desktop.order('quit');
    const second = startMain(desktop.folder, { args: ['sluice://preset#x'] });
    expect(await second.ended).toBe(0);
    await restOfStream();
    expect(await desktop.ended).toBe(0);
    const relaunch = JSON.parse(readFileSync(join(desktop.folder, 'data/desktop/double-relaunch'), 'utf8'));
    expect(relaunch.args.slice(1)).toEqual(['sluice://preset#x']);
  });

  it('goes on serving when the place of its window cannot be written', async () => {
    const desktop = await open();
    await (await desktop.page()).getByRole('status').getByText('Serving').waitFor();
    rmSync(join(desktop.folder, 'data/desktop.json'), { force: true });
    mkdirSync(join(desktop.folder, 'data/desktop.json'));
    await desktop.order('moveWindow', { bounds: { x: 40, y: 50, width: 700, height: 500 } });
    await desktop.order('closeWindow');
    await expect.poll(() => logOf(desktop)).toContain('what the desktop remembers was not written');
    expect(await chat(await desktop.client(), 'demo-chat')).toMatchObject({ object: 'chat.completion' });
  });

  it('asks before a window with unsaved changes closes, which Electron does not', async () => {
    const desktop = await open();
    await expect.poll(async () => (await desktop.state()).windows).toHaveLength(1);
    expect(await desktop.order('leaveUnsaved', { answer: 0 })).toBe(false);
    expect(await desktop.order('leaveUnsaved', { answer: 1 })).toBe(true);
    expect((await desktop.state()).shown.messages).toEqual(['Discard unsaved changes?', 'Discard unsaved changes?']);
  });

  it('says that start at login could not be changed, and goes on serving', async () => {
    const desktop = await open({ args: ['--hidden'] });
    await expect.poll(async () => labelOf(desktop, 'state')).toMatch(/^Serving/);
    mkdirSync(join(desktop.folder, '.config'), { recursive: true });
    writeFileSync(join(desktop.folder, '.config/autostart'), 'no folder');
    await desktop.order('clickMenu', { id: 'start-at-login' });
    await expect.poll(async () => (await desktop.state()).shown.messages).toHaveLength(1);
    expect((await desktop.state()).shown.messages[0]).toContain('Start at login could not be changed');
    expect(await itemOf(desktop, 'start-at-login')).toMatchObject({ checked: false, looksChecked: false });
    expect(await chat(await desktop.client(), 'demo-chat')).toMatchObject({ object: 'chat.completion' });
  });

  it('serves where the files of its window have no place in the data folder', async () => {
    const desktop = await open({ occupied: 'desktop' });
    await (await desktop.page()).getByRole('status').getByText('Serving').waitFor();
    expect(desktop.output.stderr).toContain(`The window keeps its files in ${desktop.folder}/.config/sluice`);
    expect(await chat(await desktop.client(), 'demo-chat')).toMatchObject({ object: 'chat.completion' });
  });

  it('says so and ends where a part of it is missing, with nothing left that could tell', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-broken-'));
    cpSync(join(checkout, 'dist/program'), join(folder, 'program'), { recursive: true });
    rmSync(join(folder, 'program/icons'), { recursive: true });
    const started = startMain(folder, { main: join(folder, 'program/main.js') });
    expect(await started.ended).toBe(1);
    expect(started.output.stderr).toMatch(/^Sluice could not start: there is no image .+\.png$/m);
    rmSync(folder, { recursive: true, force: true });
  });

  it('says in the tray why it could not start, and starts when asked again', async () => {
    const upstream = await startUpstream((_request, response) => json(response, chatReply));
    const port = Number(new URL(upstream.baseUrl).port);
    const desktop = await open({ config: { settings: { port } } });
    await expect
      .poll(async () => labelOf(desktop, 'state'))
      .toBe(`Not running: Port ${port} is used by another program.`);
    expect((await desktop.state()).tray?.icon).toMatch(/tray-error\.png$/);
    await upstream.stop();
    await desktop.order('clickMenu', { id: 'gateway' });
    await expect.poll(async () => labelOf(desktop, 'state')).toBe(`Serving at http://127.0.0.1:${port}/v1`);
  });
});

const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }];
const chatReply = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
};

function chunk(content: string): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }];
  return `data: ${JSON.stringify({ ...chatReply, object: 'chat.completion.chunk', choices })}\n\n`;
}

/** The answer, or the error, for comparison. */
function chat(client: OpenAI, model: string): Promise<unknown> {
  return client.chat.completions.create({ model, messages }).catch((error: unknown) => error);
}

async function itemOf(desktop: OpenedDesktop, id: string) {
  return (await desktop.state()).tray?.menu.find((item) => item.id === id);
}

async function labelOf(desktop: OpenedDesktop, id: string): Promise<string | undefined> {
  return (await itemOf(desktop, id))?.label;
}

async function isChecked(desktop: OpenedDesktop, id: string): Promise<boolean | null | undefined> {
  return (await itemOf(desktop, id))?.checked;
}

function logOf({ folder }: OpenedDesktop): string {
  return readFileSync(join(folder, 'data/logs/sluice.log'), 'utf8');
}

/** In the page: streams a chat, keeps what came so far for `textRead`, and returns the name of what ended it. */
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
