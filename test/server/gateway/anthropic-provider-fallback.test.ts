/** One alias with targets of several dialects: Claude, then GPT, then a local model. */
import type Anthropic from '@anthropic-ai/sdk';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { claudeAt } from '../../support/sdk-clients.ts';
import {
  anthropicKey,
  begun,
  blockEvents,
  bodyOf,
  send,
  sendError,
  strictAnthropic,
  text,
  thought,
  toolUse,
} from '../../support/strict-anthropic.ts';
import { chunk, completion, sendStream, streamOf, strictChat, toolCall } from '../../support/strict-chat.ts';
import { eventStream, json, type Script, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let claude: ScriptedUpstream;
let gpt: ScriptedUpstream;
let local: ScriptedUpstream;
let gateway: TestGateway;
let client: Anthropic;
const model = 'best';

beforeEach(async () => {
  [claude, gpt, local] = [await startUpstream(), await startUpstream(), await startUpstream()];
});
afterEach(async () => {
  await gateway.stop();
  for (const upstream of [claude, gpt, local]) await upstream.stop();
});

type Policy = NonNullable<NonNullable<ConfigInput['groups']>[number]['policy']>;

const modelOf: Record<string, string> = { claude: 'claude-opus-5-5', gpt: 'gpt-x', local: 'qwen' };

/** `order` is the order of the alias's targets. */
async function start(policy: Policy = {}, order = Object.keys(modelOf)): Promise<void> {
  const credentials = [{ id: 'c1' }];
  const models = ['*'];
  gateway = await startGateway({
    config: {
      providers: [
        { id: 'claude', dialect: 'anthropic', baseUrl: claude.origin, credentials, models },
        { id: 'gpt', baseUrl: gpt.baseUrl, credentials, models },
        { id: 'local', baseUrl: local.baseUrl, models },
      ],
      aliases: [
        {
          name: model,
          targets: order.map((provider, priority) => ({ provider, model: modelOf[provider] ?? '', priority })),
        },
      ],
      groups: [{ id: 'default', policy: { retries: 0, fallbacks: 2, ...policy } }],
    },
    secrets: { 'provider/claude/c1': anthropicKey, 'provider/gpt/c1': 'secret-of-gpt' },
  });
  client = claudeAt(gateway);
}

const overloaded: Script = (_request, response) => sendError(response, 529, 'overloaded_error', 'Overloaded');
const down: Script = (_request, response) =>
  json(response, { error: { message: 'Down', type: 'server_error', code: null } }, 503);
const claudeSays = (said: string) => strictAnthropic((body, response) => send(response, body, [text(said)]));
const chatSays = (said: string) =>
  strictChat((body, response) =>
    body.stream === true
      ? sendStream(response, streamOf([{ content: said }]))
      : json(response, completion({ content: said })),
  );

const hello = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };

/** The answers that each of the two SDKs receives, and the ledger's records of their targets. */
async function askBoth(stream: boolean) {
  const chat = await heardByChat(stream);
  const messages = await heardByAnthropic(stream);
  const records = [];
  for (const { id } of [chat, messages]) records.push(await gateway.record(id));
  return {
    heard: [chat.said, messages.said],
    providers: records.map(({ provider }) => provider),
    asked: records.map(({ attempts }) => attempts.map(({ provider }) => provider)),
    outcomes: records.map(({ outcome, usageCertainty }) => [outcome, usageCertainty]),
  };
}

async function heardByChat(stream: boolean) {
  const asked = { model, messages: hello.messages };
  if (!stream) {
    const { data, response } = await gateway.client.chat.completions.create(asked).withResponse();
    return { said: data.choices[0]?.message.content, id: response.headers.get('x-sluice-request-id') ?? '' };
  }
  const { data, response } = await gateway.client.chat.completions.create({ ...asked, stream }).withResponse();
  let said = '';
  for await (const { choices } of data) said += choices[0]?.delta.content ?? '';
  return { said, id: response.headers.get('x-sluice-request-id') ?? '' };
}

async function heardByAnthropic(stream: boolean) {
  const told = client.messages.stream(hello);
  const { data, response } = stream
    ? { data: await told.finalMessage(), response: (await told.withResponse()).response }
    : await client.messages.create(hello).withResponse();
  if (!stream) told.abort();
  const said = data.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return { said, id: response.headers.get('x-sluice-request-id') ?? '' };
}

describe.each([false, true])('before the first byte (stream: %s)', (stream) => {
  test('the first healthy one answers both APIs', async () => {
    await start();
    claude.answer(claudeSays('Claude'));
    const { heard, providers, outcomes } = await askBoth(stream);
    expect([heard, providers]).toEqual([
      ['Claude', 'Claude'],
      ['claude', 'claude'],
    ]);
    expect(outcomes).toEqual([
      ['ok', 'reported'],
      ['ok', 'reported'],
    ]);
  });

  test('the last provider is asked in its own API if the others are down', async () => {
    await start();
    claude.answer(overloaded);
    gpt.answer(down);
    local.answer(chatSays('Local'));
    const { heard, providers, asked, outcomes } = await askBoth(stream);
    expect([heard, providers]).toEqual([
      ['Local', 'Local'],
      ['local', 'local'],
    ]);
    expect(asked[0]).toEqual(['claude', 'gpt', 'local']);
    expect(outcomes).toEqual([
      ['ok', 'reported'],
      ['ok', 'reported'],
    ]);
    expect(claude.seen[0]?.url).toBe('/v1/messages');
    expect(gpt.seen[0]?.url).toBe('/v1/chat/completions');
  });
});

test('a request that one provider refuses as invalid is sent to no other', async () => {
  await start();
  claude.answer((_request, response) => sendError(response, 400, 'invalid_request_error', 'messages: odd'));
  const asked = gateway.client.chat.completions.create({ model, messages: hello.messages });
  await expect(asked).rejects.toMatchObject({ status: 400 });
  expect([gpt.seen.length, local.seen.length]).toEqual([0, 0]);
});

test('an account without credit is skipped', async () => {
  await start();
  const said = 'Your credit balance is too low to access the Anthropic API.';
  claude.answer((_request, response) => sendError(response, 400, 'invalid_request_error', said));
  gpt.answer(chatSays('GPT'));
  expect((await heardByChat(false)).said).toBe('GPT');
});

test('a silent provider is hedged with another one, and the first answer is used', async () => {
  await start({ hedgeAfterMs: 20 });
  const left = new Promise<void>((resolve) => {
    claude.answer((_request, response) => void response.once('close', resolve));
  });
  gpt.answer(chatSays('GPT'));
  expect((await heardByChat(true)).said).toBe('GPT');
  await left;
});

test('a fallback model receives tool calls and results, but not the reasoning of another model', async () => {
  await start();
  const tools = [{ name: 'weather', input_schema: { type: 'object' as const, properties: {} } }];
  claude.answer(
    strictAnthropic((body, response) =>
      send(response, body, [thought('I look.'), toolUse('toolu_1', 'weather', {})], 'tool_use'),
    ),
  );
  const first = await client.messages.create({ ...hello, tools });
  claude.answer(overloaded);
  gpt.answer(
    strictChat((_body, response) =>
      json(response, completion({ tool_calls: [toolCall('call_2', 'weather', {})] }, 'tool_calls')),
    ),
  );
  const messages: Anthropic.MessageParam[] = [
    ...hello.messages,
    { role: 'assistant', content: first.content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'rain' }] },
  ];
  const { data: second, response } = await client.messages.create({ ...hello, tools, messages }).withResponse();
  expect(gpt.seen[0] && bodyOf(gpt.seen[0]).messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ id: 'toolu_1' }] },
    { role: 'tool', tool_call_id: 'toolu_1', content: 'rain' },
  ]);
  expect(response.headers.get('x-sluice-dropped')).toContain('messages[1].content[0];why=');
  claude.answer(claudeSays('Wet.'));
  messages.push({ role: 'assistant', content: second.content });
  messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_2', content: 'more rain' }] });
  gpt.answer(down);
  local.answer(chatSays('Wet.'));
  expect((await client.messages.create({ ...hello, tools, messages })).content).toMatchObject([{ text: 'Wet.' }]);
});

describe('a stream that breaks off after its beginning', () => {
  const breaks: Script = (_request, response) => {
    eventStream(response);
    response.write(begun + blockEvents(0, text('Once')), () => response.destroy());
  };

  test('of Claude ends for a chat with an error where the others need no translation', async () => {
    await start();
    claude.answer(breaks);
    gpt.answer(chatSays('GPT'));
    await expect(heardByChat(true)).rejects.toMatchObject({
      message: expect.stringMatching(/disconnected|terminated/i),
    });
    expect(gpt.seen.length).toBe(0);
  });

  test('of GPT ends for a chat with an error where only Claude is left', async () => {
    await start({ fallbacks: 1 }, ['gpt', 'claude']);
    gpt.answer((_request, response) => {
      eventStream(response);
      response.write(chunk({ content: 'Once' }), () => response.destroy());
    });
    claude.answer(claudeSays('Once upon a time'));
    let said = '';
    const { data, response } = await gateway.client.chat.completions
      .create({ model, messages: hello.messages, stream: true })
      .withResponse();
    const read = async () => {
      for await (const { choices } of data) said += choices[0]?.delta.content ?? '';
    };
    await expect(read()).rejects.toMatchObject({ message: expect.stringMatching(/disconnected/) });
    expect([said, claude.seen.length]).toEqual(['Once', 0]);
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record.attempts.map(({ provider, failure }) => [provider, failure])).toEqual([
      ['gpt', 'stream-broken'],
      ['claude', 'rejected'],
    ]);
  });

  test('of GPT is continued for a chat by the next of its API, past Claude', async () => {
    await start({}, ['gpt', 'claude', 'local']);
    gpt.answer((_request, response) => {
      eventStream(response);
      response.write(chunk({ content: 'Once' }), () => response.destroy());
    });
    claude.answer(claudeSays('Once upon a time'));
    local.answer(chatSays('Once upon a time'));
    expect((await heardByChat(true)).said).toBe('Once upon a time');
    expect([claude.seen.length, local.seen.length]).toEqual([0, 1]);
  });

  test('of GPT is continued for a client of Anthropic’s API by the next that is translated', async () => {
    await start();
    claude.answer(overloaded);
    gpt.answer((_request, response) => {
      eventStream(response);
      response.write(chunk({ content: 'Once' }), () => response.destroy());
    });
    local.answer(chatSays('Once upon a time'));
    const { content } = await client.messages.stream(hello).finalMessage();
    expect(content).toEqual([expect.objectContaining({ type: 'text', text: 'Once upon a time' })]);
    expect(local.seen.length).toBe(1);
  });
});
