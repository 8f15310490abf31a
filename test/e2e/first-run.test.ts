import { execSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Preset } from '../../server/contract/preset.ts';
import { testKey } from '../support/gateway.ts';
import { findProgram, runProgram } from '../support/installed-programs.ts';
import { json, startUpstream } from '../support/upstream.ts';
import { accessibilityFaults } from './accessibility.ts';
import { fillWithRequests } from './filled-ledger.ts';
import {
  appearances,
  createKeptKey,
  oneOrAllAppearances,
  openInSuite,
  overflowOf,
  ownClipboard,
  takePicture,
} from './window-suite.ts';

const open = openInSuite();
const modelList = { object: 'list', data: [{ id: 'gpt-5-nano', object: 'model', created: 1 }] };
const realAnswer = {
  id: 'x',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'A real answer' }, finish_reason: 'stop' }],
};
const path = (page: Page) => page.getByRole('region', { name: 'Get started' });
const step = (page: Page, name: string) =>
  path(page)
    .getByRole('listitem')
    .filter({ has: page.getByRole('heading', { name }) });
const isDone = (page: Page, name: string) => step(page, name).getByText('done', { exact: true });

/** What Claude Code says with nothing but its settings file: the program, or without it a client that reads the same. */
async function answerOfClaudeCode(home: string): Promise<string> {
  const program = findProgram('claude');
  const env = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
  if (program) return (await runProgram(program, { parameters: ['--print', 'Hello'], folder: home, env })).said;
  const settings = JSON.parse(readFileSync(join(home, '.claude/settings.json'), 'utf8'));
  const key = execSync(settings.apiKeyHelper, { cwd: '/', timeout: 1_000, encoding: 'utf8' }).trim();
  const answer = await fetch(`${settings.env.ANTHROPIC_BASE_URL}/v1/messages`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${key}`, 'x-api-key': key, 'anthropic-version': '2023-06-01' },
      ...{ 'content-type': 'application/json', 'user-agent': 'claude-cli/2.1.197 (external, cli)' },
    },
    body: JSON.stringify({
      model: settings.env.ANTHROPIC_MODEL,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  });
  return answer.text();
}

describe('the first run', () => {
  it('leads to an answer without leaving the overview, and ticks off what is done', async () => {
    const window = await open({ config: { keys: [] } });
    const { page, gateway, complaints } = window;
    await ownClipboard(page);
    await step(page, 'Your base URL and key').getByRole('button', { name: 'Create a key' }).click();
    const copyKey = step(page, 'Your base URL and key').getByRole('button', { name: 'Copy API key' });
    await copyKey.waitFor();
    expect(await page.content()).not.toMatch(/sk-sluice-\w{8}/);
    await copyKey.click();
    await isDone(page, 'Your base URL and key').waitFor();
    const key = await page.evaluate(() => navigator.clipboard.readText());
    expect(key).toMatch(/^sk-sluice-\w{40,}$/);
    expect(await page.content()).not.toContain(key);
    await step(page, 'Make a call').getByRole('button', { name: 'Copy curl command' }).click();
    await step(page, 'Make a call').getByRole('button', { name: 'Copied' }).waitFor();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    expect(command).toContain(`curl ${gateway.baseUrl}/chat/completions`);
    expect(command).toContain(`Bearer ${key}`);
    expect(await isDone(page, 'Make a call').count()).toBe(0);
    await step(page, 'Make a call').getByRole('button', { name: 'Run it here' }).click();
    await page.getByRole('figure', { name: 'Answer' }).getByText(/demo/).waitFor();
    await isDone(page, 'Make a call').waitFor();
    await page.getByRole('button', { name: 'Requests 1' }).waitFor();
    await page.getByRole('link', { name: 'Open request' }).click();
    await expect.poll(() => page.url()).toMatch(/#\/requests\/req_/);
    // The demo has no page to which its name could link.
    const request = page.getByRole('complementary', { name: 'Request' });
    await request.getByRole('definition').filter({ hasText: 'Sluice demo' }).waitFor();
    expect(await request.getByRole('link', { name: 'Sluice demo' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('shows the key only when asked, and hides it again', async () => {
    const window = await open({ config: { keys: [] } });
    const { page } = window;
    const secret = await createKeptKey(window, 'mine');
    await page.getByRole('button', { name: 'Show key' }).click();
    await step(page, 'Your base URL and key').getByText(secret).waitFor();
    await page.getByRole('button', { name: 'Hide key' }).click();
    await expect.poll(() => page.content()).not.toContain(secret);
  });

  it('opens the form of a new provider at once, with what the environment holds first', async () => {
    const { page } = await open({ env: { OPENAI_API_KEY: 'sk-planted' } });
    const add = step(page, 'Add a provider');
    await add.getByText('Found in the environment: OPENAI_API_KEY').waitFor();
    await add.getByRole('link', { name: 'By its address…' }).click();
    await page.getByRole('dialog').getByLabel('Base URL').fill('nowhere.example');
    await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Another service, by its address' }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.goto(new URL('/#/', page.url()).href);
    await add.getByRole('link', { name: 'All services…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a provider' });
    await dialog.getByText('OPENAI_API_KEY').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.url()).toMatch(/#\/providers$/);
  });

  it('ticks off a provider and a tool as they come, and ends when all is done', async () => {
    const { page, gateway } = await open({ config: { settings: { demo: 'on' } } });
    await path(page).waitFor();
    const provider = { name: 'Mine', baseUrl: 'http://127.0.0.1:9/v1', models: ['gpt-x'] };
    await gateway.gateway.execute({ type: 'provider.add', provider, credentials: [] });
    await isDone(page, 'Add a provider').waitFor();
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    await gateway.client.models.list();
    expect(await isDone(page, 'Connect a tool').count()).toBe(0);
    await gateway.client.chat.completions.create({ model: 'demo-chat', messages });
    const done = page.getByRole('region', { name: 'You’re all set' });
    // Of all steps the line that ends the guide is left.
    await done.getByRole('button', { name: 'Done' }).waitFor();
    expect((await done.boundingBox())?.height).toBeLessThan(60);
    await done.getByRole('button', { name: 'Done' }).click();
    await done.waitFor({ state: 'detached' });
  });

  it.each(oneOrAllAppearances)(
    'asks what is kept until that is answered, however the guide has ended ($width px, $colorScheme, $locale)',
    async ({ width, colorScheme, locale }) => {
      const config = { settings: { guide: 'open' as const, capture: { recent: 'unasked' as const } } };
      const context = { viewport: { width, height: 800 }, colorScheme, locale };
      const { page, gateway } = await open({ config, context });
      const question = page.getByRole('region', { name: /Keep what is sent and answered\?|保留发送和返回的内容？/ });
      await question.waitFor();
      await gateway.gateway.execute({ type: 'settings.update', changes: { guide: 'done' } });
      await page.getByRole('region', { name: /^(Get started|快速开始)$/ }).waitFor({ state: 'detached' });
      await page.reload();
      await question.waitFor();
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults(page)).toEqual([]);
      await takePicture(page, `gallery/question-${width}-${colorScheme}-${locale}`);
      await question.getByRole('button').nth(1).click();
      await question.waitFor({ state: 'detached' });
      expect((await gateway.gateway.query({ type: 'status' })).settings.capture.recent).toBe('on');
    },
  );

  it('can be skipped, and does not come back', async () => {
    const { page, gateway } = await open();
    await path(page).getByRole('button', { name: 'Skip' }).click();
    await path(page).waitFor({ state: 'detached' });
    await page.getByText('You’re on the built-in demo (sample replies).').waitFor();
    await page.reload();
    await page.getByRole('region', { name: 'Usage' }).waitFor();
    expect(await path(page).count()).toBe(0);
    expect((await gateway.gateway.query({ type: 'status' })).settings.guide).toBe('done');
  });

  it('stays until it is done, in whichever window, and says elsewhere how far it has come', async () => {
    const { page, gateway, context, clientWith } = await open();
    await path(page).waitFor();
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    await clientWith(testKey).chat.completions.create({ model: 'demo-chat', messages });
    await page.getByRole('navigation').getByRole('link', { name: 'Traffic' }).click();
    await page.getByRole('link', { name: 'Get started: 3 of 4 steps' }).waitFor();
    const other = await context.newPage();
    await other.goto(gateway.origin);
    await path(other).waitFor();
    await path(other).getByRole('button', { name: 'Skip' }).click();
    await page.getByRole('link', { name: /^Get started/ }).waitFor({ state: 'detached' });
    await other.close();
  });

  it('takes four clicks and one paste from an empty folder to a real answer, and three more to Claude Code', async () => {
    const upstream = await startUpstream(({ method }, response) =>
      json(response, method === 'GET' ? modelList : realAnswer),
    );
    const { page, gateway } = await open({ config: { keys: [] } });
    await page.route('**/control/query', async (route) => {
      if (route.request().postDataJSON()?.type !== 'presets') return route.continue();
      const response = await route.fetch();
      const { result } = (await response.json()) as { result: Preset[] };
      const here = result.map((preset) => (preset.id === 'openai' ? { ...preset, baseUrl: upstream.baseUrl } : preset));
      await route.fulfill({ response, json: { result: here } });
    });
    let clicks = 0;
    const click = async (target: Locator) => {
      clicks++;
      await target.click();
    };
    await click(step(page, 'Add a provider').getByRole('link', { name: 'OpenAI' }));
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Credential', { exact: true }).fill('sk-pasted-0123456789');
    await click(dialog.getByRole('button', { name: 'Test', exact: true }));
    await click(dialog.getByRole('button', { name: 'Keep' }));
    await click(step(page, 'Make a call').getByRole('button', { name: 'Run it here' }));
    await page.getByRole('figure', { name: 'Answer' }).getByText('A real answer').waitFor();
    expect(clicks).toBeLessThanOrEqual(4);
    clicks = 0;
    await click(step(page, 'Connect a tool').getByRole('link', { name: 'Claude Code' }));
    await click(page.getByRole('button', { name: 'Review change…' }));
    await click(page.getByRole('dialog').getByRole('button', { name: 'Apply' }));
    await page.getByText(/^Set up for .*gpt-5-nano just now\.$/).waitFor();
    expect(clicks).toBeLessThanOrEqual(3);
    expect(await answerOfClaudeCode(gateway.folder)).toContain('A real answer');
    await page.getByText('It sent a request just now.').waitFor();
    await upstream.stop();
  });

  it('asks once what is kept, and keeps the newest in memory until it is answered', async () => {
    const config = { settings: { guide: 'open' as const, capture: { recent: 'unasked' as const } } };
    const { page, gateway } = await open({ config });
    const note = page.getByText(/^The contents of the newest 50 requests are kept in memory/);
    await note.waitFor();
    const settings = async () => (await gateway.gateway.query({ type: 'status' })).settings.capture.recent;
    await page.getByRole('button', { name: 'Newest 50, in memory' }).click();
    await page.getByText('Keep what is sent and answered?').waitFor({ state: 'detached' });
    expect(await settings()).toBe('on');
    // A search finds them where they are.
    const messages = [{ role: 'user' as const, content: 'Where is the elephant?' }];
    await gateway.client.chat.completions.create({ model: 'demo-chat', messages });
    await page.evaluate(() => location.assign('#/requests?q=elephant'));
    await page.getByRole('link', { name: /^Where is the elephant\?/ }).waitFor();
    await page.evaluate(() => location.assign('#/requests?q=giraffe'));
    await page.getByText('No recorded request matches these filters.').waitFor();
    await page.evaluate(() => location.assign('#/'));
    await page.getByRole('button', { name: 'Turn off: keep no contents in memory' }).click();
    await note.waitFor({ state: 'detached' });
    expect(await settings()).toBe('off');
    await path(page).getByText('What is sent and answered is not kept.').waitFor();
  });

  it('keeps what is sent for a week where that is wanted', async () => {
    const config = { settings: { guide: 'open' as const, capture: { recent: 'unasked' as const } } };
    const { page, gateway } = await open({ config });
    await page.getByRole('button', { name: 'Keep for 7 days' }).click();
    await page.getByText('Keep what is sent and answered?').waitFor({ state: 'detached' });
    expect(await gateway.gateway.query({ type: 'groups' })).toMatchObject([{ id: 'default', capture: true }]);
    expect((await gateway.gateway.query({ type: 'status' })).recentCapture).toBeNull();
    await path(page).getByText('What is sent and answered is kept for 7 days, on this machine.').waitFor();
    await path(page).getByRole('button', { name: 'Change what is kept' }).click();
    await page.getByRole('button', { name: 'Newest 50, in memory' }).click();
    await path(page)
      .getByText(/^The contents of the newest 50 requests are kept in memory/)
      .waitFor();
    expect(await gateway.gateway.query({ type: 'groups' })).toMatchObject([{ id: 'default', capture: false }]);
    expect((await gateway.gateway.query({ type: 'status' })).recentCapture).toBe('on');
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('is not shown to who has used Sluice before', async () => {
    const { page } = await open({ prepare: fillWithRequests });
    await page.getByRole('region', { name: 'Usage' }).waitFor();
    expect(await path(page).count()).toBe(0);
  });

  it('says beside the call why it failed', async () => {
    const { page } = await open({ config: { keys: [] } });
    await step(page, 'Your base URL and key').getByRole('button', { name: 'Create a key' }).click();
    await page.route('**/v1/chat/completions', (route) =>
      route.fulfill({ status: 503, json: { error: { message: 'Nobody can answer now.' } } }),
    );
    await step(page, 'Make a call').getByRole('button', { name: 'Run it here' }).click();
    await page.getByRole('figure', { name: 'Answer' }).getByText('Nobody can answer now.').waitFor();
    expect(await isDone(page, 'Make a call').count()).toBe(0);
  });

  it('promises the demo only until there is a provider, and draws the Markdown of an answer', async () => {
    const { page, gateway } = await open({ config: { keys: [] } });
    const call = step(page, 'Make a call');
    await call.getByText(/until you add a provider/).waitFor();
    const provider = { baseUrl: 'http://127.0.0.1:9/v1', models: ['gpt-x'] };
    const credentials = [{ id: 'c1', secret: 's-1' }];
    await gateway.gateway.execute({ type: 'provider.add', id: 'main', provider, credentials });
    await call.getByText('Run it here or paste it into a terminal.', { exact: true }).waitFor();
    await step(page, 'Your base URL and key').getByRole('button', { name: 'Create a key' }).click();
    await page.route('**/v1/chat/completions', (route) =>
      route.fulfill({ json: { choices: [{ message: { role: 'assistant', content: 'It is **bold**.' } }] } }),
    );
    await call.getByRole('button', { name: 'Run it here' }).click();
    const answer = page.getByRole('figure', { name: 'Answer' });
    await answer.locator('strong').getByText('bold').waitFor();
    await takePicture(page, 'gallery/first-answer');
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it.each(appearances)('is in order in $width px, $colorScheme, $locale', async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page } = await open({ context, env: { OPENAI_API_KEY: 'sk-planted' } });
    await page.getByText('OPENAI_API_KEY').waitFor();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});

describe('the requests of a newcomer', () => {
  it('are none, and a call that is filled in makes the first', async () => {
    const window = await open({ screen: '/requests', config: { keys: [] } });
    const { page } = window;
    await createKeptKey(window, 'mine');
    await page.getByText('"model":"demo-chat"').waitFor();
    await page.getByRole('button', { name: 'Run it here' }).click();
    await page
      .getByRole('link', { name: /chat\/completions/ })
      .first()
      .waitFor();
  });
});
