import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { hashOf, mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyOf, completion, sendStream, streamOf, strictChat, toolCall } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import type { Json } from '../apis/translation/translating.ts';

const otherKey = 'sk-other';

let folder: string;
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let client: OpenAI;

async function open(more: Partial<ConfigInput> = {}): Promise<void> {
  gateway = await startGateway({
    folder,
    config: { providers: [mainProvider(upstream.baseUrl, { serves: ['chat'] })], ...more },
  });
  client = gateway.client;
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  upstream = await startUpstream(
    strictChat((body, response) => {
      const said = (body.messages as Json[]).length;
      if (body.stream) sendStream(response, streamOf([{ content: `Answer to ${said}` }]));
      else json(response, completion({ content: `Answer to ${said}` }));
    }),
  );
  await open();
});
afterEach(async () => {
  await gateway.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

const hello = { model: 'gpt-x', input: 'Hi' };
const lastSeen = () => bodyOf(upstream.seen.at(-1) ?? { method: '', url: '', headers: {}, body: Buffer.from('{}') });

const dialogue = [
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: 'Answer to 1' },
  { role: 'user', content: 'And now?' },
];

test('a conversation goes on from a response, without its instructions', async () => {
  const first = await client.responses.create({ ...hello, instructions: 'Be brief.' });
  expect(first).toMatchObject({ store: true, previous_response_id: null });
  const { data: second, response } = await client.responses
    .create({ ...hello, input: 'And now?', previous_response_id: first.id })
    .withResponse();
  expect(lastSeen().messages).toEqual([
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Answer to 2' },
    { role: 'user', content: 'And now?' },
  ]);
  expect(second.previous_response_id).toBe(first.id);
  expect(response.headers.get('x-sluice-dropped')).toBeNull();
  await client.responses.create({
    ...hello,
    input: [{ role: 'user', content: 'Go on' }],
    previous_response_id: second.id,
  });
  expect(lastSeen().messages).toHaveLength(5);
});

test('a stream can be gone on from as soon as it has ended, and after a restart', async () => {
  const first = await client.responses.stream(hello).finalResponse();
  await client.responses.create({ ...hello, input: 'And now?', previous_response_id: first.id });
  expect(lastSeen().messages).toEqual(dialogue);
  await gateway.stop();
  await open();
  await client.responses.stream({ ...hello, input: 'And now?', previous_response_id: first.id }).finalResponse();
  expect(lastSeen().messages).toEqual(dialogue);
});

test('tool calls and reasoning of earlier turns are sent along', async () => {
  const call = toolCall('call_1', 'look', { at: 'it' });
  upstream.answer(
    strictChat((_body, response) =>
      json(response, completion({ reasoning_content: 'Hm', tool_calls: [call] }, 'tool_calls')),
    ),
  );
  const tools = [{ type: 'function' as const, name: 'look', parameters: {}, strict: false }];
  const asked = { ...hello, model: 'kimi-k3', tools };
  const first = await client.responses.create(asked);
  const output = { type: 'function_call_output' as const, call_id: 'call_1', output: 'seen' };
  await client.responses.create({ ...asked, input: [output], previous_response_id: first.id });
  expect(lastSeen().messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', reasoning_content: 'Hm', tool_calls: [{ id: 'call_1' }] },
    { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
  ]);
});

test('items that the client only references by id are inserted', async () => {
  const first = await client.responses.create(hello);
  const reference = { type: 'item_reference' as const, id: first.output[0]?.id ?? '' };
  await client.responses.create({
    ...hello,
    input: [{ role: 'user', content: 'Hi' }, reference, { role: 'user', content: 'And now?' }],
  });
  expect(lastSeen().messages).toEqual(dialogue);
});

describe('a kept response', () => {
  test('can be retrieved, with what it answers, and deleted', async () => {
    const first = await client.responses.create(hello);
    const second = await client.responses.create({ ...hello, input: 'And now?', previous_response_id: first.id });
    expect(await client.responses.retrieve(second.id)).toMatchObject({ id: second.id, output: second.output });
    const page = await client.responses.inputItems.list(second.id, { order: 'asc', limit: 2 });
    expect(page.data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Answer to 1' }] },
    ]);
    const rest = await page.getNextPage();
    expect(rest.data).toMatchObject([{ content: [{ text: 'And now?' }] }]);
    expect(rest.hasNextPage()).toBe(false);
    await client.responses.delete(second.id);
    await expect(client.responses.retrieve(second.id)).rejects.toMatchObject({ status: 404 });
    expect(upstream.seen).toHaveLength(2);
  });

  test('cannot be cancelled or streamed again', async () => {
    const { id } = await client.responses.create(hello);
    await expect(client.responses.cancel(id)).rejects.toMatchObject({ status: 400 });
    await expect(client.responses.retrieve(id, { stream: true })).rejects.toMatchObject({
      status: 400,
      param: 'stream',
    });
  });

  test('cannot be used by another group', async () => {
    await gateway.stop();
    await open({
      groups: [{ id: 'default' }, { id: 'others' }],
      keys: [
        { id: 'k1', group: 'default', hash: hashOf('sk-test key with spaces') },
        { id: 'k2', group: 'others', hash: hashOf(otherKey) },
      ],
    });
    const { id } = await client.responses.create(hello);
    const other = new OpenAI({ baseURL: gateway.baseUrl, apiKey: otherKey, maxRetries: 0 });
    await expect(other.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await expect(other.responses.delete(id)).rejects.toMatchObject({ status: 404 });
    await expect(other.responses.create({ ...hello, previous_response_id: id })).rejects.toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
    });
    expect(await client.responses.retrieve(id)).toMatchObject({ id });
  });

  test('is not kept if the client or the settings want nothing stored', async () => {
    const first = await client.responses.create({ ...hello, store: false });
    expect(first).toMatchObject({ store: false });
    await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
    await gateway.stop();
    await open({ settings: { keptResponses: { retentionHours: 0 } } });
    const second = await client.responses.create(hello);
    expect(second).toMatchObject({ store: false });
    await expect(client.responses.create({ ...hello, previous_response_id: second.id })).rejects.toMatchObject({
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    });
  });

  test('is gone on from at a provider that serves Responses itself, without the reasoning of another', async () => {
    upstream.answer((request, response) => {
      const said = completion({ reasoning_content: 'Hm', content: 'From a chat' });
      if (request.url.endsWith('/chat/completions')) json(response, said);
      else json(response, { id: 'resp_up', object: 'response', status: 'completed', output: [] });
    });
    const first = await client.responses.create({ ...hello, store: true });
    await gateway.stop();
    await open({ providers: [mainProvider(upstream.baseUrl)] });
    await client.responses.create({ ...hello, input: 'And now?', previous_response_id: first.id });
    expect(upstream.seen.at(-1)?.url).toBe('/v1/responses');
    expect(lastSeen()).toEqual({
      model: 'gpt-x',
      input: [
        { type: 'message', role: 'user', content: 'Hi' },
        {
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [expect.objectContaining({ text: 'From a chat' })],
        },
        { type: 'message', role: 'user', content: 'And now?' },
      ],
    });
  });
});

test('the id of a translated response leads to no provider', async () => {
  const { id } = await client.responses.create(hello);
  expect(id).toMatch(/^resp_sluice_[0-9a-f]{32}$/);
  await expect(client.responses.retrieve('resp_sluice_0')).rejects.toMatchObject({ status: 404 });
  await expect(client.responses.retrieve('resp_of_others')).rejects.toMatchObject({ status: 404 });
  expect(upstream.seen).toHaveLength(1);
});
