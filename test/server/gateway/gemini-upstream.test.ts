import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { forgetFailures, mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { claudeAt } from '../../support/sdk-clients.ts';
import { bodyOf } from '../../support/strict-chat.ts';
import {
  answered,
  geminiKey,
  generated,
  sendEvents,
  sendGoogleError,
  strictGemini,
  usageMetadata,
} from '../../support/strict-gemini.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let chat: OpenAI;
let claude: Anthropic;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    config: {
      groups: [{ id: 'default', policy: { retries: 0 } }],
      providers: [mainProvider(`${upstream.origin}/v1beta`, { dialect: 'gemini', models: ['gemini-3-pro', '*'] })],
    },
    secrets: { 'provider/main/c1': geminiKey },
  });
  chat = gateway.client;
  claude = claudeAt(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(async () => {
  await forgetFailures(gateway);
  upstream.seen.length = 0;
});

const model = 'gemini-3-pro';
const hello = { model, messages: [{ role: 'user' as const, content: 'Hi' }] };
const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'The weather of a place',
    parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  },
};
const call = (place: string, thoughtSignature?: string) => ({
  functionCall: { name: 'weather', args: { place } },
  ...(thoughtSignature && { thoughtSignature }),
});

function seenBody() {
  const [seen] = upstream.seen;
  return seen && bodyOf(seen);
}

describe('a chat', () => {
  test('is answered, with what it used', async () => {
    upstream.answer(strictGemini((_call, response) => json(response, answered([{ text: 'Hello there' }]))));
    const { data, response } = await chat.chat.completions
      .create({ ...hello, messages: [{ role: 'system', content: 'Be brief.' }, ...hello.messages], max_tokens: 99 })
      .withResponse();
    expect(data).toMatchObject({
      model,
      choices: [{ message: { content: 'Hello there' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 30,
        completion_tokens: 9,
        prompt_tokens_details: { cached_tokens: 10 },
        completion_tokens_details: { reasoning_tokens: 4 },
      },
    });
    expect(upstream.seen[0]?.url).toBe('/v1beta/models/gemini-3-pro:generateContent');
    expect(seenBody()).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { maxOutputTokens: 99 },
    });
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({
      outcome: 'ok',
      usage: { inputTokens: 30, outputTokens: 9, cachedInputTokens: 10, reasoningTokens: 4 },
      usageCertainty: 'reported',
    });
  });

  test('is streamed', async () => {
    upstream.answer(
      strictGemini(({ verb, isSse }, response) => {
        expect([verb, isSse]).toEqual(['streamGenerateContent', true]);
        const events = [generated([{ text: 'Hm', thought: true }]), generated([{ text: 'Hel' }])];
        sendEvents(response, [...events, answered([{ text: 'lo' }])]);
      }),
    );
    const { data, response } = await chat.chat.completions
      .create({ ...hello, stream: true, stream_options: { include_usage: true } })
      .withResponse();
    const deltas: unknown[] = [];
    let used: unknown;
    for await (const { choices, usage } of data) {
      if (choices[0]?.delta.content) deltas.push(choices[0].delta.content);
      used = usage ?? used;
    }
    expect(deltas).toEqual(['Hel', 'lo']);
    expect(used).toMatchObject({ prompt_tokens: 30, completion_tokens: 9 });
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({ outcome: 'ok', stream: true, usage: { inputTokens: 30, outputTokens: 9 } });
  });

  test('calls tools over three turns, with signatures where the client has lost them', async () => {
    const turns = [
      [{ text: 'Let me look.' }, call('Bonn', 'c2lnbmF0dXJl')],
      [call('Rome', 'c2lnbmVk'), call('Oslo')],
      [{ text: 'Bonn is wet, Rome is dry, Oslo is cold.' }],
    ];
    upstream.answer(
      strictGemini(({ body }, response) => {
        const asked = (body.contents as { role: string }[]).filter(({ role }) => role === 'model').length;
        json(response, answered(turns[asked] ?? []));
      }),
    );
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Bonn, Rome or Oslo?' }];
    const places: unknown[] = [];
    for (;;) {
      const { choices } = await chat.chat.completions.create({ model, messages, tools: [weather] });
      const { message, finish_reason: reason } = choices[0] ?? expect.unreachable();
      const calls = (message.tool_calls ?? []).filter((each) => each.type === 'function');
      // A client that does not know signatures.
      const plain = calls.map(({ id, type, function: { name, arguments: given } }) => ({
        id,
        type,
        function: { name, arguments: given },
      }));
      messages.push({ role: 'assistant', content: message.content, ...(plain.length > 0 && { tool_calls: plain }) });
      if (reason !== 'tool_calls') break;
      for (const { id, function: called } of calls) {
        places.push(JSON.parse(called.arguments));
        messages.push({ role: 'tool', tool_call_id: id, content: `weather of ${JSON.parse(called.arguments).place}` });
      }
    }
    expect(places).toEqual([{ place: 'Bonn' }, { place: 'Rome' }, { place: 'Oslo' }]);
    expect(messages.at(-1)).toMatchObject({ content: 'Bonn is wet, Rome is dry, Oslo is cold.' });
    const last = upstream.seen.at(-1);
    const standIn = expect.any(String);
    expect(last && bodyOf(last).contents).toMatchObject([
      { role: 'user' },
      { role: 'model', parts: [{ text: 'Let me look.' }, { ...call('Bonn'), thoughtSignature: standIn }] },
      { role: 'user', parts: [{ functionResponse: { name: 'weather', response: { output: 'weather of Bonn' } } }] },
      { role: 'model', parts: [{ ...call('Rome'), thoughtSignature: standIn }, call('Oslo')] },
      {
        role: 'user',
        parts: [
          { functionResponse: { response: { output: 'weather of Rome' } } },
          { functionResponse: { response: { output: 'weather of Oslo' } } },
        ],
      },
    ]);
  });

  test('may contain images and a response schema', async () => {
    upstream.answer(strictGemini((_call, response) => json(response, answered([{ text: '{"animal":"cat"}' }]))));
    const schema = { type: 'object', properties: { animal: { type: 'string' } } };
    await chat.chat.completions.create({
      model,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } },
          ],
        },
      ],
      response_format: { type: 'json_schema', json_schema: { name: 'animal', schema } },
    });
    expect(seenBody()).toMatchObject({
      contents: [{ parts: [{ text: 'What is it?' }, { inlineData: { mimeType: 'image/png', data: 'aGVsbG8=' } }] }],
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
    });
  });

  test('whose prompt is blocked gets an empty answer', async () => {
    upstream.answer(
      strictGemini((_call, response) => json(response, { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata })),
    );
    const { choices } = await chat.chat.completions.create(hello);
    expect(choices).toMatchObject([{ finish_reason: 'content_filter' }]);
  });

  test.each([
    [400, 'INVALID_ARGUMENT', 'Bad', 400, null],
    [429, 'RESOURCE_EXHAUSTED', 'Slow', 429, 'rate_limit_exceeded'],
    [404, 'NOT_FOUND', 'models/x is not found', 404, 'model_not_found'],
    [503, 'UNAVAILABLE', 'The model is overloaded.', 503, 'server_overloaded'],
    [400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', 502, 'provider_credential_refused'],
  ])('is refused with %i %s: %s', async (code, status, message, told, name) => {
    upstream.answer((_request, response) => sendGoogleError(response, code, status, message));
    for (const stream of [false, true]) {
      const thrown = await chat.chat.completions.create({ ...hello, stream }).then(
        () => expect.unreachable(),
        (error: InstanceType<typeof OpenAI.APIError>) => error,
      );
      expect([thrown.status, thrown.code]).toEqual([told, name]);
    }
  });

  test('that breaks off is not reported as complete', async () => {
    upstream.answer(strictGemini((_call, response) => sendEvents(response, [generated([{ text: 'Hel' }])])));
    const stream = await chat.chat.completions.create({ ...hello, stream: true });
    const read = async () => {
      for await (const _chunk of stream);
    };
    await expect(read()).rejects.toThrow();
  });
});

describe('a message of Anthropic’s API', () => {
  const asked = { ...hello, max_tokens: 100 };

  test('is answered, whole and streamed', async () => {
    upstream.answer(
      strictGemini(({ isSse }, response) => {
        const answer = answered([{ text: 'Hello' }]);
        if (isSse) sendEvents(response, [answer]);
        else json(response, answer);
      }),
    );
    const whole = await claude.messages.create(asked);
    const streamed = await claude.messages.stream(asked).finalMessage();
    for (const message of [whole, streamed]) {
      expect(message).toMatchObject({
        content: [{ type: 'text', text: 'Hello' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 20, cache_read_input_tokens: 10, output_tokens: 9 },
      });
    }
  });

  test('brings a signature back with the call that it belongs to', async () => {
    upstream.answer(
      strictGemini(({ body }, response) => {
        const isFirst = (body.contents as unknown[]).length === 1;
        const thought = { text: 'Hm', thought: true };
        json(response, answered(isFirst ? [thought, call('Bonn', 'c2lnbmF0dXJl')] : [{ text: 'Wet' }]));
      }),
    );
    const tools = [{ name: 'weather', input_schema: { type: 'object' as const } }];
    const thinking = { type: 'enabled' as const, budget_tokens: 2000 };
    const request = { ...asked, max_tokens: 3000, tools, thinking };
    const { content } = await claude.messages.create(request);
    const [use] = content.filter((block) => block.type === 'tool_use');
    const result = { type: 'tool_result' as const, tool_use_id: use?.id ?? '', content: 'wet' };
    const messages = [
      ...hello.messages,
      { role: 'assistant' as const, content },
      { role: 'user' as const, content: [result] },
    ];
    const reply = await claude.messages.create({ ...request, messages });
    expect(reply.content).toMatchObject([{ text: 'Wet' }]);
    const last = upstream.seen.at(-1);
    const contents = (last ? bodyOf(last).contents : []) as { parts: object[] }[];
    expect(contents[1]?.parts.at(-1)).toMatchObject(call('Bonn', 'c2lnbmF0dXJl'));
  });
});
