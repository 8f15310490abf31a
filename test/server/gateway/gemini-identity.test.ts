import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { geminiAt } from '../../support/sdk-clients.ts';
import {
  answered,
  geminiKey,
  generated,
  sendArray,
  sendEvents,
  sendGoogleError,
  usageMetadata,
} from '../../support/strict-gemini.ts';
import {
  eventStream,
  json,
  oddCuts,
  type ScriptedUpstream,
  sendPieces,
  startUpstream,
} from '../../support/upstream.ts';

let first: ScriptedUpstream;
let second: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  first = await startUpstream();
  second = await startUpstream();
  const provider = (upstream: ScriptedUpstream, id: string, models: string[]) =>
    mainProvider(`${upstream.origin}/v1beta`, { id, dialect: 'gemini', models });
  gateway = await startGateway({
    config: {
      groups: [{ id: 'default', policy: { retries: 0, fallbacks: 1 } }],
      providers: [
        provider(first, 'main', ['gemini-3-pro', 'only-first']),
        provider(second, 'second', ['gemini-3-pro']),
      ],
      aliases: [{ name: 'fast', targets: [{ provider: 'main', model: 'gemini-3-flash' }] }],
    },
    secrets: { 'provider/main/c1': geminiKey, 'provider/second/c1': 'second-secret' },
  });
});
afterAll(async () => {
  await gateway.stop();
  await first.stop();
  await second.stop();
});
beforeEach(async () => {
  first.seen.length = 0;
  second.seen.length = 0;
  for (const id of ['main', 'second']) await gateway.gateway.execute({ type: 'provider.reset-health', id });
});

// Google's own order and spelling of fields, and one that Sluice does not know.
const body =
  '{ "contents": [{"parts":[{"text":"Grüße"}]}],\n  "generation_config": {"top_k": 5}, "somethingNew": 1e2, "model": "models/other" }';
const ask = (path: string, more: RequestInit = {}) =>
  fetch(`${gateway.origin}/v1beta/models/${path}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': testKey, 'content-type': 'application/json' },
    body,
    ...more,
  });
const recordOf = (response: Response) => gateway.record(response.headers.get('x-sluice-request-id') ?? '');

describe('a request in Gemini’s format to a provider of Gemini’s API passes unchanged', () => {
  test('to the address of the verb and the model, with the provider’s key', async () => {
    const told = JSON.stringify(answered([{ text: 'Hallo', thoughtSignature: 'x' }]), null, 2);
    first.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json; charset=UTF-8' }).end(told);
    });
    const response = await ask('only-first:generateContent?fields=candidates&key=secret');
    expect(await response.text()).toBe(told);
    const [seen] = first.seen;
    expect(seen?.url).toBe('/v1beta/models/only-first:generateContent?fields=candidates');
    expect(seen?.body.toString()).toBe(body);
    expect(seen?.headers['x-goog-api-key']).toBe(geminiKey);
    expect(await recordOf(response)).toMatchObject({
      outcome: 'ok',
      usage: { inputTokens: 30, outputTokens: 9, cachedInputTokens: 10, reasoningTokens: 4 },
      usageCertainty: 'reported',
    });
  });

  test('except the model name, if an alias names another model', async () => {
    first.answer((_request, response) => json(response, answered([{ text: 'Hallo' }])));
    await ask('fast:generateContent');
    expect(first.seen[0]?.url).toBe('/v1beta/models/gemini-3-flash:generateContent');
  });

  const events = [
    generated([{ text: 'Hm', thought: true }]),
    generated([{ text: 'Hal' }], { finishReason: 'STOP', usageMetadata: { promptTokenCount: 3 } }),
    answered([{ text: '{"lo":[1]}, "' }]),
  ];
  test.each([
    [
      'streamGenerateContent?alt=sse',
      'text/event-stream',
      `${events.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join('')}`,
    ],
    [
      'streamGenerateContent',
      'application/json; charset=UTF-8',
      `[${events.map((each) => JSON.stringify(each, null, 2)).join(',\r\n')}\r\n]`,
    ],
  ])('and the stream of :%s is returned unchanged', async (verb, type, told) => {
    const bytes = Buffer.from(told);
    first.answer((_request, response) => {
      response.writeHead(200, { 'content-type': type });
      return sendPieces(response, bytes, oddCuts(bytes.length));
    });
    const response = await ask(`only-first:${verb}`);
    expect(await response.text()).toBe(told);
    expect(response.headers.get('content-type')).toBe(type);
    expect(first.seen[0]?.url).toBe(`/v1beta/models/only-first:${verb}`);
    expect(await recordOf(response)).toMatchObject({ outcome: 'ok', stream: true, usage: { inputTokens: 30 } });
  });

  test('and Google’s SDK finds all of the answer', async () => {
    first.answer((_request, response) => sendEvents(response, events));
    const client = geminiAt(gateway);
    const texts: unknown[] = [];
    const stream = await client.models.generateContentStream({ model: 'only-first', contents: 'Hi' });
    for await (const { text } of stream) texts.push(text);
    expect(texts.join('')).toBe('Hal{"lo":[1]}, "');
  });
});

test('a blocked prompt is relayed as the answer, and no other provider is asked', async () => {
  const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata };
  for (const [verb, send] of [
    ['generateContent', json],
    [
      'streamGenerateContent?alt=sse',
      (response: Parameters<typeof json>[0], value: typeof blocked) => sendEvents(response, [value]),
    ],
    [
      'streamGenerateContent',
      (response: Parameters<typeof json>[0], value: typeof blocked) => sendArray(response, [value]),
    ],
  ] as const) {
    first.answer((_request, response) => send(response, blocked));
    const response = await ask(`gemini-3-pro:${verb}`);
    expect(await response.text()).toContain('SAFETY');
    expect(await recordOf(response)).toMatchObject({ outcome: 'ok', attempts: [{ provider: 'main' }] });
  }
});

describe('an error', () => {
  const quota = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }];

  test.each([
    ['of the request is relayed', 400, 'INVALID_ARGUMENT', 'Bad', undefined, 'rejected'],
    ['of a rate is had from the next', 429, 'RESOURCE_EXHAUSTED', 'Slow', quota, 'rate-limit'],
    [
      'of the key is had from the next',
      400,
      'INVALID_ARGUMENT',
      'API key not valid. Pass one.',
      undefined,
      'credential',
    ],
    ['of the account is had from the next', 403, 'PERMISSION_DENIED', 'No', undefined, 'credential'],
    [
      'of the region is had from the next',
      400,
      'FAILED_PRECONDITION',
      'User location is not supported',
      undefined,
      'model-unavailable',
    ],
    ['of billing is had from the next', 400, 'FAILED_PRECONDITION', 'Enable billing', undefined, 'quota'],
    ['of credit that is used up is had from the next', 402, 'RESOURCE_EXHAUSTED', 'Prepaid', undefined, 'quota'],
    ['of the model is had from the next', 404, 'NOT_FOUND', 'models/x is not found', undefined, 'model-unavailable'],
    ['of load is had from the next', 503, 'UNAVAILABLE', 'Overloaded', undefined, 'transient'],
    [
      'of the length is had from who may take more',
      400,
      'INVALID_ARGUMENT',
      'The input token count (9001) exceeds the maximum number of tokens allowed (8192).',
      undefined,
      'too-large',
    ],
  ] as const)('%s: %i %s', async (_name, code, status, message, details, failure) => {
    first.answer((_request, response) => sendGoogleError(response, code, status, message, details && [...details]));
    second.answer((_request, response) => json(response, answered([{ text: 'Hallo' }])));
    const response = await ask('gemini-3-pro:generateContent');
    const { attempts } = await recordOf(response);
    expect(attempts[0]?.failure).toBe(failure);
    const isRelayed = failure === 'rejected' || failure === 'too-large';
    expect([response.status, attempts.length]).toEqual(isRelayed ? [code, 1] : [200, 2]);
    if (isRelayed) expect((await response.json()).error).toMatchObject({ code, status, message });
  });

  test('in place of a stream’s first event leads to the next target', async () => {
    const error = { error: { code: 503, status: 'UNAVAILABLE', message: 'Overloaded' } };
    for (const query of ['?alt=sse', '']) {
      const send = query === '' ? sendArray : sendEvents;
      first.answer((_request, response) => send(response, [error]));
      second.answer((_request, response) => send(response, [answered([{ text: 'Hallo' }])]));
      const response = await ask(`gemini-3-pro:streamGenerateContent${query}`);
      expect(await response.text()).toContain('Hallo');
      expect(await recordOf(response)).toMatchObject({ outcome: 'ok', provider: 'second' });
    }
  });
});

describe('a stream', () => {
  test.each([
    ['?alt=sse', /Hal.*data: \{"error":\{"code":503,.*\}\}\r\n\r\n$/s],
    ['', /Hal.*,\r\n\{"error":\{"code":503,.*\}\}\]$/s],
  ])('that ends without a reason has broken off, and says so (%j)', async (query, told) => {
    const events = [generated([{ text: 'Hal' }])];
    first.answer((_request, response) => {
      if (query !== '') return sendEvents(response, events);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`[${JSON.stringify(events[0])}`);
    });
    const response = await ask(`only-first:streamGenerateContent${query}`);
    expect(await response.text()).toMatch(told);
    expect(await recordOf(response)).toMatchObject({ outcome: 'stream-broken' });
  });

  test('of thoughts alone has no reason, and is complete by their count', async () => {
    const thought = { ...generated([{ text: 'Hm', thought: true }]), usageMetadata };
    first.answer((_request, response) => sendEvents(response, [thought]));
    const response = await ask('only-first:streamGenerateContent?alt=sse');
    await response.text();
    expect(await recordOf(response)).toMatchObject({ outcome: 'ok' });
  });

  test('that breaks off at its connection is told as broken', async () => {
    first.answer((_request, response) => {
      eventStream(response);
      response.write(`data: ${JSON.stringify(generated([{ text: 'Hal' }]))}\r\n\r\n`, () => response.destroy());
    });
    const response = await ask('only-first:streamGenerateContent?alt=sse');
    expect(await response.text()).toContain('"status":"UNAVAILABLE"');
  });

  test('that comes whole is told as the stream that was asked for', async () => {
    first.answer((_request, response) => json(response, answered([{ text: 'Hallo' }])));
    const events = await (await ask('only-first:streamGenerateContent?alt=sse')).text();
    expect(events).toMatch(/^data: \{.*"Hallo".*\}\r\n\r\n$/);
  });
});

describe('tokens are counted', () => {
  test('by the provider', async () => {
    first.answer((_request, response) => json(response, { totalTokens: 31, cachedContentTokenCount: 10 }));
    const response = await ask('only-first:countTokens');
    expect(await response.json()).toEqual({ totalTokens: 31, cachedContentTokenCount: 10 });
    expect(response.headers.has('x-sluice-estimated')).toBe(false);
    expect(first.seen[0]?.url).toBe('/v1beta/models/only-first:countTokens');
    expect(await recordOf(response)).toMatchObject({ outcome: 'ok', usage: null, costUsd: 0 });
  });

  test('by Sluice if the provider cannot count them at the moment', async () => {
    first.answer((_request, response) => sendGoogleError(response, 503, 'UNAVAILABLE', 'Overloaded'));
    const response = await ask('only-first:countTokens');
    expect(response.headers.get('x-sluice-estimated')).toBe('totalTokens');
    expect((await response.json()).totalTokens).toBeGreaterThan(0);
  });
});
