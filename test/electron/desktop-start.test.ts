import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkout } from '../support/program.ts';
import { json, startUpstream } from '../support/upstream.ts';
import { chat, chatReply, itemOf, labelOf, openDesktopsInSuite } from './desktop-suite.ts';
import { startMain } from './open-desktop.ts';

const open = openDesktopsInSuite();

describe('the desktop and its system', () => {
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

  it('reports a missing part and ends, even if nothing is left that could show the message', async () => {
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
