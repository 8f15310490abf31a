/** After its finish reason an answer is whole: what an upstream does then, no client has to know. */
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

let gateway: TestGateway;
let upstream: ScriptedUpstream;
afterEach(async () => {
  await gateway.stop();
  await upstream.stop();
});

const words = Array.from({ length: 60 }, (_, index) => `word${index} `);
const text = words.join('');
const long = Array.from({ length: 2_000 }, (_, index) => `${'long '.repeat(20)}${index} `);

/** The events of an answer with its finish reason, but without what ends the stream. */
function finished(dialect: Dialect, texts: readonly string[]): string {
  if (dialect === 'openai')
    return [
      chat.chunk({ role: 'assistant', content: '' }),
      ...texts.map((content) => chat.chunk({ content })),
      chat.chunk({}, 'stop'),
    ].join('');
  if (dialect === 'gemini') {
    const events = [...texts.map((piece) => gemini.generated([{ text: piece }])), gemini.answered([])];
    return events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('');
  }
  const deltas = texts.map((piece) =>
    claude.event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } }),
  );
  return [
    claude.begun,
    claude.event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...deltas,
    claude.event({ type: 'content_block_stop', index: 0 }),
    claude.ending().slice(0, claude.ending().indexOf('event: message_stop')),
  ].join('');
}

const errors: Record<Dialect, string> = {
  openai: 'data: {"error":{"message":"late","type":"server_error","code":null}}\n\n',
  anthropic: claude.event({ type: 'error', error: { type: 'api_error', message: 'late' } }),
  gemini: 'data: {"error":{"code":500,"message":"late","status":"INTERNAL"}}\r\n\r\n',
};

type Then = 'an error event' | 'a reset' | 'the end of the connection';

async function start(dialect: Dialect, texts: readonly string[], then: Then): Promise<void> {
  upstream = await startUpstream(async (_request, response) => {
    eventStream(response);
    await writePieces(response, Buffer.from(finished(dialect, texts)), []);
    if (then === 'a reset') response.destroy();
    else response.end(then === 'an error event' ? errors[dialect] : '');
  });
  const baseUrl = dialect === 'openai' ? upstream.baseUrl : upstream.origin;
  const provider: ProviderInput = {
    ...{ id: 'main', dialect, baseUrl, credentials: [{ id: 'c1' }], models: ['m'] },
    ...(dialect === 'openai' && { serves: ['chat'] }),
  };
  gateway = await startGateway({
    config: {
      providers: [provider],
      groups: [{ id: 'default', policy: { retries: 3 } }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
    },
    secrets: { 'provider/main/c1': 'secret' },
  });
}

const clients = {
  async chat() {
    const asked = { model: 'm', messages: [{ role: 'user' as const, content: 'Tell' }] };
    const { choices } = await gateway.client.chat.completions.stream(asked).finalChatCompletion();
    return [choices[0]?.message.content, choices[0]?.finish_reason];
  },
  async responses() {
    const response = await gateway.client.responses.stream({ model: 'm', input: 'Tell' }).finalResponse();
    return [response.output_text, response.status];
  },
  async messages() {
    const messages = [{ role: 'user' as const, content: 'Tell' }];
    const message = await claudeAt(gateway).messages.stream({ model: 'm', max_tokens: 99, messages }).finalMessage();
    return [
      message.content.map((block) => (block.type === 'text' ? block.text : block.type)).join('|'),
      message.stop_reason,
    ];
  },
  async gemini() {
    let said = '';
    let reason: unknown;
    for await (const chunk of await geminiAt(gateway).models.generateContentStream({ model: 'm', contents: 'Tell' })) {
      said += chunk.text ?? '';
      reason = chunk.candidates?.[0]?.finishReason ?? reason;
    }
    return [said, reason];
  },
};
const ends = { chat: 'stop', responses: 'completed', messages: 'end_turn', gemini: 'STOP' };
const names = ['chat', 'responses', 'messages', 'gemini'] as const;
const thens: Then[] = ['an error event', 'a reset', 'the end of the connection'];
const cases = (['openai', 'anthropic', 'gemini'] as const).flatMap((dialect) =>
  names.flatMap((client) => thens.map((then) => ({ dialect, client, then }))),
);

describe.each(cases)('an answer of $dialect that is followed by $then', ({ dialect, client, then }) => {
  test(`reaches the client of ${client} once, and is bought once`, async () => {
    await start(dialect, words, then);
    expect(await clients[client]()).toEqual([text, ends[client]]);
    expect(upstream.seen).toHaveLength(1);
    expect(await gateway.record()).toMatchObject({ outcome: 'ok', attempts: [{ failure: null }] });
  });
});

describe.each(['openai', 'gemini'] as const)('one event of %s that is too large to be held', (dialect) => {
  test.each(names)('and has its finish reason at its end is the whole answer to the client of %s', async (client) => {
    await start(dialect, [], 'the end of the connection');
    const said = 'word "finishReason": "OTHER", "finish_reason":"other" '.repeat(14_000);
    upstream.answer((_request, response) => {
      if (dialect === 'gemini') return gemini.sendEvents(response, [gemini.answered([{ text: said }])]);
      return chat.sendStream(response, `${chat.chunk({ role: 'assistant', content: said }, 'stop')}data: [DONE]\n\n`);
    });
    const [told, reason] = await clients[client]();
    expect([told === said, reason]).toEqual([true, ends[client]]);
    expect(upstream.seen).toHaveLength(1);
    expect(await gateway.record()).toMatchObject({ outcome: 'ok', attempts: [{ failure: null }] });
  });
});

describe.each(['responses', 'messages', 'gemini'] as const)(
  'a chat that says [DONE] without a finish reason',
  (client) => {
    test.each([
      ['in the middle of its text', words.slice(0, 20)],
      ['after 200 kB', long],
    ])(`%s is told to the client of ${client} as broken, with its text`, async (_when, texts) => {
      await start('openai', [], 'a reset');
      upstream.answer(async (_request, response) => {
        eventStream(response);
        const chunks = [{ role: 'assistant' }, ...texts.map((content) => ({ content }))].map((delta) =>
          chat.chunk(delta),
        );
        await writePieces(response, Buffer.from(`${chunks.join('')}data: [DONE]\n\n`), []);
        response.end();
      });
      await expect(clients[client]()).rejects.toThrow();
      const row = await gateway.record();
      expect(row.outcome).toBe('stream-broken');
      // It is continued like any other break, and each attempt is booked.
      expect(row.attempts.map(({ failure, usageCertainty }) => [failure, usageCertainty])).toEqual(
        upstream.seen.map(() => ['stream-broken', 'estimated']),
      );
    });
  },
);

test('an answer of 200 kB is whole as well, and what the upstream said is in the record', async () => {
  await start('openai', long, 'an error event');
  expect(await clients.messages()).toEqual([long.join(''), 'end_turn']);
  expect((await gateway.record()).attempts).toMatchObject([{ failure: null, error: expect.stringContaining('late') }]);
});

test('a service that gives a finish reason with each piece has not finished when it breaks', async () => {
  await start('openai', [], 'a reset');
  upstream.answer(async (_request, response) => {
    eventStream(response);
    await writePieces(response, Buffer.from(words.map((content) => chat.chunk({ content }, 'stop')).join('')), []);
    response.destroy();
  });
  await expect(clients.chat()).rejects.toThrow();
  expect((await gateway.record()).outcome).toBe('stream-broken');
});
