/**
 * Links and files that the system opens with Sluice: they show something, and change nothing by themselves.
 *
 * @suite long
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acmePreset } from '../server/control/team-preset-file.ts';
import { chat, openDesktopsInSuite } from './desktop-suite.ts';
import { type OpenedDesktop, startMain } from './open-desktop.ts';

const open = openDesktopsInSuite();

const configOf = ({ folder }: OpenedDesktop) => readFileSync(join(folder, 'data/config.json'), 'utf8');

describe('a link', () => {
  it('shows a request, in the window that was closed', async () => {
    const desktop = await open();
    const page = await desktop.page();
    await page.getByRole('status').getByText('Serving').waitFor();
    await chat(await desktop.client(), 'no-such-model');
    await desktop.order('closeWindow');
    const reply = await page.evaluate(() => window.sluiceDesktop?.call('query', { type: 'requests', limit: 1 }));
    const id = /req_\w+/.exec(JSON.stringify(reply))?.[0] ?? '';
    await desktop.order('handOver', { event: 'open-url', what: `sluice://requests/${id}` });
    await page.getByRole('dialog').getByText('no-such-model').first().waitFor();
    expect((await desktop.state()).windows).toMatchObject([{ isShown: true }]);
  });

  it('fills in the form of a provider, and neither asks nor adds anything', async () => {
    const desktop = await open({
      args: ['--hidden', 'sluice://provider?url=http%3A%2F%2F127.0.0.1%3A9%2Fv1&name=Their+LLM'],
    });
    const page = await desktop.page();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('A link filled this in.').waitFor();
    await expect.poll(() => dialog.getByRole('textbox').first().inputValue()).toBe('http://127.0.0.1:9/v1');
    const before = configOf(desktop);
    await desktop.order('handOver', { event: 'open-url', what: 'sluice://provider?preset=openrouter' });
    await page.keyboard.press('Escape');
    expect(configOf(desktop)).toBe(before);
    expect(configOf(desktop)).not.toContain('Their LLM');
    expect(desktop.complaints).toEqual([]);
  });

  it('with a secret is refused, and the window says so', async () => {
    const desktop = await open();
    const page = await desktop.page();
    await page.getByRole('status').getByText('Serving').waitFor();
    const link = 'sluice://provider?preset=openai&key=sk-proj-abcdefghijklmnopqrstuvwxyz0123456789';
    await desktop.order('handOver', { event: 'open-url', what: link });
    await page.getByRole('dialog').getByText('The link contains a key or password.').waitFor();
    expect(await page.content()).not.toContain('sk-proj-');
    expect(page.url()).not.toContain('sk-proj-');
  });
});

describe('a file', () => {
  it('that starts a second program, as on Windows and Linux, is shown by the first one', async () => {
    const desktop = await open({ args: ['--hidden'] });
    await desktop.baseUrl();
    const path = join(desktop.folder, 'acme.sluice-preset');
    writeFileSync(path, JSON.stringify(acmePreset));
    const second = startMain(desktop.folder, { args: [path] });
    expect(await second.ended).toBe(0);
    await (await desktop.page())
      .getByRole('dialog', { name: 'Team preset' })
      .getByText('Added: provider acme')
      .waitFor();
  });

  it('of a cassette shows its recordings, and switches no replay on', async () => {
    const desktop = await open();
    const page = await desktop.page();
    await page.getByRole('status').getByText('Serving').waitFor();
    const cassette = join(desktop.folder, 'tests.sluice-cassette');
    mkdirSync(cassette);
    const request = { method: 'POST', path: '/v1/chat/completions', wire: 'openai-chat', headers: {}, body: null };
    const response = { status: 418, headers: {}, ended: 'complete', body: null };
    const recording = join(cassette, '0001-chat-completions-3f2a9c.json');
    writeFileSync(recording, JSON.stringify({ version: 1, request, response, usage: null }));
    const before = configOf(desktop);
    for (const what of [cassette, recording]) {
      await desktop.order('handOver', { event: 'open-file', what });
      const dialog = page.getByRole('dialog', { name: 'Cassette' });
      await dialog.getByText('POST /v1/chat/completions').waitFor();
      await dialog.getByText('418').waitFor();
      await dialog.getByText('Nothing was switched on.').waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
    expect(configOf(desktop)).toBe(before);
    expect(await chat(await desktop.client(), 'demo-chat')).toMatchObject({ object: 'chat.completion' });
    expect(desktop.complaints).toEqual([]);
  });
});
