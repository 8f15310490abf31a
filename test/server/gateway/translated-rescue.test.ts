/** A translated text stream that breaks is continued by another attempt, whatever the APIs of the two providers. */
import { afterEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { hashOf, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { claudeAt, geminiAt } from '../../support/sdk-clients.ts';
import * as claude from '../../support/strict-anthropic.ts';
import * as chat from '../../support/strict-chat.ts';
import * as gemini from '../../support/strict-gemini.ts';
import { eventStream, type ScriptedUpstream, startUpstream, writePieces } from '../../support/upstream.ts';

type ProviderInput = NonNullable<ConfigInput['providers']>[number];
type Dialect = 'anthropic' | 'gemini' | 'openai';

const upstreams: ScriptedUpstream[] = [];
let gateway: TestGateway;
afterEach(async () => {
  await gateway.stop();
  for (const upstream of upstreams.splice(0)) await upstream.stop();
});

const pieces = ['Once ', 'upon ', 'a time.'];

/** The events of an answer with these pieces, as a provider of the dialect sends them. */
function eventsOf(dialect: Dialect, texts: readonly string[]): string[] {
  if (dialect === 'openai') return [...texts.map((content) => chat.chunk({ content })), chat.ending('stop')];
  if (dialect === 'gemini') {
    const events = texts.map((text) => gemini.generated([{ text }]));
    return [...events, gemini.answered([])].map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`);
  }
  const open = claude.event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
  const deltas = texts.map((text) =>
    claude.event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  );
  const close = claude.event({ type: 'content_block_stop', index: 0 });
  return [claude.begun, open, ...deltas, close, claude.ending()];
}

/** The events up to the last of these texts, without the end. */
function beginning(dialect: Dialect, texts: readonly string[]): string[] {
  const events = eventsOf(dialect, texts);
  return events.slice(0, (dialect === 'anthropic' ? 2 : 0) + texts.length);
}

/** Gives each request its events; all answers except the last break off. */
async function start(dialects: readonly [Dialect, Dialect], answers: readonly (readonly string[])[]): Promise<void> {
  const providers: ProviderInput[] = [];
  for (const [index, dialect] of dialects.entries()) {
    const upstream = await startUpstream();
    upstreams.push(upstream);
    const events = answers[index] ?? [];
    upstream.answer(async (_request, response) => {
      eventStream(response);
      await writePieces(response, Buffer.from(events.join('')), []);
      if (index === answers.length - 1) response.end();
      else response.destroy();
    });
    const baseUrl = dialect === 'openai' ? upstream.baseUrl : upstream.origin;
    providers.push({
      ...{ id: `p${index}`, dialect, baseUrl, credentials: [{ id: 'c1' }], models: ['m'] },
      ...(dialect === 'openai' && { serves: ['chat'] }),
    });
  }
  gateway = await startGateway({
    config: {
      providers,
      groups: [{ id: 'default', policy: { retries: 0, fallbacks: 1 } }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
    },
    secrets: { 'provider/p0/c1': 'secret-0', 'provider/p1/c1': 'secret-1' },
  });
}

const clients = {
  async 'a chat'() {
    const asked = { model: 'm', messages: [{ role: 'user' as const, content: 'Tell' }] };
    const { choices } = await gateway.client.chat.completions.stream(asked).finalChatCompletion();
    return [choices[0]?.message.content, choices[0]?.finish_reason];
  },
  async 'a response'() {
    const response = await gateway.client.responses.stream({ model: 'm', input: 'Tell' }).finalResponse();
    return [response.output_text, response.status];
  },
  async 'a message of Anthropic’s'() {
    const client = claudeAt(gateway);
    const messages = [{ role: 'user' as const, content: 'Tell' }];
    const stream = client.messages.stream({ model: 'm', max_tokens: 99, messages });
    const message = await stream.finalMessage();
    return [
      message.content.map((block) => (block.type === 'text' ? block.text : block.type)).join('|'),
      message.stop_reason,
    ];
  },
  async 'an answer of Gemini’s'() {
    const client = geminiAt(gateway);
    let text = '';
    let reason: unknown;
    for await (const chunk of await client.models.generateContentStream({ model: 'm', contents: 'Tell' })) {
      text += chunk.text ?? '';
      reason = chunk.candidates?.[0]?.finishReason ?? reason;
    }
    return [text, reason];
  },
};

describe.each<[keyof typeof clients, Dialect, Dialect, string]>([
  ['a chat', 'anthropic', 'anthropic', 'stop'],
  ['a chat', 'anthropic', 'gemini', 'stop'],
  ['a response', 'openai', 'anthropic', 'completed'],
  ['a message of Anthropic’s', 'openai', 'openai', 'end_turn'],
  ['a message of Anthropic’s', 'gemini', 'openai', 'end_turn'],
  ['an answer of Gemini’s', 'anthropic', 'openai', 'STOP'],
])('%s that breaks at a provider of %s', (client, one, two, end) => {
  test(`goes on at one of ${two}`, async () => {
    await start([one, two], [beginning(one, pieces.slice(0, 2)), eventsOf(two, ['On', 'ce upon a', ' time', '.'])]);
    expect(await clients[client]()).toEqual(['Once upon a time.', end]);
    expect((await gateway.record()).attempts).toMatchObject([
      { provider: 'p0', cause: 'first', failure: 'stream-broken' },
      { provider: 'p1', cause: 'rescue', failure: null },
    ]);
  });

  test(`gets the end alone from one of ${two}, if nothing else is missing`, async () => {
    await start([one, two], [beginning(one, pieces), eventsOf(two, pieces)]);
    expect(await clients[client]()).toEqual(['Once upon a time.', end]);
  });

  test(`ends with an error if a provider of ${two} sends something else`, async () => {
    await start([one, two], [beginning(one, pieces), eventsOf(two, ['Once there was a king.'])]);
    await expect(clients[client]()).rejects.toThrow();
    expect((await gateway.record()).outcome).toBe('stream-broken');
  });
});

test('a response that was continued is kept under the id that the client has', async () => {
  await start(['openai', 'openai'], [beginning('openai', pieces.slice(0, 2)), eventsOf('openai', pieces)]);
  const { id } = await gateway.client.responses.stream({ model: 'm', input: 'Tell' }).finalResponse();
  expect((await gateway.client.responses.retrieve(id)).output_text).toBe('Once upon a time.');
});

describe('no other provider is called', () => {
  const [text, blocks] = [claude.blockEvents(0, claude.text('Let me look.')), claude.blockEvents];
  const openCall = claude.event({
    type: 'content_block_start',
    index: 1,
    content_block: claude.toolUse('toolu_1', 'look', {}),
  });

  test.each([
    ['a tool call that has begun', [claude.begun, text, openCall]],
    ['signed reasoning', [claude.begun, blocks(0, claude.thought('I look.')), blocks(1, claude.text('It is'))]],
  ])('for %s', async (_name, events) => {
    await start(['anthropic', 'anthropic'], [events, eventsOf('anthropic', pieces)]);
    await expect(clients['a chat']()).rejects.toThrow(/disconnected|middle/);
    expect(upstreams[1]?.seen).toEqual([]);
    expect(await gateway.record()).toMatchObject({ outcome: 'stream-broken', attempts: [{ provider: 'p0' }] });
  });

  test.each<[Dialect, Dialect]>([
    ['openai', 'anthropic'],
    ['anthropic', 'openai'],
  ])('where the chat of %s broke and the other provider is of %s', async (one, two) => {
    await start([one, two], [beginning(one, pieces.slice(0, 2)), eventsOf(two, pieces)]);
    await expect(clients['a chat']()).rejects.toThrow();
    expect(upstreams[1]?.seen).toEqual([]);
  });
});
