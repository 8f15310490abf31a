import { describe, expect, it } from 'vitest';
import { clientGuides } from '../../renderer/views/connect/client-guides.ts';
import { testKey } from '../support/gateway.ts';
import { accessibilityFaults } from './accessibility.ts';
import { fillWithOldRequests } from './filled-ledger.ts';
import { appearances, createKeptKey, openInSuite, overflowOf } from './window-suite.ts';

const open = openInSuite();

describe('the connect screen', () => {
  it('fills base URL and model into the steps, and the secret only when asked', async () => {
    const window = await open({ config: { keys: [] } });
    const { page, gateway, context } = window;
    const secret = await createKeptKey(window, 'my tool');
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${gateway.origin}/#/connect/curl`);
    const steps = page.getByRole('region', { name: 'Steps for curl' });
    await steps.getByText(`curl ${gateway.baseUrl}/chat/completions`).waitFor();
    await steps.getByText('"model":"demo-chat"').waitFor();
    await steps.getByText('Bearer YOUR_KEY').waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('button', { name: 'Put the secret into the steps' }).click();
    await steps.getByText(`Bearer ${secret}`).waitFor();
    await steps.getByRole('button', { name: 'Copy snippet for curl' }).click();
    await steps.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`Bearer ${secret}`);
    await page.getByRole('button', { name: 'Take the secret out' }).click();
    await steps.getByText('Bearer YOUR_KEY').waitFor();
    expect(await page.content()).not.toContain(secret);
  });

  it('tests the chosen key from here without showing its secret', async () => {
    const window = await open({ config: { keys: [] }, screen: '/connect' });
    const secret = await createKeptKey(window, 'my tool');
    const { page, complaints } = window;
    await page.getByRole('button', { name: 'Test from here' }).click();
    await page.getByText(/Works: the key may use 6 models/).waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(complaints).toEqual([]);
  });

  it('says why a key is refused, where its secret has to be entered', async () => {
    const { page } = await open({ screen: '/connect' });
    await page.getByLabel('Secret of the key', { exact: true }).fill('sk-sluice-wrong');
    await page.getByRole('button', { name: 'Test from here' }).click();
    await page.getByText(/Refused with 401: Incorrect API key provided/).waitFor();
  });

  it('marks a client when its first request arrives', async () => {
    const window = await open({ screen: '/connect/openai-node' });
    const { page, gateway, complaints } = window;
    const steps = page.getByRole('region', { name: 'Steps for openai-node' });
    await steps.getByText('No request of it so far.').waitFor();
    await gateway.client.models.list();
    await steps.getByText('A request of it arrived just now.').waitFor();
    const clients = page.getByRole('navigation', { name: 'Clients' });
    await clients.getByRole('link', { name: 'openai-node' }).getByRole('img', { name: 'has sent a request' }).waitFor();
    expect(await clients.getByRole('img').count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('keeps the mark of a client that has not come for long', async () => {
    const { page } = await open({ screen: '/connect/codex', prepare: fillWithOldRequests });
    const steps = page.getByRole('region', { name: 'Steps for Codex CLI' });
    await steps.getByText('A request of it arrived 3 days ago.').waitFor();
    const link = page.getByRole('navigation', { name: 'Clients' }).getByRole('link', { name: 'Codex CLI' });
    await link.getByRole('img', { name: 'has sent a request' }).waitFor();
  });

  it('goes by the key where a client cannot be told by its requests', async () => {
    const { page, gateway } = await open({ screen: '/connect/n8n' });
    const steps = page.getByRole('region', { name: 'Steps for n8n' });
    await steps.getByText('This key was not used so far.').waitFor();
    await gateway.client.models.list();
    await steps.getByText(/^This key was used just now, by what calls itself “OpenAI\/JS [^”]*”\./).waitFor();
  });

  it('shows steps with base URL and model for every client', async () => {
    const { page, gateway, complaints } = await open({ screen: '/connect' });
    for (const { name } of clientGuides) {
      await page.getByRole('navigation', { name: 'Clients' }).getByRole('link', { name, exact: true }).click();
      const steps = page.getByRole('region', { name: `Steps for ${name}` });
      await steps.waitFor();
      const text = (await steps.textContent()) ?? '';
      // Clients of the APIs of Anthropic and Google add the version themselves.
      const addsVersion = name === 'Claude Code' || name === 'Gemini CLI';
      const address = addsVersion ? `${gateway.origin} ` : gateway.baseUrl;
      expect.soft(text, name).toContain(address);
      expect.soft(text).toMatch(/YOUR_KEY/);
    }
    expect(complaints).toEqual([]);
  });

  it('gives axe nothing to complain of', async () => {
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
    await page.getByRole('button', { name: /^(Test from here|从此处测试)$/ }).click();
    await page.getByText(/^(Works: the key may use 6 models|可用：此密钥可使用 6 个模型)/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.screenshot({ path: `test-results/connect-${width}-${colorScheme}-${locale}.png`, fullPage: true });
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
  });
});
