import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientGuides } from '../../server/contract/clients/client-guides.ts';
import { clientSettings } from '../server/connect/client-settings.ts';
import { testKey } from '../support/gateway.ts';
import { accessibilityFaults } from './accessibility.ts';
import { fillWithOldRequests } from './filled-ledger.ts';
import { appearances, createKeptKey, openInSuite, overflowOf, ownClipboard, takePicture } from './window-suite.ts';

const open = openInSuite();

describe('the connect screen', () => {
  it('fills base URL and model into the steps, and the secret only when asked', async () => {
    const window = await open({ config: { keys: [] } });
    const { page, gateway } = window;
    const secret = await createKeptKey(window, 'my tool');
    await ownClipboard(page);
    await page.goto(`${gateway.origin}/#/connect/curl`);
    const steps = page.getByRole('region', { name: 'Steps for curl' });
    await steps.getByText(`curl ${gateway.baseUrl}/chat/completions`).waitFor();
    await steps.getByText('"model":"demo-chat"').waitFor();
    await steps.getByText('Bearer YOUR_KEY').waitFor();
    await steps.getByText('Copying puts your key in place of YOUR_KEY.').waitFor();
    await steps.getByRole('button', { name: 'Copy snippet for curl' }).click();
    await steps.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`Bearer ${secret}`);
    expect(await page.content()).not.toContain(secret);
    await steps.getByRole('button', { name: 'Copied' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show key in snippets' }).click();
    await steps.getByText(`Bearer ${secret}`).waitFor();
    expect(await steps.getByText('Copying puts your key').count()).toBe(0);
    await steps.getByRole('button', { name: 'Copy snippet for curl' }).click();
    await steps.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`Bearer ${secret}`);
    await page.getByRole('button', { name: 'Hide key' }).click();
    await steps.getByText('Bearer YOUR_KEY').waitFor();
    expect(await page.content()).not.toContain(secret);
  });

  it('has room for its copy buttons where fingers press them', async () => {
    const { page } = await open({ screen: '/connect/cursor', context: { viewport: { width: 420, height: 800 } } });
    const buttons = page.getByRole('button', { name: /^Copy / });
    await page.getByRole('button', { name: 'Copy snippet for Cursor' }).waitFor();
    expect(await buttons.count()).toBeGreaterThan(2);
    const stickOut = await buttons.evaluateAll((all) =>
      all.filter((button) => {
        const [own, box] = [button.getBoundingClientRect(), button.parentElement?.getBoundingClientRect()];
        return !box || own.top < box.top || own.bottom > box.bottom || own.right > box.right;
      }),
    );
    expect(stickOut).toEqual([]);
  });

  it.each(['Zed', 'LibreChat', 'Raycast'])(
    'begins in sight wherever in the list a client was chosen: %s',
    async (name) => {
      const { page } = await open({ screen: '/connect', context: { viewport: { width: 1280, height: 800 } } });
      const link = page.getByRole('navigation', { name: 'Clients' }).getByRole('link', { name, exact: true });
      await link.scrollIntoViewIfNeeded();
      await page.mouse.wheel(0, 2_000);
      await link.click();
      const heading = page.getByRole('heading', { name: `Steps for ${name}` });
      await heading.waitFor();
      await expect.poll(async () => ((await heading.boundingBox())?.y ?? -1) >= 0).toBe(true);
    },
  );

  it.each(['Terminal', 'Zed', 'Crush'])('has for %s the command that opens a terminal with the key', async (name) => {
    const window = await open({ config: { keys: [] }, screen: `/connect/${name.toLowerCase()}` });
    await createKeptKey(window, 'my tool');
    const steps = window.page.getByRole('region', { name: `Steps for ${name}` });
    await steps.getByText('sluice terminal --key my-tool --model demo-chat').waitFor();
    expect(await steps.getByRole('button', { name: 'Open a terminal' }).count()).toBe(0);
  });

  it('does not take its own test for a client', async () => {
    const window = await open({ config: { keys: [] }, screen: '/connect/cursor' });
    await createKeptKey(window, 'my tool');
    const { page } = window;
    await page.getByRole('button', { name: 'Send a test request' }).click();
    await page.getByText(/Works: demo-chat answered in /).waitFor();
    await page.goto(`${window.gateway.origin}/#/connect/n8n`);
    const steps = page.getByRole('region', { name: 'Steps for n8n' });
    await steps.getByText('Waiting for the first request with this key.').waitFor();
    expect(await page.getByRole('navigation', { name: 'Clients' }).getByRole('img').count()).toBe(0);
    expect((await window.gateway.record()).client).toMatch(/\[Sluice window\]$/);
  });

  it('sets Codex up in two clicks, review and apply, tests it, and undoes it', async () => {
    const prepare = (folder: string) => {
      mkdirSync(join(folder, '.codex'));
      writeFileSync(join(folder, '.codex/config.toml'), clientSettings['.codex/config.toml'] ?? '');
    };
    const window = await open({ config: { keys: [] }, screen: '/connect/codex', prepare });
    const secret = await createKeptKey(window, 'my tool');
    const { page, gateway, complaints } = window;
    const file = () => readFileSync(join(gateway.folder, '.codex/config.toml'), 'utf8');
    const panel = page.getByRole('region', { name: 'Set up automatically' });
    await panel.getByRole('button', { name: 'Review change…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change for Codex CLI' });
    await dialog.getByText('+model_provider = "sluice"').waitFor();
    await dialog.getByText(/^The client reads the key from .*sluice-key, which only you can read\./).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(file()).toBe(clientSettings['.codex/config.toml']);
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await panel.getByText('Set up for demo-chat just now.').waitFor();
    expect(file()).toContain(`base_url = "${gateway.baseUrl}"`);
    await panel.getByText(/Works: demo-chat answered in /).waitFor();
    expect(await panel.getByText('export').count()).toBe(0);

    const headers = { 'user-agent': 'codex_exec/0.169.0 (Debian 12.0.0; x86_64) unknown (codex_exec; 0.169.0)' };
    const body = JSON.stringify({ model: 'demo-chat', input: 'Hello' });
    const authorization = `Bearer ${secret}`;
    const sent = { ...headers, authorization, 'content-type': 'application/json' };
    await gateway.fetch('/responses', { method: 'POST', body, headers: sent });
    await page.getByRole('region', { name: 'Steps for Codex CLI' }).getByText('It sent a request just now.').waitFor();

    await panel.getByRole('button', { name: 'Undo…' }).click();
    await page.getByRole('dialog', { name: 'Undo for Codex CLI' }).getByRole('button', { name: 'Undo' }).click();
    await panel.getByText('Sluice can write ~/.codex/config.toml for you.').waitFor();
    expect(file()).toBe(clientSettings['.codex/config.toml']);
    expect(complaints).toEqual([]);
  });

  it('says what follows from an old key in a client’s file, and gives it the new one', async () => {
    const window = await open({ config: { keys: [] }, screen: '/connect/continue' });
    await createKeptKey(window, 'my tool');
    const { page, gateway } = window;
    const panel = page.getByRole('region', { name: 'Set up automatically' });
    const apply = page.getByRole('dialog', { name: 'Change for Continue' }).getByRole('button', { name: 'Apply' });
    await panel.getByRole('button', { name: 'Review change…' }).click();
    await apply.click();
    await panel.getByText('Set up for demo-chat just now.').waitFor();
    await gateway.gateway.execute({ type: 'key.rotate', id: 'my-tool' });
    await page.reload();
    await panel.getByText('Continue still has an old key, which no longer works: its requests are refused.').waitFor();
    await takePicture(page, 'connect-old-key');
    await panel.getByRole('button', { name: 'Give it the key “my tool”…' }).click();
    await apply.click();
    await panel.getByText('Set up for demo-chat just now.').waitFor();
  });

  it('names the settings that the client prefers, and does not say "set up" where one comes back', async () => {
    let path = '';
    const prepare = (folder: string) => {
      mkdirSync(join(folder, '.claude'));
      path = join(folder, '.claude/settings.json');
      writeFileSync(path, '{\n  "env": { "CLAUDE_CODE_USE_BEDROCK": "1" }\n}\n');
    };
    const { page, complaints } = await open({ screen: '/connect/claude-code', prepare });
    await page.getByRole('button', { name: 'Review change…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog
      .getByText(
        'The client would prefer env.CLAUDE_CODE_USE_BEDROCK in ~/.claude/settings.json, so the change takes that out.',
      )
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Apply' }).click();
    const panel = page.getByRole('region', { name: 'Set up automatically' });
    await panel.getByText('Set up for demo-chat just now.').waitFor();
    writeFileSync(path, readFileSync(path, 'utf8').replace('"env": {', '"env": { "CLAUDE_CODE_USE_VERTEX": "1",'));
    await page.reload();
    await panel.getByText(/^Written for demo-chat, but not in effect: .*CLAUDE_CODE_USE_VERTEX/).waitFor();
    expect(complaints).toEqual([]);
  });

  it('says why a file cannot be changed, and writes nothing', async () => {
    const prepare = (folder: string) => {
      mkdirSync(join(folder, '.codex'));
      writeFileSync(join(folder, '.codex/config.toml'), 'model = "a"\nmodel = = "b"\n');
    };
    const { page } = await open({ screen: '/connect/codex', prepare });
    await page.getByRole('button', { name: 'Review change…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('~/.codex/config.toml has a syntax error in line 2.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Apply' }).isDisabled()).toBe(true);
  });

  it('shows the change anew if the file was changed since, and then makes it', async () => {
    let path = '';
    const prepare = (folder: string) => {
      mkdirSync(join(folder, '.codex'));
      path = join(folder, '.codex/config.toml');
      writeFileSync(path, 'model = "a"\n');
    };
    const { page } = await open({ screen: '/connect/codex', prepare });
    await page.getByRole('button', { name: 'Review change…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('-model = "a"').waitFor();
    writeFileSync(path, 'model = "b"\n');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.getByText('The file has changed since this preview.').waitFor();
    await dialog.getByText('-model = "b"').waitFor();
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(readFileSync(path, 'utf8')).toContain('model_provider = "sluice"');
  });

  it('writes nothing when the person cancels', async () => {
    const { page, gateway } = await open({ screen: '/connect/opencode' });
    await page.getByRole('button', { name: 'Review change…' }).click();
    await page.getByRole('dialog').getByText('new file').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(existsSync(join(gateway.folder, '.config'))).toBe(false);
  });

  it('tests the chosen key from here without showing its secret', async () => {
    const window = await open({ config: { keys: [] }, screen: '/connect' });
    const secret = await createKeptKey(window, 'my tool');
    const { page, complaints } = window;
    await page.getByRole('button', { name: 'Send a test request' }).click();
    await page.getByText(/Works: demo-chat answered in /).waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(complaints).toEqual([]);
  });

  it('says why a key is refused, where its secret has to be entered', async () => {
    const { page } = await open({ screen: '/connect' });
    await page.getByLabel('Secret of the key', { exact: true }).fill('sk-sluice-wrong');
    await page.getByRole('button', { name: 'Send a test request' }).click();
    await page.getByText(/demo-chat failed with 401: Incorrect API key provided/).waitFor();
  });

  it('marks a client when its first request arrives', async () => {
    const window = await open({ screen: '/connect/openai-node' });
    const { page, gateway, complaints } = window;
    const steps = page.getByRole('region', { name: 'Steps for openai-node' });
    await steps.getByText('Waiting for its first request.').waitFor();
    await gateway.client.models.list();
    await steps.getByText('It sent a request just now.').waitFor();
    const clients = page.getByRole('navigation', { name: 'Clients' });
    await clients.getByRole('link', { name: 'openai-node' }).getByRole('img', { name: 'has sent a request' }).waitFor();
    expect(await clients.getByRole('img').count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('keeps the mark of a client that has not come for long', async () => {
    const { page } = await open({ screen: '/connect/codex', prepare: fillWithOldRequests });
    const steps = page.getByRole('region', { name: 'Steps for Codex CLI' });
    await steps.getByText('It sent a request 3 days ago.').waitFor();
    const link = page.getByRole('navigation', { name: 'Clients' }).getByRole('link', { name: 'Codex CLI' });
    await link.getByRole('img', { name: 'has sent a request' }).waitFor();
  });

  it('uses the key if a client cannot be identified by its requests', async () => {
    const { page, gateway } = await open({ screen: '/connect/n8n' });
    const steps = page.getByRole('region', { name: 'Steps for n8n' });
    await steps.getByText('Waiting for the first request with this key.').waitFor();
    await gateway.client.models.list();
    await steps.getByText(/^This key was used just now by “OpenAI\/JS [^”]*”\./).waitFor();
  });

  it('shows steps with base URL and model for every client', async () => {
    const { page, gateway, complaints } = await open({ screen: '/connect' });
    for (const { name } of clientGuides) {
      await page.getByRole('navigation', { name: 'Clients' }).getByRole('link', { name, exact: true }).click();
      const steps = page.getByRole('region', { name: `Steps for ${name}` });
      await steps.waitFor();
      const text = (await steps.textContent()) ?? '';
      // Clients of Anthropic's and Google's APIs add the version themselves.
      const addsVersion = ['Claude Code', 'Gemini CLI', 'Goose'].includes(name);
      const address = addsVersion ? `${gateway.origin} ` : gateway.baseUrl;
      expect.soft(text, name).toContain(address);
      expect.soft(text).toMatch(/YOUR_KEY/);
    }
    // Only what is to be done is numbered.
    await page.getByRole('navigation', { name: 'Clients' }).getByRole('link', { name: 'VS Code Copilot' }).click();
    const steps = page.getByRole('region', { name: 'Steps for VS Code Copilot' }).getByRole('listitem');
    await expect.poll(() => steps.count()).toBe(2);
    await steps.nth(1).getByText('The token limits are guesses.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('passes the checks of axe', async () => {
    const { page } = await open({ screen: '/connect/open-webui' });
    await page.getByRole('region', { name: 'Steps for Open WebUI' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it.each(appearances)('tests a key, and fits in $width px, $colorScheme, $locale', async (appearance) => {
    const { width, colorScheme, locale } = appearance;
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page, complaints } = await open({ context, screen: '/connect/codex' });
    await page.getByText('wire_api').waitFor();
    await page.getByLabel(/^(Secret of the key|密钥内容)$/).fill(testKey);
    await page.getByRole('button', { name: /^(Send a test request|发送测试请求)$/ }).click();
    await page.getByText(/^(Works: demo-chat answered in|可用：demo-chat 在)/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await takePicture(page, `connect-${width}-${colorScheme}-${locale}`);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
  });
});
