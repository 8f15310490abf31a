/** Answers that failed on their way, as the inspector and the playground show them. */
import type { ServerResponse } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { type ScriptedUpstream, startUpstream } from '../support/upstream.ts';
import { createKeptKey, openInSuite } from './window-suite.ts';

const open = openInSuite();
let upstream: ScriptedUpstream;
afterEach(() => upstream?.stop());

const lines = Array.from({ length: 60 }, (_, line) => `line ${line}\n\n`);

/** Sends sixty lines, one event each, and then an error within the stream, which began with 200. */
function failingStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const content of lines)
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
  response.end('data: {"error":{"message":"The model has crashed","type":"server_error"}}\n\n');
}

async function failingConfig() {
  upstream = await startUpstream((_request, response) => failingStream(response));
  return {
    groups: [{ id: 'default', capture: true, policy: { retries: 0 } }],
    providers: [{ id: 'main', name: 'OpenAI', baseUrl: upstream.baseUrl, models: ['gpt-x'] }],
  };
}

it('heads an error inside a stream as a failed answer, and says in the conversation that it is not whole', async () => {
  const { page, gateway, complaints } = await open({ screen: '/requests', config: await failingConfig() });
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  const stream = await gateway.client.chat.completions.create({ model: 'gpt-x', messages, stream: true });
  await expect(async () => {
    for await (const _ of stream);
  }).rejects.toThrow();
  await page.getByRole('link', { name: 'POST /v1/chat/completions' }).click();
  const panel = page.getByRole('complementary', { name: 'Request' });
  const note = panel.getByRole('note');
  await note.getByText('The answer from OpenAI failed').waitFor();
  await note.getByText('The model has crashed').waitFor();
  expect(await note.getByText('answered 200').count()).toBe(0);
  await panel.getByRole('tab', { name: 'Conversation' }).click();
  await panel.getByText('line 59', { exact: true }).waitFor();
  await panel.getByText('The stream ended before the answer was complete.').waitFor();
  expect(complaints).toEqual([]);
});

it('shows the body of a refused request, and links to the route preview with the reason', async () => {
  const { page, gateway } = await open({ screen: '/requests', config: await failingConfig() });
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  await gateway.client.chat.completions.create({ model: 'of-nobody', messages }).catch(() => {});
  await page.getByRole('link', { name: 'POST /v1/chat/completions' }).click();
  const panel = page.getByRole('complementary', { name: 'Request' });
  await panel.getByRole('tab', { name: 'Request', exact: true }).click();
  await panel.getByRole('region', { name: 'Request body' }).getByText('"of-nobody"').waitFor();
  await panel.getByRole('tab', { name: 'Response' }).click();
  await panel.getByRole('region', { name: 'Response body' }).getByText('"model_not_found"').waitFor();
  const note = panel.getByRole('note');
  await note.getByRole('link', { name: 'See why in the route preview' }).click();
  await expect.poll(() => page.url()).toContain('#/models?for=key:k1&model=of-nobody');
  await page.getByText('(model_not_found)').waitFor();
});

it('keeps the end of each playground answer in sight, its error too', async () => {
  const window = await open({ config: { keys: [], ...(await failingConfig()) } });
  await createKeptKey(window, 'try-out');
  const { page, gateway } = window;
  await page.goto(`${gateway.origin}/#/playground/chat`);
  const chat = page.getByRole('region', { name: 'Chat' });
  const mark = chat.getByText('The answer was cut off by an error: The model has crashed');
  for (const count of [1, 2, 3]) {
    await chat.getByLabel('Message', { exact: true }).fill(`Question ${count}`);
    await chat.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => mark.count()).toBe(count);
    // A person scrolls up to read earlier messages, and sends the next one from there.
    await expect.poll(() => mark.last().evaluate(isWithinItsBox)).toBe(true);
    await chat.getByText('Question 1').scrollIntoViewIfNeeded();
  }
});

/** Runs in the page. */
function isWithinItsBox(element: Element): boolean {
  const box = element.closest('[aria-live]')?.getBoundingClientRect();
  const { top, bottom } = element.getBoundingClientRect();
  return box !== undefined && top >= box.top && bottom <= box.bottom + 1;
}
