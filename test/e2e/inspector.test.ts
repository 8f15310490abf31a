/** @suite long */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { afterEach, expect, it } from 'vitest';
import type { ConfigInput } from '../../server/contract/config.ts';
import { closedPort } from '../support/ports.ts';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';
import { accessibilityFaults } from './accessibility.ts';
import type { OpenedWindow } from './open-window.ts';
import { expectFocus } from './person.ts';
import {
  appearancesDownTo380,
  createKeptKey,
  oneOrAllAppearances,
  openInSuite,
  overflowOf,
  ownClipboard,
  takePicture,
} from './window-suite.ts';

const open = openInSuite();
const screen = '/requests';
const messages = [{ role: 'user' as const, content: 'Hello' }];
const upstreams: ScriptedUpstream[] = [];
afterEach(async () => {
  await Promise.all(upstreams.splice(0).map((upstream) => upstream.stop()));
});

const usage = { prompt_tokens: 30, completion_tokens: 8, total_tokens: 38 };
const base = { id: 'chatcmpl-1', created: 1, model: 'gpt-x' };

function answer(response: ServerResponse, content: string): void {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  json(response, { ...base, object: 'chat.completion', choices, usage });
}

function streamChunks(response: ServerResponse, chunks: readonly object[]): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const choice of chunks) {
    const chunk = { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, finish_reason: null, ...choice }] };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
}

/** Providers of `gpt-x` in this order, with capture of their requests. */
async function configOf(scripts: Record<string, Script>, capture = true): Promise<Partial<ConfigInput>> {
  const providers = await Promise.all(
    Object.entries(scripts).map(async ([name, script]) => {
      const upstream = await startUpstream(script);
      upstreams.push(upstream);
      return { id: name.toLowerCase(), name, baseUrl: upstream.baseUrl, models: ['gpt-x'] };
    }),
  );
  return { groups: [{ id: 'default', capture }], providers };
}

const rowOf = (page: Page) => page.getByRole('link', { name: 'POST /v1/chat/completions' });
const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Request' });

async function openFirst(page: Page): Promise<Locator> {
  await rowOf(page).first().click();
  const panel = panelOf(page);
  await panel.getByRole('tab', { name: 'Summary' }).waitFor();
  return panel;
}

async function menuOf(page: Page, panel: Locator, item: string): Promise<void> {
  await panel.getByRole('button', { name: 'Send again' }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

it('shows first what the provider of a failed request answered, and what to do about it', async () => {
  const error = { message: 'You exceeded your current quota, please check your plan', code: 'insufficient_quota' };
  const config = await configOf({ OpenAI: (_request, response) => json(response, { error }, 429) });
  const { page, gateway, complaints } = await open({ screen, config });
  await gateway.client.chat.completions.create({ model: 'gpt-x', messages }).catch(() => {});
  const panel = await openFirst(page);
  const note = panel.getByRole('note');
  await note.getByText('OpenAI answered 429').waitFor();
  await note.getByText(error.message, { exact: true }).waitFor();
  await note.getByText(/Top it up at the provider/).waitFor();
  const [noteBox, tabsBox] = [await note.boundingBox(), await panel.getByRole('tablist').boundingBox()];
  expect(noteBox && tabsBox && noteBox.y < tabsBox.y).toBe(true);
  expect(await accessibilityFaults(page)).toEqual([]);
  await note.getByRole('link', { name: 'Open the provider that failed' }).click();
  await expect.poll(() => page.url()).toContain('#/providers/openai');
  expect(complaints).toEqual([]);
});

it('reports for a broken stream that the answer was cut off, not that the provider answered 200', async () => {
  const config = await configOf({
    Cutting(_request, response) {
      streamChunks(response, [{ delta: { content: 'Half an answer and ' } }]);
      setImmediate(() => response.destroy());
    },
  });
  const { page, gateway } = await open({ screen, config });
  const stream = await gateway.client.chat.completions.create({ model: 'gpt-x', messages, stream: true });
  await expect(async () => {
    for await (const _chunk of stream);
  }).rejects.toThrow();
  const note = (await openFirst(page)).getByRole('note');
  await note.getByText('The answer from Cutting was cut off').waitFor();
  await note.getByText('Sending it again may work.').waitFor();
  expect(await note.getByText('answered 200').count()).toBe(0);
});

it('shows no usage if no provider was called', async () => {
  const { page, gateway } = await open({ screen, config: await configOf({}) });
  await gateway.client.chat.completions.create({ model: 'of-nobody', messages }).catch(() => {});
  const panel = await openFirst(page);
  await panel.getByRole('note').getByText('model_not_found').waitFor();
  expect(await panel.getByText('Usage', { exact: true }).count()).toBe(0);
  await panel.getByRole('tab', { name: 'Attempts' }).click();
  await panel.getByText('No provider was called.').waitFor();
});

it('names the model that a mistyped name may mean', async () => {
  const { page, gateway } = await open({
    screen,
    config: await configOf({ Only: (_request, response) => answer(response, 'x') }),
  });
  await gateway.client.chat.completions.create({ model: 'gpt-xx', messages }).catch(() => {});
  const note = (await openFirst(page)).getByRole('note');
  await note.getByText('Did you mean “gpt-x”?').waitFor();
});

it('names the provider that has not listed its models yet, and the nearest one that is known', async () => {
  const config = await configOf({ Only: (_request, response) => answer(response, 'x') });
  const baseUrl = `http://127.0.0.1:${await closedPort()}/v1`;
  const local = { id: 'local', name: 'Local', baseUrl, models: 'discover' } as const;
  const { page, gateway } = await open({
    screen,
    config: { ...config, providers: [...(config.providers ?? []), local] },
  });
  const ask = () => gateway.client.chat.completions.create({ model: 'gpt-x-typo', messages });
  await expect.poll(() => ask().catch(({ code }) => code)).toBe('models_unknown');
  const note = (await openFirst(page)).getByRole('note');
  await note.getByText('is not known yet: Local could not list its models').waitFor();
  await note.getByText('Did you mean “gpt-x”?').waitFor();
  await note.getByRole('link', { name: 'Open Local' }).click();
  await page.getByText(/^Cannot be reached/).waitFor();
});

it('shows each attempt with its own request and response, and why the next one was made', async () => {
  const error = { message: 'The engine is overloaded', type: 'server_error' };
  const config = await configOf({
    Shaky: (_request, response) => json(response, { error }, 503, { 'x-request-id': 'up-1' }),
    Steady: (_request, response) => answer(response, 'It rains.'),
  });
  const { page, gateway, complaints } = await open({ screen, config });
  await gateway.client.chat.completions.create({ model: 'gpt-x', messages });
  const panel = await openFirst(page);
  await panel.getByText(/^Answered by Steady after \d failed attempts?$/).waitFor();
  await panel.getByRole('tab', { name: 'Attempts' }).click();
  await expect.poll(() => page.url()).toContain('tab=attempts');
  const attempts = panel.getByRole('tabpanel').locator('ol > li');
  const first = attempts.first();
  await first.getByText('503 · temporary failure').waitFor();
  await first.getByText('OpenAI Chat Completions').waitFor();
  await first.getByTitle('up-1').waitFor();
  await first.getByText('What came back').click();
  await first.getByRole('region', { name: 'Response body' }).getByText('"The engine is overloaded"').waitFor();
  const last = attempts.last();
  await last.getByText('Fallback: the target before failed').waitFor();
  await last.getByText('What was sent').click();
  await last.getByText(/^POST http:.*\/v1\/chat\/completions$/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

it('shows a conversation with its picture, its call beside the result, and the streamed answer in one piece', async () => {
  const config = await configOf({
    OpenAI: (_request, response) => {
      streamChunks(response, [
        { delta: { content: 'It is ' } },
        { delta: { content: '**raining**.' } },
        { finish_reason: 'stop', delta: {} },
      ]);
      response.end('data: [DONE]\n\n');
    },
  });
  const { page, gateway, complaints } = await open({ screen, config });
  const picture =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const call = { id: 'c1', type: 'function' as const, function: { name: 'weather', arguments: '{"city":"Zürich"}' } };
  const stream = await gateway.client.chat.completions.create({
    model: 'gpt-x',
    stream: true,
    messages: [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: picture } }] },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'rain' },
    ],
  });
  for await (const _ of stream);
  const panel = await openFirst(page);
  await panel.getByRole('tab', { name: 'Conversation' }).click();
  const said = panel.getByRole('tabpanel').locator('ol > li');
  await said.nth(3).getByText('It is raining.').waitFor();
  await said.nth(3).locator('strong').getByText('raining').waitFor();
  await panel.getByRole('radiogroup', { name: 'Show answers as' }).getByText('Raw').click();
  await said.nth(3).getByText('It is **raining**.').waitFor();
  expect(await said.count()).toBe(4);
  const image = said.nth(1).getByRole('img');
  expect(await image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(1);
  await said.nth(2).getByText('"city": "Zürich"').waitFor();
  await said.nth(2).getByText('rain', { exact: true }).waitFor();

  await panel.getByRole('tab', { name: 'Response' }).click();
  const body = panel.getByRole('region', { name: 'Response body' });
  await body.getByText('"It is **raining**."').waitFor();
  await body.getByText('Events').click();
  await body.getByText(/^data: .*"It is "/).waitFor();
  expect(complaints).toEqual([]);
});

it('reports a broken stream, and shows the part that arrived', async () => {
  const config = await configOf({
    OpenAI: (_request, response) => {
      streamChunks(response, [{ delta: { content: 'Half an answer' } }]);
      response.write('data: {"error":{"message":"The server is on fire","type":"server_error"}}\n\n');
      response.end();
    },
  });
  const { page, gateway } = await open({ screen, config });
  const stream = await gateway.client.chat.completions.create({ model: 'gpt-x', messages, stream: true });
  await expect(async () => {
    for await (const _ of stream);
  }).rejects.toThrow();
  const panel = await openFirst(page);
  await panel
    .getByRole('note')
    .getByText(/The server is on fire/)
    .waitFor();
  await panel.getByRole('tab', { name: 'Response' }).click();
  await panel.getByText('The stream ended before the answer was complete.').waitFor();
  await panel.getByText('"Half an answer"').waitFor();
});

it('plays a spoken answer, and copies it in Base64', async () => {
  const { page, gateway } = await open({ screen, config: { groups: [{ id: 'default', capture: true }] } });
  await ownClipboard(page);
  const speech = await gateway.client.audio.speech.create({ model: 'demo-speech', voice: 'alloy', input: 'Hello' });
  const sound = Buffer.from(await speech.arrayBuffer());
  await page.getByRole('link', { name: 'POST /v1/audio/speech' }).click();
  const panel = panelOf(page);
  await panel.getByRole('tab', { name: 'Response' }).click();
  const body = panel.getByRole('region', { name: 'Response body' });
  const player = body.locator('audio');
  await expect.poll(() => player.evaluate((element: HTMLAudioElement) => element.duration)).toBeGreaterThan(0);
  await body.getByRole('button', { name: 'Copy Response body (Base64)' }).click();
  await body.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(sound.equals(Buffer.from(copied, 'base64'))).toBe(true);
});

it('searches, folds and copies a body, and shows the headers as a table without secrets', async () => {
  const config = await configOf({ OpenAI: (_request, response) => answer(response, 'It rains.') });
  const { page, gateway, complaints } = await open({ screen, config });
  await ownClipboard(page);
  await gateway.client.chat.completions.create({ model: 'gpt-x', messages });
  const panel = await openFirst(page);
  await panel.getByRole('tab', { name: 'Request', exact: true }).click();
  await panel.getByText('Request headers').click();
  await panel.getByRole('row', { name: 'authorization [redacted]' }).waitFor();
  const body = panel.getByRole('region', { name: 'Request body' });
  await body.getByRole('button', { name: 'Search in Request body' }).click();
  await body.getByPlaceholder('Find').pressSequentially('Hello');
  await page.keyboard.press('Enter');
  await expect.poll(() => body.locator('.cm-searchMatch-selected').textContent()).toBe('Hello');
  await page.keyboard.press('Escape');
  await expect.poll(() => body.getByPlaceholder('Find').count()).toBe(0);
  expect(await panel.isVisible()).toBe(true);
  await body.getByTitle('Fold line', { exact: true }).first().click();
  await expect.poll(() => body.getByText('"Hello"').count()).toBe(0);
  await body.getByRole('button', { name: 'Copy Request body' }).click();
  await body.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(JSON.stringify({ model: 'gpt-x', messages }));
  expect(complaints).toEqual([]);
});

it('goes through the list by keys, closes without a step in the history, and gives the focus back', async () => {
  const config = await configOf({ OpenAI: (_request, response) => answer(response, 'It rains.') });
  // The test counts history entries, of which a browser keeps 50.
  const { page, gateway } = await open({ screen, config, isNewPage: true });
  for (let times = 0; times < 3; times++) await gateway.client.chat.completions.create({ model: 'gpt-x', messages });
  await expect.poll(() => rowOf(page).count()).toBe(3);
  const hrefs = await rowOf(page).evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
  const before = await page.evaluate(() => history.length);
  await rowOf(page).first().focus();
  await page.keyboard.press('Enter');
  const panel = panelOf(page);
  await panel.getByRole('tab', { name: 'Timeline' }).click();
  await panel.getByText('Total').waitFor();
  await page.keyboard.press('j');
  await expect.poll(() => page.url()).toContain(hrefs[1] ?? 'none');
  await panel.getByText('Total').waitFor();
  await panel.getByRole('button', { name: 'Next request' }).click();
  await expect.poll(() => page.url()).toContain(hrefs[2] ?? 'none');
  expect(await panel.getByRole('button', { name: 'Next request' }).isDisabled()).toBe(true);
  await page.keyboard.press('k');
  await expect.poll(() => page.url()).toContain(hrefs[1] ?? 'none');
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await expectFocus(rowOf(page).nth(1));
  expect(await page.evaluate(() => history.length)).toBe(before + 1);
  await page.goBack();
  await rowOf(page).first().waitFor();
  expect(await panel.count()).toBe(0);
});

for (const { width, colorScheme, locale } of oneOrAllAppearances) {
  it(`draws attempts as lanes, with the events of the stream and its gaps, in ${width} px, ${colorScheme}, ${locale}`, async () => {
    const config = await configOf({
      Shaky: (_request, response) => json(response, { error: { message: 'Overloaded', type: 'server_error' } }, 503),
      Steady: async (_request, response) => {
        streamChunks(response, [{ delta: { role: 'assistant', content: 'It' } }]);
        for (const pauseMs of [250, 700, 150]) {
          await sleep(pauseMs);
          streamChunks(
            response,
            [' rains', ' and', ' rains'].map((content) => ({ delta: { content } })),
          );
        }
        streamChunks(response, [{ delta: {}, finish_reason: 'stop' }]);
        response.end('data: [DONE]\n\n');
      },
    });
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page, gateway, complaints } = await open({ screen, config, context });
    const stream = await gateway.client.chat.completions.create({ model: 'gpt-x', messages, stream: true });
    for await (const _ of stream);
    await rowOf(page).first().click();
    const isEnglish = locale === 'en-GB';
    await page.getByRole('tab').nth(5).click();
    // In words: 12 events, of which some came together, and where it paused.
    await page
      .getByText(
        isEnglish ? /^\d+ · at most \d+ in 100 ms · gap of .+ at / : /^\d+ · 100 毫秒内最多 \d+ 个 · .+ 处停顿/,
      )
      .waitFor();
    await page.getByText(isEnglish ? /^Each bar counts the events/ : /^每个柱形/).waitFor();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await takePicture(page, `gallery/timeline-${width}-${colorScheme}-${locale}`, { fullPage: false });
    expect(complaints).toEqual([]);
  });
}

it('leaves the keys to a dialog that is open above it', async () => {
  const config = await configOf({ OpenAI: (_request, response) => answer(response, 'It rains.') });
  const { page, gateway } = await open({ screen: `${screen}?outcome=ok`, config });
  for (let times = 0; times < 2; times++) await gateway.client.chat.completions.create({ model: 'gpt-x', messages });
  await expect.poll(() => rowOf(page).count()).toBe(2);
  const panel = await openFirst(page);
  const { pathname, hash } = new URL(page.url());
  await page.getByRole('button', { name: 'Saved' }).click();
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save this view' });
  await dialog.getByRole('button', { name: 'Close' }).focus();
  await page.keyboard.press('j');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await panel.getByRole('tab', { name: 'Summary' }).waitFor();
  expect(page.url()).toContain(pathname + hash);
});

it('renders only the visible part of a body of 5 MB, in a box of limited height', async () => {
  const config = await configOf({ OpenAI: (_request, response) => answer(response, 'It rains.') });
  const settings = { capture: { maxBytes: 8_000_000 } };
  const { page, gateway, complaints } = await open({ screen, config: { ...config, settings } });
  const long = [
    ...Array.from({ length: 2_000 }, (_, at) => ({
      role: 'user' as const,
      content: `${at} ${'word "quoted" '.repeat(140)}`,
    })),
    { role: 'user' as const, content: `data:${'A'.repeat(1_000_000)}` },
  ];
  await gateway.client.chat.completions.create({ model: 'gpt-x', messages: long });
  const panel = await openFirst(page);
  await panel.getByRole('tab', { name: 'Conversation' }).click();
  await panel.getByText('It rains.').waitFor();
  const drawn = panel.getByRole('tabpanel').locator('ol > li');
  // The first, the newest 40, and the button that shows more of the others.
  expect(await drawn.count()).toBe(42);
  await drawn
    .first()
    .getByText(/^0 word/)
    .waitFor();
  await panel.getByRole('button', { name: 'Show more of 1,961 earlier messages' }).click();
  await expect.poll(() => drawn.count()).toBe(242);
  await panel.getByRole('tab', { name: 'Request', exact: true }).click();
  const body = panel.getByRole('region', { name: 'Request body' });
  await body.getByText(/^\d\.\d MB$/).waitFor();
  await body.locator('.cm-line').first().waitFor();
  expect(await body.locator('.cm-line').count()).toBeLessThan(400);
  expect((await body.boundingBox())?.height).toBeLessThan(800);
  // A line of one megabyte is truncated until the whole line is requested.
  await body.getByRole('button', { name: 'Search in Request body' }).click();
  await body.getByPlaceholder('Find').pressSequentially('AAAA');
  await page.keyboard.press('Enter');
  await body
    .getByText(/\[\d+,\d+ more characters\]/)
    .first()
    .waitFor();
  await body.getByRole('button', { name: 'Show all' }).click();
  await expect.poll(() => body.getByRole('button', { name: 'Show all' }).count()).toBe(0);
  expect(complaints).toEqual([]);
});

it('sends a request again as it was, and shows both answers with their difference', async () => {
  const bodies: string[] = [];
  const config = await configOf({
    OpenAI: (request, response) => {
      bodies.push(request.body.toString());
      answer(response, bodies.length === 1 ? 'It rains cats.' : 'It rains dogs.');
    },
  });
  const opened = await open({ screen, config });
  const { page, gateway, complaints } = opened;
  await createKeptKey(opened, 'kept');
  await gateway.client.chat.completions.create({ model: 'gpt-x', messages });
  const panel = await openFirst(page);
  await menuOf(page, panel, 'As is or to another model…');
  const dialog = page.getByRole('dialog', { name: 'Send again' });
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  await dialog.getByRole('region', { name: 'Before' }).locator('del').getByText('cats').waitFor();
  await dialog.getByRole('region', { name: 'Now' }).locator('ins').getByText('dogs').waitFor();
  await dialog.getByRole('row', { name: /^Tokens in \/ out 30 \/ 8 30 \/ 8$/ }).waitFor();
  expect(bodies[1]).toBe(bodies[0]);
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('link', { name: 'Open the new request' }).click();
  await dialog.waitFor({ state: 'detached' });
  await panel.getByRole('tab', { name: 'Summary' }).waitFor();
  const [id = ''] = /req_\w+/.exec(page.url()) ?? [];
  // Otherwise the window would look like a client of the key.
  expect((await gateway.record(id)).client).toMatch(/\[Sluice window\]$/);
  expect(complaints).toEqual([]);
});

it('sends it edited and to another provider, and refuses what is no JSON', async () => {
  const seen: string[] = [];
  const script =
    (name: string): Script =>
    (request, response) => {
      seen.push(`${name} ${request.body}`);
      answer(response, 'It rains.');
    };
  const config = await configOf({ One: script('one'), Two: script('two') });
  const opened = await open({ screen, config });
  const { page, gateway } = opened;
  await createKeptKey(opened, 'kept');
  await gateway.client.chat.completions.create({ model: 'gpt-x', messages });
  const panel = await openFirst(page);
  await menuOf(page, panel, 'Edit and send…');
  const dialog = page.getByRole('dialog', { name: 'Send again' });
  const editor = dialog.getByRole('textbox', { name: 'Request body' });
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('{"model": "gpt-x", "messages": [');
  await dialog
    .getByRole('alert')
    .getByText(/^This is not valid JSON/)
    .waitFor();
  expect(await dialog.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
  await page.keyboard.insertText('{"role": "user", "content": "Edited"}]}');
  await dialog.getByLabel('Provider').selectOption('Two');
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  await dialog.getByText('Both are identical.').waitFor();
  expect(seen.map((line) => line.slice(0, 3))).toEqual(['one', 'two']);
  expect(seen[1]).toContain('Edited');
});

it('asks before an edited request is lost, and no longer once it is sent', async () => {
  const config = await configOf({ OpenAI: (_request, response) => answer(response, 'It rains.') });
  const opened = await open({ screen, config });
  const { page, gateway } = opened;
  await createKeptKey(opened, 'kept');
  await gateway.client.chat.completions.create({ model: 'gpt-x', messages });
  await menuOf(page, await openFirst(page), 'Edit and send…');
  const dialog = page.getByRole('dialog', { name: 'Send again' });
  const editor = dialog.getByRole('textbox', { name: 'Request body' });
  await editor.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText(' ');
  await dialog.getByRole('button', { name: 'Send', exact: true }).focus();
  await page.keyboard.press('Escape');
  const question = page.getByRole('dialog', { name: 'Discard unsaved changes?' });
  await question.getByRole('button', { name: 'Keep editing' }).click();
  await question.waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  await dialog.getByText('Both are identical.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
});

it('shows no invented body, but why there is none, and captures the next ones by one click', async () => {
  const config = await configOf({ OpenAI: (_request, response) => answer(response, 'It rains.') }, false);
  const { page, gateway, complaints } = await open({ screen, config });
  await gateway.client.chat.completions.create({ model: 'gpt-x', messages });
  const panel = await openFirst(page);
  await panel.getByRole('button', { name: 'Send again' }).click();
  for (const name of ['Open in playground', 'Copy as curl', 'Copy as Python', 'Copy as Node'])
    expect(await page.getByRole('menuitem', { name }).isDisabled(), name).toBe(true);
  await page.getByText('That request’s body was not captured').waitFor();
  await page.getByRole('menuitem', { name: 'As is or to another model…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send again' });
  await dialog.getByText('There is nothing to send again.').waitFor();
  await dialog.getByText('Not captured: capture was off for this request.').waitFor();
  await dialog.getByRole('button', { name: 'Capture “first” for 10 minutes' }).click();
  await dialog.getByText(/^Capture is on until \d\d:\d\d/).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await panel.isVisible()).toBe(true);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await gateway.client.chat.completions.create({ model: 'gpt-x', messages });
  await expect.poll(() => rowOf(page).count()).toBe(2);
  await rowOf(page).first().click();
  await panel.getByRole('tab', { name: 'Conversation' }).click();
  await panel.getByText('It rains.').waitFor();
  expect(complaints).toEqual([]);
});

it('copies a request as a program, and leads to the playground', async () => {
  const config = await configOf({ OpenAI: (_request, response) => answer(response, 'It rains.') });
  const { page, gateway } = await open({ screen, config });
  await ownClipboard(page);
  await gateway.client.chat.completions.create({ model: 'gpt-x', messages });
  const panel = await openFirst(page);
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await menuOf(page, panel, 'Copy as curl');
  await page.getByText('Copied.', { exact: true }).waitFor();
  const curl = await clipboard();
  expect(curl).toContain(`curl '${gateway.baseUrl}/chat/completions'`);
  expect(curl).toContain(`--data-raw '${JSON.stringify({ model: 'gpt-x', messages })}'`);
  expect(curl).toContain('Bearer YOUR_KEY');
  await menuOf(page, panel, 'Copy as Python');
  await expect.poll(clipboard).toContain(`OpenAI(base_url="${gateway.baseUrl}", api_key="YOUR_KEY")`);
  await menuOf(page, panel, 'Copy as Node');
  await expect.poll(clipboard).toContain('await client.chat.completions.create({');
  await menuOf(page, panel, 'Open in playground');
  const message = page.getByRole('region', { name: 'Chat' }).getByLabel('Message', { exact: true });
  await message.waitFor();
  await expect.poll(() => message.inputValue()).toBe(messages[0]?.content);
});

it('explains in plain words what the translation of a request left out', async () => {
  const { page, gateway, complaints } = await open({ screen });
  const response = await fetch(`${gateway.origin}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': gateway.client.apiKey ?? '' },
    body: JSON.stringify({ model: 'demo-chat', max_tokens: 50, top_k: 5, messages }),
  });
  expect(response.headers.get('x-sluice-dropped')).toBe('top_k;why=no-equal');
  await page.getByRole('link', { name: 'POST /v1/messages' }).click();
  const panel = panelOf(page);
  await panel.getByRole('heading', { name: 'Translation' }).waitFor();
  const loss = panel.getByRole('listitem').filter({ hasText: 'top_k' });
  await loss.getByText("the provider's API has no equivalent").waitFor();
  expect(complaints).toEqual([]);
});

/** Each tab with content that no other tab has. */
const tabs = ['conversation', 'summary', 'request', 'response', 'attempts', 'timeline'];

it.each(appearancesDownTo380)(
  'fits in $width px, $colorScheme, $locale, and axe finds nothing wrong',
  async ({ width, colorScheme, locale }) => {
    const error = { message: 'The engine is overloaded', type: 'server_error' };
    const config = await configOf({
      Shaky: (_request, response) => json(response, { error }, 503),
      Steady: (_request, response) => answer(response, 'It rains.'),
    });
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const opened: OpenedWindow = await open({ screen, config, context });
    const { page, gateway, complaints } = opened;
    await gateway.client.chat.completions.create({ model: 'gpt-x', messages });
    await rowOf(page).click();
    await page.getByText('It rains.').waitFor();
    const looks = async (name: string) => {
      expect(await overflowOf(page), name).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults(page), name).toEqual([]);
      await takePicture(page, `inspector-${name}-${width}-${colorScheme}-${locale}`, { fullPage: false });
    };
    for (const [index, name] of tabs.entries()) {
      await page.getByRole('tab').nth(index).click();
      await expect.poll(() => page.url()).toContain(`tab=${name}`);
      if (name === 'request' || name === 'response') await page.locator('.cm-line').first().waitFor();
      await looks(name);
    }
    await page.keyboard.press('Escape');
    await expectFocus(rowOf(page));
    expect(complaints).toEqual([]);
  },
);

it('compares a request at several models, some times each, with the answers beside one another', async () => {
  let count = 0;
  const config = await configOf({
    First: (_request, response) => answer(response, 'It **rains** today.'),
    Second: (_request, response) => answer(response, `It **snows** today. ${++count}`),
  });
  const opened = await open({ screen, config });
  const { page, complaints } = opened;
  const client = opened.clientWith(await createKeptKey(opened, 'shown'));
  await client.chat.completions.create({ model: 'gpt-x', messages });
  const panel = await openFirst(page);
  await menuOf(page, panel, 'Compare models…');
  const dialog = page.getByRole('dialog', { name: 'Compare models' });
  const models = dialog.getByRole('combobox', { name: 'Models' });
  await models.press('Backspace');
  for (const model of ['first/gpt-x', 'second/gpt-x']) {
    await models.fill(model);
    await models.press('Enter');
  }
  await dialog.getByLabel('Times each').fill('2');
  await dialog.getByRole('button', { name: 'Compare' }).click();
  await dialog.getByRole('row', { name: 'Answered 2 / 2 2 / 2' }).waitFor();
  await dialog.getByRole('row', { name: /^Output tokens 8 8$/ }).waitFor();
  await dialog.getByRole('region', { name: 'first/gpt-x' }).getByText('It rains today.').waitFor();
  const second = dialog.getByRole('region', { name: 'second/gpt-x' });
  await expect.poll(() => second.locator('ins').allTextContents()).toEqual(expect.arrayContaining(['snows']));
  expect(count).toBe(2);
  // Rendered, until a person wants it as it came.
  expect(await second.locator('strong ins').allTextContents()).toEqual(['snows']);
  expect(await accessibilityFaults(page)).toEqual([]);
  await takePicture(page, 'gallery/compared-models');
  await dialog.getByText('Raw', { exact: true }).click();
  await second.getByText('**').first().waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

it('says at its top who asked which model and who answered, in 420 px without a break in the path', async () => {
  const config = await configOf({
    Several: (_request, response) => answer(response, 'x'),
    Single: (_request, response) => answer(response, 'x'),
  });
  const credentials = ['c1', 'c2'].map((id) => ({ id, secret: `env:${id.toUpperCase()}_KEY` }));
  const providers = config.providers?.map((each) => ({
    ...each,
    credentials: each.id === 'several' ? credentials : credentials.slice(0, 1),
  }));
  const { page, gateway, complaints } = await open({
    screen,
    config: { ...config, ...(providers && { providers }) },
    env: { C1_KEY: 's-1', C2_KEY: 's-2' },
    context: { viewport: { width: 420, height: 800 } },
  });
  const ask = async (model: string) => {
    const { request_id: id } = await gateway.client.chat.completions
      .create({ model, messages }, { headers: { 'user-agent': 'claude-cli/2.1.197 (external, cli)' } })
      .withResponse();
    await gateway.record(id ?? '');
    await page.goto(`${gateway.origin}/#/requests/${id}?tab=summary`);
    return page.getByRole('dialog', { name: 'Request' });
  };
  const several = await ask('several/gpt-x');
  await several.getByText('several/gpt-x → gpt-x via Several · Claude Code · key “first”').waitFor();
  const path = several.getByRole('heading', { name: 'POST /v1/chat/completions' });
  expect(await path.evaluate((each) => each.getBoundingClientRect().height)).toBeLessThan(24);
  await several
    .getByRole('definition')
    .filter({ hasText: /^C[12]_KEY$/ })
    .waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  const single = await ask('single/gpt-x');
  await single.getByText('via Single').waitFor();
  await single.getByText('First byte', { exact: true }).waitFor();
  expect(await single.getByText(/C1_KEY/).count()).toBe(0);
  expect(complaints).toEqual([]);
});
