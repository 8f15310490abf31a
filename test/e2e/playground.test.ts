/** @suite long */
import type { CDPSession, Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { json, startUpstream } from '../support/upstream.ts';
import { accessibilityFaults } from './accessibility.ts';
import type { OpenedWindow, OpenWindowOptions } from './open-window.ts';
import { expectFocus, tabTo } from './person.ts';
import { appearances, createKeptKey, openInSuite, overflowOf, ownClipboard, takePicture } from './window-suite.ts';

const open = openInSuite();

/** With a key whose secret the window can show. Opens the panel of the capability. */
function openPanel(panel: string, options: Partial<OpenWindowOptions> = {}): Promise<OpenedWindow> {
  return open({
    ...options,
    screen: `/playground/${panel}`,
    config: { keys: [], ...options.config },
    begin: (gateway) => createKeptKey({ gateway }, 'try-out'),
  });
}

describe('the playground', () => {
  it('streams a chat, remembers what was said, and shows the exchange without the key', async () => {
    const { page, gateway, complaints } = await openPanel('chat');
    const chat = page.getByRole('region', { name: 'Chat' });
    await say(chat, 'Hello there');
    await expect.poll(() => turnsOf(chat)).toHaveLength(2);
    await chat.getByRole('button', { name: 'Send' }).waitFor();
    await say(chat, 'And again');
    await expect.poll(() => turnsOf(chat)).toHaveLength(4);
    await chat.getByRole('button', { name: 'Send' }).waitFor();
    const sent = JSON.parse(await bodyOf(page, 'Request'));
    expect(sent).toMatchObject({ model: 'demo-chat', stream: true });
    expect(sent.messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.parse(await bodyOf(page, 'Response'))).toMatchObject({ choices: [{ message: { role: 'assistant' } }] });
    const requestId = await requestIdOf(page);
    expect(await gateway.record(requestId)).toMatchObject({
      route: '/v1/chat/completions',
      status: 200,
      keyId: 'try-out',
    });
    expect(await page.content()).not.toContain('sk-sluice-');
    await page.getByLabel('View').getByText('Response', { exact: true }).click();
    await page.getByRole('link', { name: requestId }).click();
    await page.getByRole('complementary', { name: 'Request' }).getByText(requestId).waitFor();
    expect(complaints).toEqual([]);
  });

  it('stops an answer, so that the request ends too', async () => {
    let hungUp = () => {};
    const hangUp = new Promise<void>((resolve) => {
      hungUp = resolve;
    });
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"begun"}}]}\n\n');
      response.on('close', hungUp);
    });
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
    const { page } = await openPanel('chat', { config: { providers } });
    const chat = page.getByRole('region', { name: 'Chat' });
    await say(chat, 'Hello');
    await chat.getByText('begun').waitFor();
    await chat.getByRole('button', { name: 'Stop' }).click();
    await chat.getByText('Stopped.').first().waitFor();
    await hangUp;
    await upstream.stop();
  });

  it('shows the tools that the model wants called, and sends their result', async () => {
    const upstream = await startToolUpstream();
    const { page } = await openPanel('chat', { config: { providers: [upstream.provider] } });
    const chat = page.getByRole('region', { name: 'Chat' });
    const parameters = await openParameters(page);
    await parameters.getByLabel('Tools', { exact: true }).fill('{"no":"list"}');
    await parameters.getByText('This is not a JSON list.').waitFor();
    await parameters.getByLabel('Tools', { exact: true }).fill(JSON.stringify([weatherTool]));
    await page.keyboard.press('Escape');
    await say(chat, 'What is the weather in Oslo?');
    await chat.getByText(/^Calls get_weather/).waitFor();
    await chat.getByLabel('Tool result').fill('sunny');
    await chat.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => turnsOf(chat)).toHaveLength(4);
    const sent = JSON.parse(upstream.seen.at(-1)?.body.toString() ?? '');
    expect(sent.messages.at(-1)).toMatchObject({ role: 'tool', content: 'sunny', tool_call_id: expect.any(String) });
    await chat.getByRole('button', { name: 'Send' }).waitFor();
    expect(await chat.getByRole('alert').count()).toBe(0);
    await upstream.stop();
  });

  it('shows the model an image', async () => {
    const { page, complaints } = await openPanel('chat');
    const chat = page.getByRole('region', { name: 'Chat' });
    const attach = chat.getByRole('button', { name: 'Attach image' });
    await choose(page, attach, await drawnPng(page));
    // A browser fires no event if the same file is chosen again, so the input must forget the removed file.
    await chat.getByRole('button', { name: /^Remove / }).click();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), attach.click()]);
    expect(await chooser.element().evaluate((input: HTMLInputElement) => input.value)).toBe('');
    await chooser.setFiles(await drawnPng(page));
    const sending = page.waitForRequest('**/v1/chat/completions');
    await say(chat, 'What is this?');
    await chat.getByRole('img', { name: 'Attached image' }).waitFor();
    await chat.getByRole('button', { name: 'Send' }).waitFor();
    const sent = (await sending).postDataJSON();
    expect(sent.messages[0].content[1].image_url.url).toMatch(/^data:image\/png;base64,/);
    expect(complaints).toEqual([]);
  });

  it('says why a request was refused, and keeps what was typed', async () => {
    const { page } = await openPanel('chat');
    const chat = page.getByRole('region', { name: 'Chat' });
    await chat.getByLabel('Model', { exact: true }).fill('nothing-like-it');
    await say(chat, 'Hello');
    await chat
      .getByRole('alert')
      .getByText(/nothing-like-it/)
      .waitFor();
    expect(await chat.getByLabel('Message', { exact: true }).inputValue()).toBe('Hello');
  });

  it('keeps what was typed while it waited for an answer that failed', async () => {
    const { page } = await openPanel('chat');
    const chat = page.getByRole('region', { name: 'Chat' });
    const typed = Promise.withResolvers<void>();
    await page.route('**/v1/chat/completions', async (route) => {
      await typed.promise;
      await route.fulfill({ status: 500, json: { error: { message: 'No luck' } } });
    });
    await say(chat, 'Hello');
    const message = chat.getByLabel('Message', { exact: true });
    await expect.poll(() => message.inputValue()).toBe('');
    await message.fill('And one more thing');
    typed.resolve();
    await chat.getByRole('alert').getByText('500: No luck').waitFor();
    expect(await message.inputValue()).toBe('Hello\nAnd one more thing');
  });

  it('lets one response follow from another', async () => {
    const { page, complaints } = await openPanel('responses');
    const responses = page.getByRole('region', { name: 'Responses' });
    await responses.getByLabel('Input', { exact: true }).fill('Hello');
    await responses.getByRole('button', { name: 'Send' }).click();
    const id = (await responses.getByText(/^resp_/).textContent()) ?? '';
    await responses.getByLabel('Continue from the previous response').check();
    await responses.getByRole('button', { name: 'Send' }).click();
    await responses
      .getByText(/^resp_/)
      .and(page.locator(`:not(:text-is("${id}"))`))
      .waitFor();
    const sent = JSON.parse(await bodyOf(page, 'Request'));
    expect(sent.previous_response_id).toBe(id);
    expect(complaints).toEqual([]);
  });

  it('measures how near two texts are', async () => {
    const { page, complaints } = await openPanel('embeddings');
    const embeddings = page.getByRole('region', { name: 'Embeddings' });
    await embeddings.getByLabel('First text').fill('a river');
    await embeddings.getByLabel('Second text').fill('a river');
    await embeddings.getByRole('button', { name: 'Send' }).click();
    await embeddings.getByText(/Cosine similarity 1\.0000/).waitFor();
    await embeddings.getByLabel('Second text').fill('an invoice');
    await embeddings.getByRole('button', { name: 'Send' }).click();
    await embeddings.getByText(/Cosine similarity (?!1\.0000)/).waitFor();
    expect(complaints).toEqual([]);
  });

  it('makes an image', async () => {
    const { page, complaints } = await openPanel('images');
    const images = page.getByRole('region', { name: 'Images' });
    await images.getByLabel('Prompt').fill('a lock on a river');
    await images.getByLabel('Size').selectOption('256x256');
    await images.getByRole('button', { name: 'Send' }).click();
    const image = images.getByRole('img', { name: 'a lock on a river' });
    await image.waitFor();
    expect(await image.evaluate((element) => element instanceof HTMLImageElement && element.naturalWidth)).toBe(256);
    expect(complaints).toEqual([]);
  });

  it('changes an image within what was painted over', async () => {
    const { page, complaints } = await openPanel('images');
    const images = page.getByRole('region', { name: 'Images' });
    await choose(page, images.getByRole('button', { name: 'Image to edit' }), await drawnPng(page));
    const canvas = images.getByRole('img', { name: /parts may change/ });
    await canvas.hover();
    await page.mouse.down();
    await page.mouse.move(...(await centreOf(canvas)), { steps: 3 });
    await page.mouse.up();
    await images.getByRole('button', { name: 'Clear mask' }).waitFor();
    await images.getByLabel('Prompt').fill('a boat');
    await images.getByRole('button', { name: 'Send' }).click();
    await images.getByRole('img', { name: 'a boat' }).waitFor();
    expect(await bodyOf(page, 'Request')).toMatch(/image: \(image\/png.*\nmask: \(image\/png/);
    const panels = page.getByRole('navigation', { name: 'Capabilities' });
    await panels.getByRole('link', { name: 'Chat' }).click();
    await panels.getByRole('link', { name: 'Images' }).click();
    // What was painted is gone, so it must not be sent either.
    await canvas.waitFor();
    await images.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => bodyOf(page, 'Request')).toMatch(/image: \(image\/png[^\n]*$/);
    expect(complaints).toEqual([]);
  });

  it('speaks, and writes down what was spoken', async () => {
    const { page, complaints } = await openPanel('speech');
    const speech = page.getByRole('region', { name: 'Speech' });
    await speech.getByLabel('Input', { exact: true }).fill('Good morning');
    await speech.getByRole('button', { name: 'Send' }).click();
    const player = speech.locator('audio');
    await player.waitFor();
    await expect
      .poll(() => player.evaluate((audio) => audio instanceof HTMLAudioElement && audio.duration > 0))
      .toBe(true);

    await page.getByRole('navigation', { name: 'Capabilities' }).getByRole('link', { name: 'Transcription' }).click();
    const transcription = page.getByRole('region', { name: 'Transcription' });
    await choose(page, transcription.getByRole('button', { name: 'Choose a recording' }), silentWav());
    await transcription.getByRole('button', { name: 'Send' }).click();
    await transcription.getByRole('button', { name: 'Copy Transcription' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('records from the microphone once it is asked to, and sends what was said', async () => {
    const upstream = await startUpstream((_request, response) => json(response, { text: 'What was said.' }));
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['whisper-1'] }];
    const { page, context, complaints } = await openPanel('transcription', { config: { providers } });
    await context.grantPermissions(['microphone']);
    const transcription = page.getByRole('region', { name: 'Transcription' });
    await transcription.getByRole('button', { name: 'Record', exact: true }).click();
    await expect.poll(() => transcription.getByRole('timer').textContent()).toMatch(/^[1-9]/);
    await transcription.getByRole('button', { name: 'Stop recording' }).click();
    await transcription.getByText('recording.webm').waitFor();
    await transcription.getByLabel('Translate into English').check();
    await transcription.getByRole('button', { name: 'Send' }).click();
    await transcription.getByText('What was said.').waitFor();
    expect(upstream.seen.at(-1)?.url).toBe('/v1/audio/translations');
    expect(upstream.seen.at(-1)?.body.toString('latin1')).toContain('filename="recording.webm"');
    expect(complaints).toEqual([]);
    await upstream.stop();
  });

  it('says what to do where the microphone is not allowed', async () => {
    const { page } = await openPanel('transcription');
    const transcription = page.getByRole('region', { name: 'Transcription' });
    await transcription.getByRole('button', { name: 'Record', exact: true }).click();
    await transcription
      .getByRole('alert')
      .getByText(/Microphone access was denied/)
      .waitFor();
    expect(await transcription.getByRole('timer').count()).toBe(0);
  });

  it('goes on with a text, and judges one', async () => {
    const upstream = await startLegacyUpstream();
    const { page, complaints } = await openPanel('completions', { config: { providers: [upstream.provider] } });
    const completions = page.getByRole('region', { name: 'Completions' });
    await completions.getByLabel('Prompt').fill('Once upon a time');
    await completions.getByRole('button', { name: 'Send' }).click();
    await completions.getByText('there was a gateway.').waitFor();
    await page.getByRole('link', { name: 'Moderations' }).click();
    const moderations = page.getByRole('region', { name: 'Moderations' });
    await moderations.getByLabel('Input', { exact: true }).fill('A quiet evening by the river');
    await moderations.getByRole('button', { name: 'Send' }).click();
    await moderations.getByText('Not flagged.').waitFor();
    expect(complaints).toEqual([]);
    await upstream.stop();
  });

  it('orders a video, follows it, and plays it', async () => {
    const { page, complaints } = await openPanel('videos');
    const videos = page.getByRole('region', { name: 'Videos' });
    await videos.getByLabel('Prompt').fill('a lock opens');
    await videos.getByRole('button', { name: 'Send' }).click();
    await videos.getByRole('progressbar').waitFor();
    const player = videos.locator('video');
    await player.waitFor({ timeout: 50_000 });
    await expect
      .poll(() => player.evaluate((video) => video instanceof HTMLVideoElement && video.duration > 0))
      .toBe(true);
    await videos.getByText('completed, 100%').waitFor();
    expect(complaints).toEqual([]);
  });

  it('asks for a video again after a poll that failed', async () => {
    const upstream = await startVideoUpstream();
    const { page } = await openPanel('videos', { config: { providers: [upstream.provider] } });
    await page.route('**/v1/videos/video_1', (route) => route.abort(), { times: 1 });
    const videos = page.getByRole('region', { name: 'Videos' });
    await videos.getByLabel('Prompt').fill('a lock opens');
    await videos.getByRole('button', { name: 'Send' }).click();
    await videos.getByText('The video is still being generated. Checking again in a moment.').waitFor();
    upstream.complete();
    await videos.getByText('completed, 100%').waitFor();
    await videos.locator('video').waitFor();
    expect(upstream.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
    await upstream.stop();
  });

  it('stops polling a video once the key is gone', async () => {
    const upstream = await startVideoUpstream();
    const { page, gateway } = await openPanel('videos', { config: { providers: [upstream.provider] } });
    const videos = page.getByRole('region', { name: 'Videos' });
    await videos.getByLabel('Prompt').fill('a lock opens');
    await videos.getByRole('button', { name: 'Send' }).click();
    await videos.getByText('queued, 0%').waitFor();
    await gateway.gateway.execute({ type: 'key.revoke', id: 'try-out' });
    await videos.getByText('This key is no longer available. Choose another one.').waitFor();
    expect(await videos.getByText('The video is still being generated. Checking again in a moment.').count()).toBe(0);
    await upstream.stop();
  });

  it('follows a video through a gateway that is off for a while, and again after the screen was left', async () => {
    const upstream = await startVideoUpstream();
    const screen = '/playground/videos';
    const { page, stopEngine, startEngine } = await open({ config: { providers: [upstream.provider] }, screen });
    const videos = page.getByRole('region', { name: 'Videos' });
    const secret = page.getByLabel('Secret of the key', { exact: true });
    await secret.fill(testKey);
    await videos.getByLabel('Prompt').fill('a lock opens');
    await videos.getByRole('button', { name: 'Send' }).click();
    await videos.getByText('queued, 0%').waitFor();
    await stopEngine();
    await videos.getByText('The video is still being generated. Checking again in a moment.').waitFor();
    upstream.advance();
    await startEngine();
    await videos.getByText('in_progress, 40%').waitFor();

    const screens = page.getByRole('navigation', { name: 'Screens' });
    await screens.getByRole('link', { name: 'Access' }).click();
    await screens.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('link', { name: 'Videos' }).click();
    upstream.complete();
    await secret.fill(testKey);
    await videos.getByLabel('Prompt').fill('another one');
    expect(await videos.getByLabel('Video id').inputValue()).toBe('video_1');
    await videos.getByLabel('Video id').press('Enter');
    await videos.getByText('completed, 100%').waitFor();
    await videos.locator('video').waitFor();
    expect(upstream.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
    await upstream.stop();
  });

  it('does not keep the secret that it has sent', async () => {
    const window = await open({ config: { keys: [] } });
    const secret = await createKeptKey(window, 'try-out');
    const { page, context, gateway } = window;
    await page.goto(`${gateway.origin}/#/playground/chat`);
    const chat = page.getByRole('region', { name: 'Chat' });
    await say(chat, 'Hello there');
    await expect.poll(() => turnsOf(chat)).toHaveLength(2);
    await chat.getByRole('button', { name: 'Send' }).waitFor();
    const heap = await heapTextOf(await context.newCDPSession(page));
    expect(heap.includes('Hello there')).toBe(true);
    expect(heap.includes(secret)).toBe(false);
  });

  it('accepts a pasted secret if the key cannot show its own', async () => {
    const { page } = await open({ screen: '/playground/chat' });
    const chat = page.getByRole('region', { name: 'Chat' });
    await chat.getByLabel('Message', { exact: true }).fill('Hello');
    expect(await chat.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await page.getByLabel('Secret of the key', { exact: true }).fill(testKey);
    await chat.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => turnsOf(chat)).toHaveLength(2);
  });

  it('sends a message by keyboard alone', async () => {
    const { page } = await openPanel('chat');
    const message = page.getByLabel('Message', { exact: true });
    await tabTo(page, message);
    await page.keyboard.type('Hello');
    // In Safari, this is the Enter that accepts a word from an input method.
    await message.dispatchEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true });
    expect(await message.inputValue()).toBe('Hello');
    await page.keyboard.press('Enter');
    const chat = page.getByRole('region', { name: 'Chat' });
    await expect.poll(() => turnsOf(chat)).toHaveLength(2);
    await expectFocus(message);
    expect(await message.inputValue()).toBe('');
  });

  it('marks an answer that an error broke off, with what came before it, in each panel', async () => {
    const upstream = await startUpstream(({ url }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of brokenStreams[url] ?? []) response.write(`data: ${JSON.stringify(event)}\n\n`);
      response.end();
    });
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
    const groups = [{ id: 'default', policy: { retries: 0 } }];
    const { page } = await openPanel('chat', { config: { providers, groups } });
    const chat = page.getByRole('region', { name: 'Chat' });
    await say(chat, 'Hello');
    const answer = chat.getByRole('listitem').last();
    await answer.getByText('Half an answer and').waitFor();
    await answer.getByText('The answer was cut off by an error: the model has crashed').waitFor();
    expect(await chat.getByText('the model has crashed').count()).toBe(1);
    expect(await chat.getByRole('alert').count()).toBe(1);
    for (const [panel, field] of [
      ['Responses', 'Input'],
      ['Completions', 'Prompt'],
    ] as const) {
      await page.getByRole('link', { name: panel, exact: true }).click();
      const region = page.getByRole('region', { name: panel, exact: true });
      await region.getByLabel(field, { exact: true }).fill('Hello');
      await region.getByRole('button', { name: 'Send' }).click();
      await region.getByText('Half an answer and').waitFor();
      await region.getByRole('alert').getByText('the model has crashed').waitFor();
      expect(await region.getByRole('alert').count()).toBe(1);
    }
    await upstream.stop();
  });

  it('follows the newest text, unless the person has scrolled up to read', async () => {
    let write = (_text: string) => {};
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      write = (content) =>
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
      write(`first line\n\n${'a line\n\n'.repeat(60)}`);
    });
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
    const { page } = await openPanel('chat', { config: { providers } });
    const chat = page.getByRole('region', { name: 'Chat' });
    await say(chat, 'Hello');
    await chat.getByText('first line').waitFor();
    write('the newest');
    await expect.poll(() => isInView(chat.getByText('the newest'))).toBe(true);
    await chat.getByText('first line').scrollIntoViewIfNeeded();
    write(`${'\n\nmore'.repeat(20)}\n\nthe very last`);
    await chat.getByText('the very last').waitFor();
    expect(await isInView(chat.getByText('first line'))).toBe(true);
    await upstream.stop();
  });

  it('keeps the conversation, the model and what was typed while another screen is open', async () => {
    const { page } = await openPanel('chat');
    const chat = page.getByRole('region', { name: 'Chat' });
    await say(chat, 'Hello there');
    await expect.poll(() => turnsOf(chat)).toHaveLength(2);
    await chat.getByRole('button', { name: 'Send' }).waitFor();
    await chat.getByLabel('Model', { exact: true }).fill('demo-other');
    await chat.getByLabel('Message', { exact: true }).fill('half a thought');
    await (await openParameters(page)).getByLabel('Temperature').fill('0.3');
    await page.keyboard.press('Escape');
    const screens = page.getByRole('navigation', { name: 'Screens' });
    await screens.getByRole('link', { name: 'Access' }).click();
    await screens.getByRole('link', { name: 'Playground' }).click();
    await expect.poll(() => turnsOf(chat)).toHaveLength(2);
    expect(await chat.getByLabel('Model', { exact: true }).inputValue()).toBe('demo-other');
    expect(await chat.getByLabel('Message', { exact: true }).inputValue()).toBe('half a thought');
    await chat.getByRole('button', { name: 'Parameters: 1 set' }).waitFor();
    expect(await (await openParameters(page)).getByLabel('Temperature').inputValue()).toBe('0.3');
  });

  it('opens the list of models with all of them, whatever is chosen, and chooses by keyboard', async () => {
    const providers = [
      { id: 'main', name: 'Main one', baseUrl: 'http://127.0.0.1:9/v1', models: ['gpt-a', 'gpt-b', 'whisper-1'] },
    ];
    const { page, complaints } = await openPanel('chat', { config: { providers } });
    const field = page.getByLabel('Model', { exact: true });
    await expect.poll(() => field.inputValue()).toBe('gpt-a');
    await field.click();
    const options = page.getByRole('listbox').getByRole('option');
    await expect.poll(() => options.count()).toBe(3);
    await page.getByText('Main one', { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await field.fill('-b');
    await expect.poll(() => options.count()).toBe(1);
    await field.press('ArrowDown');
    await field.press('Enter');
    expect(await field.inputValue()).toBe('gpt-b');
    expect(complaints).toEqual([]);
  });

  it('keeps the conversation through a reload of its window, until a new chat', async () => {
    const { page } = await openPanel('chat');
    const chat = page.getByRole('region', { name: 'Chat' });
    await choose(page, chat.getByRole('button', { name: 'Attach image' }), await drawnPng(page));
    await say(chat, 'What is this?');
    await expect.poll(() => turnsOf(chat)).toHaveLength(2);
    await chat.getByRole('button', { name: 'Send' }).waitFor();
    await chat.getByText(/tokens in/).waitFor();
    const said = await turnsOf(chat);
    await chat.getByLabel('Model', { exact: true }).fill('demo-other');
    await chat.getByLabel('Message', { exact: true }).fill('half a thought');
    await choose(page, chat.getByRole('button', { name: 'Attach image' }), await drawnPng(page));
    await page.reload();
    await expect.poll(() => turnsOf(chat)).toEqual(said);
    await chat.getByRole('img', { name: 'Attached image' }).waitFor();
    expect(await chat.getByLabel('Model', { exact: true }).inputValue()).toBe('demo-other');
    expect(await chat.getByLabel('Message', { exact: true }).inputValue()).toBe('half a thought');
    await chat.getByText('The window was reloaded: attach the image again.').waitFor();
    expect(await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]))).not.toContain(
      'sk-sluice-',
    );
    await chat.getByRole('button', { name: 'New chat' }).click();
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('What is this?');
    await page.reload();
    await expect.poll(() => chat.getByLabel('Message', { exact: true }).inputValue()).toBe('half a thought');
    expect(await turnsOf(chat)).toEqual([]);
  });

  it('says an error in a line, with a page that came behind it, and what a model without a price cost', async () => {
    const isDown = { now: true };
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(isDown.now ? 400 : 200, { 'content-type': isDown.now ? 'text/html' : 'text/event-stream' });
      const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };
      const choices = [{ index: 0, delta: { content: 'Run:\n\n```sh\nls -l\n```' } }];
      const events = `data: ${JSON.stringify({ choices, usage })}\n\ndata: [DONE]\n\n`;
      response.end(isDown.now ? '<html><head><title>400 Bad Request</title></head><body>a page</body></html>' : events);
    });
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['nobody-prices-it'], free: false }];
    const { page } = await openPanel('chat', { config: { providers } });
    await ownClipboard(page);
    const chat = page.getByRole('region', { name: 'Chat' });
    await say(chat, 'Hello');
    const alert = chat.getByRole('alert');
    await alert.getByText('400 Bad Request', { exact: true }).waitFor();
    expect(await alert.getByText('a page').isVisible()).toBe(false);
    await alert.getByText('Show response').click();
    expect(await alert.getByText('a page').isVisible()).toBe(true);
    expect(await accessibilityFaults(page)).toEqual([]);
    isDown.now = false;
    await chat.getByRole('button', { name: 'Send' }).click();
    await chat.getByText(/3 tokens in · 5 out · cost unknown · /).waitFor();
    const copy = chat.getByRole('button', { name: 'Copy code' });
    await copy.press('Enter');
    await chat.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('ls -l');
    await chat.getByRole('button', { name: 'Copied' }).waitFor({ state: 'detached' });
    expect(await accessibilityFaults(page)).toEqual([]);
    await upstream.stop();
  });

  it('draws Markdown without its HTML, and fetches no picture', async () => {
    const text = '**bold** <b>raw</b> ![pixel](https://elsewhere.example/pixel.png) [link](https://elsewhere.example/)';
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`);
      response.end('data: [DONE]\n\n');
    });
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
    const { page, complaints } = await openPanel('chat', { config: { providers } });
    const chat = page.getByRole('region', { name: 'Chat' });
    await say(chat, 'Hello');
    await chat.locator('strong').getByText('bold').waitFor();
    expect(await chat.locator('li b').count()).toBe(0);
    expect(await chat.locator('li img').count()).toBe(0);
    expect(await chat.getByRole('link', { name: 'link' }).getAttribute('rel')).toContain('noopener');
    expect(complaints).toEqual([]);
    await upstream.stop();
  });

  it('sends parameters, refuses a schema that is none, and tells tokens and time under the answer', async () => {
    const { page } = await openPanel('chat');
    const chat = page.getByRole('region', { name: 'Chat' });
    const parameters = await openParameters(page);
    await parameters.getByLabel('Temperature').fill('0.5');
    await parameters.getByLabel('Max tokens').fill('40');
    await parameters.getByLabel('System message').fill('Be brief.');
    await parameters.getByLabel('JSON schema').fill('[not one');
    await parameters.getByText('This is not a JSON object.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expectFocus(chat.getByRole('button', { name: 'Parameters: 4 set' }));
    await chat.getByLabel('Message', { exact: true }).fill('Hello');
    expect(await chat.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await (await openParameters(page)).getByLabel('JSON schema').fill('');
    await page.keyboard.press('Escape');
    await chat.getByRole('button', { name: 'Send' }).click();
    await chat.getByText(/\d+ tokens in · \d+ out · \$0\.00 · first byte/).waitFor();
    const sent = JSON.parse(await bodyOf(page, 'Request'));
    expect(sent).toMatchObject({ temperature: 0.5, max_completion_tokens: 40 });
    expect(sent.messages[0]).toEqual({ role: 'system', content: 'Be brief.' });
  });

  it('asks up to four models side by side, and one that fails does not affect the others', async () => {
    const { page } = await openPanel('chat');
    const chat = page.getByRole('region', { name: 'Chat' });
    const add = chat.getByRole('button', { name: 'Add a model' });
    for (const [number, model] of ['demo-chat', 'nothing-like-it', 'demo-chat'].entries()) {
      await add.click();
      await chat.getByLabel(`Model ${number + 2}`, { exact: true }).fill(model);
    }
    expect(await add.count()).toBe(0);
    await say(chat, 'Hello');
    const lanes = chat.getByRole('list');
    await expect.poll(() => lanes.count()).toBe(4);
    await expect.poll(() => chat.getByText(/tokens in/).count()).toBe(3);
    await lanes.nth(2).getByRole('alert').getByText(/404/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await chat.getByRole('button', { name: 'Remove model 3' }).click();
    await expect.poll(() => lanes.count()).toBe(3);
    expect(await chat.getByRole('alert').count()).toBe(0);
    expect(await chat.getByLabel('Model 3', { exact: true }).inputValue()).toBe('demo-chat');
  });

  it('adds a column that is empty until its model is chosen, and shows each failure in its own column', async () => {
    const config = { providers: [{ id: 'main', baseUrl: 'http://127.0.0.1:9/v1', models: ['gpt-a', 'gpt-b'] }] };
    const { page } = await openPanel('chat', { config });
    const chat = page.getByRole('region', { name: 'Chat' });
    const sse = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'An answer' } }] })}\n\ndata: [DONE]\n\n`;
    const answered = { contentType: 'text/event-stream', body: sse };
    await page.route('**/v1/chat/completions', (route) => route.fulfill(answered), { times: 1 });
    await say(chat, 'Hello');
    await chat.getByText('An answer').waitFor();
    await chat.getByRole('button', { name: 'Add a model' }).click();
    const second = chat.getByLabel('Model 2', { exact: true });
    await expectFocus(second);
    await chat.getByText('Choose a model.').waitFor();
    await chat.getByText('Choose model 2, then send.').waitFor();
    expect(await chat.getByText('An answer').count()).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    await second.click();
    await expect.poll(() => page.getByRole('listbox').getByRole('option').count()).toBe(1);
    await second.fill('gpt-b');
    await page.route('**/v1/chat/completions', (route) => {
      const { model } = route.request().postDataJSON();
      return route.fulfill({ status: 500, json: { error: { message: `${model} is down` } } });
    });
    await say(chat, 'And now?');
    const lanes = chat.getByRole('list');
    for (const [lane, model] of ['gpt-a', 'gpt-b'].entries()) {
      await lanes.nth(lane).getByRole('alert').getByText(`500: ${model} is down`).waitFor();
      await lanes.nth(lane).getByText('And now?').waitFor();
    }
    expect(await chat.getByRole('alert').count()).toBe(2);
    expect(await chat.getByLabel('Message', { exact: true }).inputValue()).toBe('');
    await lanes.nth(1).getByRole('button', { name: 'Try again' }).click();
    await lanes.nth(1).getByRole('alert').getByText('500: gpt-b is down').waitFor();
    await page.unroute('**/v1/chat/completions');
    await page.route('**/v1/chat/completions', (route) => route.fulfill(answered));
    await lanes.nth(1).getByRole('button', { name: 'Edit' }).click();
    await say(chat, 'And then?');
    await expect.poll(() => chat.getByText('And then?').count()).toBe(2);
    expect(await chat.getByText('And now?').count()).toBe(0);
    await expect.poll(() => turnsOf(chat)).toHaveLength(6);
  });

  it('asks again for an answer, and sends a message anew with what has changed in it, by keyboard', async () => {
    let count = 0;
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const content = `answer ${++count}`;
      response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\ndata: [DONE]\n\n`);
    });
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
    const { page } = await openPanel('chat', { config: { providers } });
    const chat = page.getByRole('region', { name: 'Chat' });
    const message = chat.getByLabel('Message', { exact: true });
    await say(chat, 'A question');
    await chat.getByText('answer 1', { exact: true }).waitFor();
    await chat.getByRole('button', { name: 'Regenerate' }).click();
    await chat.getByText('answer 2', { exact: true }).waitFor();
    expect(await chat.getByRole('listitem').count()).toBe(2);
    await say(chat, 'Another one');
    await chat.getByText('answer 3', { exact: true }).waitFor();
    await message.fill('a draft');
    await chat.getByRole('button', { name: 'Edit' }).first().click();
    await expectFocus(message);
    expect(await message.inputValue()).toBe('A question');
    await page.keyboard.press('Escape');
    expect(await message.inputValue()).toBe('a draft');
    await message.fill('');
    await page.keyboard.press('ArrowUp');
    expect(await message.inputValue()).toBe('Another one');
    await message.fill('A better one');
    await page.keyboard.press('Enter');
    await chat.getByText('answer 4', { exact: true }).waitFor();
    expect(await chat.getByRole('listitem').count()).toBe(4);
    const sent = JSON.parse(upstream.seen.at(-1)?.body.toString() ?? '');
    expect(sent.messages.map(({ content }: { content: string }) => content)).toEqual([
      'A question',
      'answer 2',
      'A better one',
    ]);
    await upstream.stop();
  });

  it('shows the way on from an error, and stops an answer by Escape', async () => {
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"begun"}}]}\n\n');
    });
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
    const { page } = await openPanel('chat', { config: { providers } });
    const chat = page.getByRole('region', { name: 'Chat' });
    const model = chat.getByLabel('Model', { exact: true });
    await expect.poll(() => model.inputValue()).toBe('gpt-x');
    await model.fill('gpt-y');
    await say(chat, 'Hello');
    const alert = chat.getByRole('alert');
    await alert.getByText('Check the model’s name').waitFor();
    await alert.getByRole('link', { name: 'What happened' }).waitFor();
    await alert.getByRole('button', { name: 'Choose another model' }).click();
    await expectFocus(model);
    await model.fill('gpt-x');
    await page.route('**/v1/chat/completions', (route) => route.abort(), { times: 1 });
    await chat.getByLabel('Message', { exact: true }).press('Enter');
    await alert.getByText('The gateway did not answer.').waitFor();
    await alert.getByRole('button', { name: 'Try again' }).click();
    await chat.getByText('begun').waitFor();
    await chat.getByLabel('Message', { exact: true }).press('Escape');
    await chat.getByText('Stopped.').waitFor();
    await upstream.stop();
  });

  it('keeps the message and Send in sight, however long the answer', async () => {
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const content = 'a line\n\n'.repeat(200);
      response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\ndata: [DONE]\n\n`);
    });
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
    const { page } = await openPanel('chat', { config: { providers } });
    const chat = page.getByRole('region', { name: 'Chat' });
    await say(chat, 'Hello');
    await expect.poll(() => chat.getByText('a line', { exact: true }).count()).toBe(200);
    for (const [width, height] of [
      [1280, 800],
      [420, 700],
    ] as const) {
      await page.setViewportSize({ width, height });
      expect(await isInView(chat.getByRole('button', { name: 'Send' }))).toBe(true);
      expect(await isInView(chat.getByLabel('Message', { exact: true }))).toBe(true);
      expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBeLessThanOrEqual(0);
    }
    await upstream.stop();
  });

  it('keeps both answers and the current tab in sight in a narrow window', async () => {
    const answer = `\`\`\`\n${'a long line of code '.repeat(12)}\n\`\`\``;
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: answer } }] })}\n\ndata: [DONE]\n\n`,
      );
    });
    const providers = [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }];
    const context = { viewport: { width: 420, height: 700 } };
    const { page } = await openPanel('chat', { context, config: { providers } });
    const chat = page.getByRole('region', { name: 'Chat' });
    await chat.getByRole('button', { name: 'Add a model' }).click();
    await chat.getByLabel('Model 2', { exact: true }).fill('gpt-x');
    await say(chat, 'Hello');
    await expect.poll(() => chat.getByText('a long line').count()).toBe(2);
    const [first, second] = [chat.getByRole('list').first(), chat.getByRole('list').last()];
    for (const lane of [first, second])
      expect(await lane.evaluate((list) => list.scrollWidth - list.clientWidth)).toBeLessThanOrEqual(0);
    const tab = page.getByRole('navigation', { name: 'Capabilities' }).getByRole('link', { name: 'Videos' });
    await tab.click();
    await expect.poll(() => rightOf(tab)).toBeLessThanOrEqual(420);
    await page.reload();
    await page.getByRole('region', { name: 'Videos' }).waitFor();
    await expect.poll(() => rightOf(tab)).toBeLessThanOrEqual(420);
    await upstream.stop();
  });

  it('opens a captured request, ready to be sent again', async () => {
    const groups = [{ id: 'default', capture: true }];
    const { page, gateway } = await openPanel('chat', { config: { groups } });
    const chat = page.getByRole('region', { name: 'Chat' });
    await say(chat, 'A first question');
    await chat.getByRole('button', { name: 'Send' }).waitFor();
    const id = await requestIdOf(page);
    await gateway.record(id);
    await chat.getByRole('button', { name: 'New chat' }).click();
    await page.goto(`${gateway.origin}/#/playground?from=${id}`);
    await page.getByText(`Opened from request ${id}.`).waitFor();
    expect(await chat.getByLabel('Message', { exact: true }).inputValue()).toBe('A first question');
    await page.goto(`${gateway.origin}/#/playground?from=req_unknown`);
    await page.getByText('That request’s body was not captured').waitFor();
    expect(await chat.getByLabel('Message', { exact: true }).inputValue()).toBe('A first question');
  });

  it('opens a captured request to Anthropic Messages and says what is left out, but none that is no conversation', async () => {
    const groups = [{ id: 'default', capture: true }];
    const { page, gateway } = await openPanel('chat', { config: { groups } });
    const { secret } = await gateway.gateway.execute({ type: 'key.create', name: 'client' });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
    const send = async (path: string, body: object) => {
      const response = await gateway.fetch(path, { method: 'POST', body: JSON.stringify(body), headers });
      await response.text();
      return (
        await gateway.record(response.headers.get('x-sluice-request-id') ?? response.headers.get('x-request-id') ?? '')
      ).id;
    };
    const said = { role: 'user', content: 'What is this?' };
    const top = { model: 'demo-chat', max_tokens: 50, system: 'Be brief.', top_k: 5 };
    const asked = await send('/messages', { ...top, messages: [said] });
    const chat = page.getByRole('region', { name: 'Chat' });
    await page.goto(`${gateway.origin}/#/playground?from=${asked}`);
    await page.getByText(`Opened from request ${asked}, which used Anthropic Messages.`).waitFor();
    await page.getByText('Left out: top_k.').waitFor();
    const message = chat.getByLabel('Message', { exact: true });
    expect(await message.inputValue()).toBe('What is this?');
    expect(await (await openParameters(page)).getByLabel('System message').inputValue()).toBe('Be brief.');
    await page.keyboard.press('Escape');
    const embedded = await send('/embeddings', { model: 'demo-embedding', input: 'A text to embed' });
    await page.goto(`${gateway.origin}/#/playground?from=${embedded}`);
    await page.getByText('That request is not a conversation').waitFor();
    expect(await message.inputValue()).toBe('What is this?');
    await page.goto(`${gateway.origin}/#/requests/${embedded}`);
    await page.getByRole('complementary').getByRole('button', { name: 'Send again' }).click();
    expect(await page.getByRole('menuitem', { name: 'Open in playground' }).isDisabled()).toBe(true);
    await page.getByText('That request is not a conversation').waitFor();
  });

  it('keeps Send in reach in a narrow window', async () => {
    const { page } = await openPanel('chat', { context: { viewport: { width: 420, height: 700 } } });
    const send = page.getByRole('region', { name: 'Chat' }).getByRole('button', { name: 'Send' });
    await send.waitFor();
    expect(await isInView(send)).toBe(true);
  });

  it('says so where no model is listed', async () => {
    const window = await open({ screen: '/playground/chat', config: { settings: { demo: 'off' } } });
    await createKeptKey(window, 'mine');
    const chat = window.page.getByRole('region', { name: 'Chat' });
    await chat.getByText('No models listed. Type any name.').waitFor();
  });

  it('says what to do where there is no key', async () => {
    const { page } = await open({ config: { keys: [] }, screen: '/playground' });
    await page.getByText('Create one under Access › Keys').waitFor();
  });

  it('gives axe nothing to complain of on any panel', async () => {
    const { page } = await openPanel('chat');
    const links = page.getByRole('navigation', { name: 'Capabilities' }).getByRole('link');
    await links.first().waitFor();
    const panels = await links.all();
    expect(panels).toHaveLength(9);
    for (const panel of panels) {
      await panel.click();
      const name = (await panel.textContent()) ?? '';
      await page.getByRole('region', { name, exact: true }).getByRole('button', { name: 'Send' }).waitFor();
      expect(await accessibilityFaults(page), name).toEqual([]);
    }
  });

  it.each(appearances)('fits in $width px, $colorScheme, $locale', async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page, complaints } = await openPanel('chat', { context });
    const message = page.locator('form textarea').first();
    await message.fill('Hello there');
    // Enter sends once the models are known; the link is that of the recorded answer.
    await page.locator('form button[type=submit]:enabled').waitFor();
    await message.press('Enter');
    await page.locator('li a[href^="#/requests/"]').waitFor();
    await page.locator('form button[type=submit]').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await takePicture(page, `playground-${width}-${colorScheme}-${locale}`);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
  });
});

const fault = { message: 'the model has crashed' };
const brokenStreams: Record<string, readonly object[]> = {
  '/v1/chat/completions': [{ choices: [{ index: 0, delta: { content: 'Half an answer and ' } }] }, { error: fault }],
  '/v1/responses': [
    { type: 'response.created', response: { id: 'resp_1', error: null } },
    { type: 'response.output_text.delta', delta: 'Half an answer and ' },
    { type: 'response.failed', response: { id: 'resp_1', error: fault } },
  ],
  '/v1/completions': [{ choices: [{ index: 0, text: 'Half an answer and ' }] }, { error: fault }],
};

async function openParameters(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: /^Parameters/ }).click();
  return page.getByRole('dialog', { name: 'Parameters' });
}

/** What was last sent or received, as the panel shows it. */
async function bodyOf(page: Page, part: 'Request' | 'Response'): Promise<string> {
  const view = page.getByLabel('View');
  await view.getByText(part, { exact: true }).click();
  const lines = page.getByRole('region', { name: `${part} body` }).locator('.cm-line');
  await lines.first().waitFor();
  const text = (await lines.allTextContents()).join('\n');
  await view.getByText('Answer', { exact: true }).click();
  return text;
}

async function requestIdOf(page: Page): Promise<string> {
  const link = page.getByRole('link', { name: 'Details' }).last();
  return (await link.getAttribute('href'))?.split('/').at(-1) ?? '';
}

function isInView(target: Locator): Promise<boolean> {
  return target.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    const box = element.closest('[aria-live]')?.getBoundingClientRect();
    return top >= (box?.top ?? 0) - 1 && bottom <= (box?.bottom ?? window.innerHeight) + 1;
  });
}

const weatherTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

/** Creates one video, `video_1`, which progresses when the test says so. */
/** Wants the tool called that it is offered, and answers once it has a result. */
async function startToolUpstream() {
  const upstream = await startUpstream(({ body }, response) => {
    const { messages } = JSON.parse(body.toString());
    const call = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
    };
    const isAnswer = messages.at(-1).role === 'tool';
    const delta = isAnswer ? { content: 'It is sunny.' } : { tool_calls: [call] };
    const chunk = {
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: isAnswer ? 'stop' : 'tool_calls' }],
    };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  });
  return { ...upstream, provider: { id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] } };
}

/** Has legacy completions and moderations, which the demo provider lacks. */
async function startLegacyUpstream() {
  const upstream = await startUpstream(({ url }, response) => {
    if (url.endsWith('/moderations')) {
      json(response, {
        id: 'modr_1',
        model: 'omni-moderation-latest',
        results: [{ flagged: false, categories: {}, category_scores: {} }],
      });
      return;
    }
    const chunk = {
      object: 'text_completion',
      choices: [{ index: 0, text: ' there was a gateway.', finish_reason: 'stop' }],
    };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  });
  const models = ['gpt-3.5-turbo-instruct', 'omni-moderation-latest'];
  return { ...upstream, provider: { id: 'main', baseUrl: upstream.baseUrl, models } };
}

async function startVideoUpstream() {
  let state = { status: 'queued', progress: 0 };
  const upstream = await startUpstream(({ url }, response) => {
    if (url.endsWith('/content')) response.writeHead(200, { 'content-type': 'video/mp4' }).end('a video');
    else json(response, { id: 'video_1', object: 'video', model: 'sora-2', ...state });
  });
  return {
    ...upstream,
    provider: { id: 'main', baseUrl: upstream.baseUrl, models: ['sora-2'] },
    advance() {
      state = { status: 'in_progress', progress: 40 };
    },
    complete() {
      state = { status: 'completed', progress: 100 };
    },
  };
}

/** Every string that the page still holds, and more. */
async function heapTextOf(session: CDPSession): Promise<string> {
  const chunks: string[] = [];
  session.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => chunks.push(chunk));
  await session.send('HeapProfiler.enable');
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.takeHeapSnapshot');
  return chunks.join('');
}

async function say(chat: Locator, text: string): Promise<void> {
  await chat.getByLabel('Message', { exact: true }).fill(text);
  await chat.getByRole('button', { name: 'Send' }).click();
}

/** The messages so far, leaving out answers that are still empty. */
async function turnsOf(chat: Locator): Promise<string[]> {
  const turns = await chat.getByRole('listitem').allTextContents();
  return turns.filter((turn) => !/…$/.test(turn));
}

interface ChosenFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

async function choose(page: Page, button: Locator, file: ChosenFile): Promise<void> {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button.click()]);
  await chooser.setFiles(file);
}

/** 256 pixels square. */
async function drawnPng(page: Page): Promise<ChosenFile> {
  const url = await page.evaluate(() => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 256, height: 256 });
    canvas.getContext('2d')?.fillRect(40, 40, 120, 120);
    return canvas.toDataURL('image/png');
  });
  return { name: 'drawn.png', mimeType: 'image/png', buffer: Buffer.from(url.split(',')[1] ?? '', 'base64') };
}

async function centreOf(target: Locator): Promise<[number, number]> {
  const box = await target.boundingBox();
  if (!box) throw new Error('It is not to be seen');
  return [box.x + box.width / 2 + 20, box.y + box.height / 2 + 20];
}

/** A tenth of a second of 16-bit mono silence. */
function silentWav(): ChosenFile {
  const rate = 8_000;
  const data = Buffer.alloc(rate / 5);
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + data.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(data.length, 40);
  return { name: 'silence.wav', mimeType: 'audio/wav', buffer: Buffer.concat([header, data]) };
}

async function rightOf(target: Locator): Promise<number> {
  const box = await target.boundingBox();
  return (box?.x ?? 0) + (box?.width ?? Number.NaN);
}
