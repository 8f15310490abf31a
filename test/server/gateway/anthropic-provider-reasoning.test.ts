/**
 * Claude's thoughts are returned to it, whether or not the client can carry them, and are left out if they are refused.
 */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import {
  anthropicKey,
  bodyOf,
  send,
  sendError,
  signatureOf,
  strictAnthropic,
  text,
  thought,
  toolUse,
} from '../../support/strict-anthropic.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { temporaryFolder } from '../store/sqlite/records.ts';

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let folder: string;
const otherKey = 'sk-test-of-another';

beforeEach(async () => {
  upstream = await stopLater(startUpstream());
  folder = temporaryFolder();
  await start();
});

async function start(config: Partial<ConfigInput> = {}): Promise<void> {
  gateway = await stopLater(
    startGateway({
      folder,
      config: {
        providers: [mainProvider(upstream.origin, { dialect: 'anthropic' })],
        keys: [testKey, otherKey].map((key, index) => ({ id: `k${index}`, group: 'default', hash: hashOf(key) })),
        ...config,
      },
      secrets: { 'provider/main/c1': anthropicKey, 'provider/main/c2': `${anthropicKey}-2` },
    }),
  );
}

async function restart(config: Partial<ConfigInput> = {}): Promise<void> {
  await gateway.stop();
  await start(config);
}

const model = 'claude-opus-5-5';
const weather = {
  type: 'function' as const,
  function: { name: 'weather', parameters: { type: 'object', properties: {} } },
};
const question: OpenAI.ChatCompletionMessageParam = { role: 'user', content: 'Is it wet?' };
const calling = [thought('I look.'), toolUse('toolu_1', 'weather', {})];
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'rain' }] };

/** Calls a tool, then answers. */
const looksThenTells = strictAnthropic((body, response) => {
  const isFirst = (body.messages as unknown[]).length === 1;
  send(response, body, isFirst ? calling : [text('Yes.')], isFirst ? 'tool_use' : 'end_turn');
});

/** The part of an answer that a client keeps if it only knows OpenAI's API. */
function plain({ role, content, tool_calls }: OpenAI.ChatCompletionMessage): OpenAI.ChatCompletionMessageParam {
  return { role, content, ...(tool_calls && { tool_calls }) };
}

async function firstTurn(stream = false): Promise<OpenAI.ChatCompletionMessage> {
  const asked = { model, messages: [question], tools: [weather] };
  const completion = stream
    ? await gateway.client.chat.completions.stream(asked).finalChatCompletion()
    : await gateway.client.chat.completions.create(asked);
  const message = completion.choices[0]?.message;
  if (!message) throw new Error('There is no choice.');
  return message;
}

function secondTurn(before: OpenAI.ChatCompletionMessageParam, key = testKey) {
  const messages = [question, before, { role: 'tool' as const, tool_call_id: 'toolu_1', content: 'rain' }];
  const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: key, maxRetries: 0 });
  return client.chat.completions.create({ model, messages, tools: [weather] }).withResponse();
}

/** The turn with the call in the latest request to the upstream. */
function turnSent(): unknown {
  const last = upstream.seen.at(-1);
  return last && (bodyOf(last).messages as { content: unknown }[])[1]?.content;
}

describe('a chat', () => {
  test.each([false, true])(
    'brings a thought back to its model, although it keeps none (stream: %s)',
    async (stream) => {
      upstream.answer(looksThenTells);
      const { data, response } = await secondTurn(plain(await firstTurn(stream)));
      expect(data.choices[0]?.message.content).toBe('Yes.');
      expect(turnSent()).toEqual(calling);
      expect(response.headers.has('x-sluice-dropped')).toBe(false);
    },
  );

  test('shows what was thought, and may carry it itself', async () => {
    upstream.answer(looksThenTells);
    const message = await firstTurn();
    expect(message).toMatchObject({ reasoning_content: 'I look.', reasoning_details: [{ type: 'reasoning.text' }] });
    await secondTurn(message, otherKey);
    expect(turnSent()).toEqual(calling);
  });

  test('brings it back also after a restart', async () => {
    upstream.answer(looksThenTells);
    const message = await firstTurn();
    await restart();
    await secondTurn(plain(message));
    expect(turnSent()).toEqual(calling);
  });

  test('gets no reasoning back that belongs to another key', async () => {
    upstream.answer(looksThenTells);
    await secondTurn(plain(await firstTurn()), otherKey);
    expect(turnSent()).toEqual([calling[1]]);
  });

  test('continues without the thought at another account, and reports the loss', async () => {
    upstream.answer(looksThenTells);
    const message = await firstTurn();
    await restart({
      providers: [mainProvider(upstream.origin, { dialect: 'anthropic', credentials: [{ id: 'c2' }] })],
    });
    const { response } = await secondTurn(plain(message));
    expect(turnSent()).toEqual([calling[1]]);
    expect(response.headers.get('x-sluice-dropped')).toBe('messages[1].tool_calls[0];why=foreign-reasoning');
  });

  test('is retried without a thought that its model refuses', async () => {
    upstream.answer(looksThenTells);
    const message = plain(await firstTurn());
    upstream.seen.length = 0;
    upstream.answer((request, response) => {
      if (request.body.includes('"signature"')) {
        sendError(
          response,
          400,
          'invalid_request_error',
          'messages.1.content.0: Invalid `signature` in `thinking` block',
        );
      } else send(response, bodyOf(request), [text('Yes.')]);
    });
    const { data, response } = await secondTurn(message);
    expect(data.choices[0]?.message.content).toBe('Yes.');
    expect(upstream.seen.length).toBe(2);
    expect(turnSent()).toEqual([calling[1]]);
    expect(response.headers.get('x-sluice-dropped')).toContain('why=foreign-reasoning');
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record.attempts.map(({ failure, cause }) => [failure, cause])).toEqual([
      ['rejected', 'first'],
      [null, 'retry'],
    ]);
  });
});

describe('a client of Anthropic’s API', () => {
  const history = (signature: string): Anthropic.MessageParam[] => [
    { role: 'user', content: 'Is it wet?' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I look.', signature },
        { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'rain' }] },
  ];
  const ask = (signature: string, headers: Record<string, string> = {}) =>
    new Anthropic({ baseURL: gateway.origin, apiKey: testKey, maxRetries: 0 }).messages
      .create(
        {
          model,
          max_tokens: 100,
          messages: history(signature),
          tools: [{ name: 'weather', input_schema: { type: 'object' } }],
        },
        { headers },
      )
      .withResponse();

  test('has its thoughts pass as they are', async () => {
    upstream.answer(looksThenTells);
    const { response } = await ask(signatureOf('I look.'));
    expect(turnSent()).toEqual(calling);
    expect(response.headers.has('x-sluice-dropped')).toBe(false);
  });

  test('is asked once more without a thought that another account has had', async () => {
    upstream.answer(looksThenTells);
    const { data, response } = await ask(signatureOf('I look.', 'of another account'));
    expect(data.content).toEqual([text('Yes.')]);
    expect(turnSent()).toEqual([calling[1]]);
    const last = upstream.seen.at(-1);
    expect(last && (bodyOf(last).messages as unknown[])[2]).toMatchObject({
      content: [{ tool_use_id: result.tool_use_id }],
    });
    expect(response.headers.get('x-sluice-dropped')).toBe('thinking;why=foreign-reasoning');
  });

  test('gets an error if it accepts no losses', async () => {
    upstream.answer(looksThenTells);
    await expect(ask('x', { 'x-sluice-lossy': 'refuse' })).rejects.toMatchObject({ status: 400 });
    expect(upstream.seen.length).toBe(1);
  });

  test('gets the refusal if it persists after one retry', async () => {
    upstream.answer((_request, response) =>
      sendError(
        response,
        400,
        'invalid_request_error',
        'messages.1.content.0: Invalid `signature` in `thinking` block',
      ),
    );
    await expect(ask('x')).rejects.toMatchObject({ status: 400, message: expect.stringContaining('signature') });
    expect(upstream.seen.length).toBe(2);
  });
});

test('accounts take turns by conversation, and not within one', async () => {
  await restart({
    providers: [mainProvider(upstream.origin, { dialect: 'anthropic', credentials: [{ id: 'c1' }, { id: 'c2' }] })],
    groups: [{ id: 'default', policy: { strategy: 'round-robin' } }],
  });
  upstream.answer(strictAnthropic((body, response) => send(response, body, [text('Hello')])));
  const accounts = async (contents: readonly string[]) => {
    upstream.seen.length = 0;
    for (const content of contents) {
      const more = [{ role: 'assistant' as const, content: 'Hello' }, question].slice(0, upstream.seen.length * 2);
      await gateway.client.chat.completions.create({ model, messages: [{ role: 'user', content }, ...more] });
    }
    return new Set(upstream.seen.map(({ headers }) => headers['x-api-key'])).size;
  };
  expect(await accounts(['Hi', 'Hi', 'Hi'])).toBe(1);
  expect(await accounts(Array.from({ length: 12 }, (_, index) => `Hi ${index}`))).toBe(2);
});
