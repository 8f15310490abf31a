import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { isSweep } from '../../support/sweep.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream, writePieces } from '../../support/upstream.ts';
import { askFor, chatWithUsage, responsesEvents, type StreamSample, samples } from './streams.ts';

/** What the client receives when a stream breaks off, listed for each of the samples. */

type Break = 'the connection breaks' | 'the stream just ends';

/**
 * `early`: nothing has been sent, and the answer is an error. `broken`: content has been sent, followed by an error.
 * `whole`: the stream is complete. `unreadable`: bytes after a stream's end are passed on unchanged, and the official
 * client fails at half of a `[DONE]`, as it does without Sluice.
 */
type End = 'early' | 'broken' | 'whole' | 'unreadable';

/**
 * If the upstream has sent at least this many bytes: the number of events that the client receives (without `[DONE]`),
 * and how the stream ends.
 */
type Outcome = [fromByte: number, events: number, end: End];

const chatMessage: Outcome[] = [
  [0, 0, 'early'],
  // The first chunk has no content, and is held until one with content follows.
  [448, 2, 'broken'],
  [654, 3, 'broken'],
];
const tools: Outcome[] = [
  [0, 0, 'early'],
  [369, 2, 'broken'],
  [641, 3, 'broken'],
  [874, 4, 'broken'],
  [1143, 5, 'broken'],
  [1378, 6, 'broken'],
];
const completions: Outcome[] = [
  [0, 0, 'early'],
  [123, 1, 'broken'],
];
const response: Outcome[] = [
  [0, 0, 'early'],
  [644, 3, 'broken'],
  [838, 4, 'broken'],
  [1018, 5, 'broken'],
  [1199, 6, 'broken'],
  [1366, 7, 'broken'],
  [1582, 8, 'broken'],
  [1844, 9, 'broken'],
];
/** One byte more per line; each event is complete with the CR of its last line end. */
const crlfResponse: Outcome[] = [
  [0, 0, 'early'],
  [652, 3, 'broken'],
  [849, 4, 'broken'],
  [1032, 5, 'broken'],
  [1216, 6, 'broken'],
  [1386, 7, 'broken'],
  [1605, 8, 'broken'],
  [1870, 9, 'broken'],
];
const inPieces = (...places: number[]): Outcome[] => [
  [0, 0, 'early'],
  ...places.map((place, index): Outcome => [place, index + 1, 'broken']),
];

/** A chat stream is whole once each choice has its `finish_reason`, a stream of typed events with its last event. */
const connectionBreaks: Record<string, Outcome[]> = {
  'chat with usage': [...chatMessage, [838, 4, 'whole'], [1113, 5, 'whole']],
  'chat with tools, reasoning and the first chunk of Azure': [...tools, [1581, 7, 'whole']],
  'chat with CRLF and several lines of data': [
    [0, 0, 'early'],
    [143, 1, 'whole'],
  ],
  // No blank line follows its `[DONE]`.
  'chat with comments, ids, no space after the colon and no last blank line': [...inPieces(227), [405, 2, 'whole']],
  completions: [...completions, [245, 2, 'whole']],
  'responses in full order': [...response, [2354, 10, 'whole']],
  'responses with [DONE]': [...crlfResponse, [2383, 10, 'whole']],
  images: [...inPieces(171), [380, 2, 'whole']],
  'image edits': [...inPieces(159), [356, 2, 'whole']],
  'transcription without event lines': [...inPieces(57, 114), [255, 3, 'whole']],
  speech: [...inPieces(82, 160), [284, 3, 'whole']],
};

/**
 * A clean end replaces a missing `[DONE]` once each choice has its `finish_reason`, and the blank line after the last
 * event.
 */
const streamJustEnds: Record<string, Outcome[]> = {
  'chat with usage': [...chatMessage, [836, 4, 'whole'], [1111, 5, 'whole']],
  'chat with tools, reasoning and the first chunk of Azure': [...tools, [1579, 7, 'whole']],
  'chat with CRLF and several lines of data': [
    [0, 0, 'early'],
    [140, 1, 'whole'],
  ],
  'chat with comments, ids, no space after the colon and no last blank line': [...inPieces(227), [403, 2, 'whole']],
  completions: [...completions, [243, 2, 'whole']],
  'responses in full order': [...response, [2352, 10, 'whole']],
  'responses with [DONE]': [...crlfResponse, [2380, 10, 'whole'], [2388, 10, 'unreadable'], [2396, 10, 'whole']],
  images: [...inPieces(171), [378, 2, 'whole']],
  'image edits': [...inPieces(159), [354, 2, 'whole']],
  'transcription without event lines': [...inPieces(57, 114), [253, 3, 'whole']],
  speech: [...inPieces(82, 160), [282, 3, 'whole']],
};

const outcomes: Record<Break, Record<string, Outcome[]>> = {
  'the connection breaks': connectionBreaks,
  'the stream just ends': streamJustEnds,
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  // Tests a single stream; fallbacks are tested elsewhere.
  const groups = [{ id: 'default', policy: { retries: 0, rescue: 'off' as const } }];
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)], groups } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

/** Reads a stream to its end with the official client. */
async function consume(sample: StreamSample, headers: Record<string, string> = {}, client = gateway.client) {
  const events: unknown[] = [];
  let id = '';
  try {
    const { data, request_id } = await ask(client, sample, headers).withResponse();
    id = request_id ?? '';
    for await (const event of data as AsyncIterable<unknown>) events.push(event);
    return { events, id, error: null };
  } catch (error) {
    return { events, id: id || (error instanceof OpenAI.APIError && error.requestID) || '', error };
  }
}

function ask(client: OpenAI, sample: StreamSample, headers: Record<string, string>) {
  const file = new File(['RIFF'], 'a.wav');
  return sample.form
    ? client.audio.transcriptions.create({ file, model: 'gpt-x', stream: true }, { headers })
    : client.post(sample.path, { headers, body: { ...sample.body, stream: true }, stream: true });
}

function breakAt(how: Break): void {
  upstream.answer(async (request, response) => {
    const cut = Number(request.headers['x-cut']);
    eventStream(response);
    response.flushHeaders();
    await writePieces(response, sampleBytes.subarray(0, cut), []);
    if (how === 'the stream just ends') response.end();
    else response.destroy();
  });
}

let sampleBytes: Buffer = Buffer.alloc(0);

const early = { 'the connection breaks': 'upstream_unreachable', 'the stream just ends': 'upstream_malformed' };

describe.each<Break>(['the connection breaks', 'the stream just ends'])('where %s', (how) => {
  const codes = { early: early[how], broken: 'upstream_stream_broken', whole: null, unreadable: 'SyntaxError' };

  test.each(samples)('the client of $name gets an error, wherever the stream is cut', async (sample) => {
    sampleBytes = sample.bytes;
    breakAt(how);
    const wanted = outcomes[how][sample.name] ?? [];
    expect(wanted.length).toBeGreaterThan(1);
    const places = Array.from({ length: sample.bytes.length + 1 }, (_, index) => index);
    const borders = wanted.flatMap(([fromByte]) => [fromByte - 1, fromByte, fromByte + 1]);
    const step = isSweep ? 5 : 40;
    const cuts = places.filter((cut) => cut % step === 0 || borders.includes(cut));
    const check = async (cut: number) => {
      const [, count, end] = wanted.findLast(([fromByte]) => fromByte <= cut) ?? [0, 0, 'early'];
      const { events, error } = await consume(sample, { 'x-cut': String(cut) });
      const code = error instanceof OpenAI.APIError ? error.code : error instanceof SyntaxError ? error.name : error;
      const isLostPurchase = end === 'early' && sample.name.startsWith('image');
      const wantedCode = isLostPurchase ? 'purchase_outcome_unknown' : codes[end];
      expect({ cut, code, events: events.length }).toEqual({ cut, code: wantedCode, events: count });
    };
    for (let next = 0; next < cuts.length; next += 8) await Promise.all(cuts.slice(next, next + 8).map(check));
  });
});

const sampleNamed = (name: string) => samples.find((sample) => sample.name === name) ?? samples[0];

async function relayed(
  path: string,
  text: string,
  how: Break,
  body: Record<string, unknown> = { model: 'gpt-x', input: 'x', messages: [] },
): Promise<{ text: string; id: string }> {
  upstream.answer(async (_request, response) => {
    eventStream(response);
    await writePieces(response, Buffer.from(text), []);
    if (how === 'the stream just ends') response.end();
    else response.destroy();
  });
  const sample = { ...samples[0], path, body } as StreamSample;
  const response = await gateway.fetch(path, askFor(sample));
  return { text: await response.text(), id: response.headers.get('x-request-id') ?? '' };
}

describe('the error event', () => {
  test('of a chat stream is the one that both SDKs raise, after the last whole event', async () => {
    const start = 'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n';
    const { text, id } = await relayed('/chat/completions', `${start}data: {"choi`, 'the connection breaks');
    expect(text.startsWith(`${start}data: {"error":{`)).toBe(true);
    const [, last = ''] = text.split('\n\n');
    expect(JSON.parse(last.slice('data: '.length))).toMatchObject({
      error: { type: 'server_error', code: 'upstream_stream_broken', param: null },
    });
    expect(await gateway.record(id)).toMatchObject({
      outcome: 'stream-broken',
      status: 200,
      errorCode: 'upstream_stream_broken',
      usage: { inputTokens: 1, outputTokens: 1 },
      usageCertainty: 'estimated',
      attempts: [{ status: 200, failure: 'stream-broken' }],
    });
  });

  test('of a Responses stream is nested, numbered, and followed by response.failed', async () => {
    const start = responsesEvents.slice(0, 5);
    const sent = start.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
    const { text } = await relayed('/responses', sent, 'the stream just ends');
    const added = text.slice(sent.length).split('\n');
    expect([added[0], added[3]]).toEqual(['event: error', 'event: response.failed']);
    expect(JSON.parse(added[1]?.slice(6) ?? '')).toMatchObject({
      type: 'error',
      sequence_number: 5,
      error: { code: 'upstream_stream_broken' },
    });
    expect(JSON.parse(added[4]?.slice(6) ?? '')).toMatchObject({
      type: 'response.failed',
      sequence_number: 6,
      response: { id: 'resp_1', status: 'failed', error: { code: 'server_error' } },
    });
  });

  test('cannot stand within a large event of which the beginning went out: there the connection breaks', async () => {
    const first = 'data: {"type":"response.output_text.delta","delta":"a"}\n\n';
    const large = `${first}event: response.completed\ndata: {"type":"response.completed","response":{"x":"${'y'.repeat(200_000)}`;
    await expect(relayed('/responses', large, 'the connection breaks')).rejects.toThrow('terminated');
    await expect(relayed('/responses', large, 'the stream just ends')).rejects.toThrow('terminated');
  });
});

describe('a chat stream without [DONE]', () => {
  const finish = (index: number) => `data: {"choices":[{"index":${index},"delta":{},"finish_reason":"stop"}]}\n\n`;
  const text = (index: number) => `data: {"choices":[{"index":${index},"text":"a","finish_reason":null}]}\n\n`;

  async function isBroken(path: string, body: object, events: string[], how: Break): Promise<boolean> {
    const { text: got, id } = await relayed(path, events.join(''), how, { model: 'gpt-x', ...body });
    const { outcome } = await gateway.record(id);
    expect(got.includes('"upstream_stream_broken"')).toBe(outcome === 'stream-broken');
    return outcome === 'stream-broken';
  }

  test.each<[string, string, object, string[], Break, boolean]>([
    ['is whole after an orderly end', '/chat/completions', {}, [text(0), finish(0)], 'the stream just ends', false],
    [
      'is whole whatever follows its finish reason',
      '/chat/completions',
      {},
      [text(0), finish(0)],
      'the connection breaks',
      false,
    ],
    ['is broken with a choice open', '/chat/completions', { n: 2 }, [text(1), finish(0)], 'the stream just ends', true],
    ['is whole with all closed', '/chat/completions', { n: 2 }, [finish(1), finish(0)], 'the stream just ends', false],
    [
      'has n for each prompt',
      '/completions',
      { n: 2, prompt: ['a', 'b'] },
      [0, 1, 2].map(finish),
      'the stream just ends',
      true,
    ],
    [
      'has all of them',
      '/completions',
      { n: 2, prompt: ['a', 'b'] },
      [0, 1, 2, 3].map(finish),
      'the stream just ends',
      false,
    ],
    ['has one for tokens', '/completions', { prompt: [1, 2, 3] }, [finish(0)], 'the stream just ends', false],
    ['has one for each list', '/completions', { prompt: [[1, 2], [3]] }, [finish(0)], 'the stream just ends', true],
    ['minds no odd n', '/chat/completions', { n: 'two' }, [finish(0)], 'the stream just ends', false],
  ])('%s', async (_name, path, body, events, how, wanted) => {
    expect(await isBroken(path, body, events, how)).toBe(wanted);
    expect(await isBroken(path, { ...body, stream_options: { include_usage: true } }, events, how)).toBe(wanted);
  });
});

const nested = { message: 'Overloaded', type: 'server_error', param: null, code: 'server_is_overloaded' };

const failed = { type: 'response.failed', response: { id: 'resp_1', status: 'failed', error: nested } };

describe('an error event of the upstream in place of an answer is an HTTP error', () => {
  test.each([
    ['/chat/completions', `data: ${JSON.stringify({ error: nested })}\n\n`],
    ['/chat/completions', `data: ${JSON.stringify({ id: 'c', choices: [], error: nested })}\n\n`],
    ['/chat/completions', `data: ${JSON.stringify({ error: nested })}\n\ndata: [DONE]\n\n`],
    ['/chat/completions', `data: ${JSON.stringify({ error: nested })}`],
    ['/responses', `event: error\ndata: ${JSON.stringify({ type: 'error', error: nested })}\n\n`],
    ['/responses', `event: error\ndata: ${JSON.stringify({ ...nested, type: 'error', sequence_number: 0 })}\n\n`],
    ['/responses', `event: response.failed\ndata: ${JSON.stringify(failed)}\n\n`],
    ['/images/generations', `data: ${JSON.stringify({ error: nested })}\n\n`],
    ['/audio/speech', `event: error\ndata: ${JSON.stringify({ type: 'error', error: nested })}\n\n`],
  ])('%s %s', async (path, bytes) => {
    const { text, id } = await relayed(path, bytes, 'the stream just ends');
    expect(JSON.parse(text).error).toMatchObject({ message: 'Overloaded', code: 'server_is_overloaded' });
    expect(await gateway.record(id)).toMatchObject({
      outcome: 'error',
      status: 503,
      errorCode: 'server_is_overloaded',
      attempts: [{ status: 200, failure: 'transient' }],
    });
  });
});

describe('an error event of the upstream after content passes once, nothing is added, and its words are recorded', () => {
  const content = 'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n';
  const typed = responsesEvents.slice(0, 5).map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  test.each([
    ['/chat/completions', content, `data: ${JSON.stringify({ error: nested })}\n\ndata: [DONE]\n\n`],
    ['/responses', typed.join(''), `event: error\ndata: ${JSON.stringify({ type: 'error', error: nested })}\n\n`],
    ['/responses', typed.join(''), `event: response.failed\ndata: ${JSON.stringify(failed)}\n\n`],
  ])('%s', async (path, start, bytes) => {
    const { text, id } = await relayed(path, start + bytes, 'the stream just ends');
    expect(text).toBe(start + bytes);
    const { outcome, status, attempts } = await gateway.record(id);
    expect([outcome, status, attempts.at(-1)?.error]).toEqual(['error', 200, 'status 200: Overloaded']);
  });

  test('and is raised by the client with its own code', async () => {
    upstream.answer((_request, response) => {
      eventStream(response);
      response.end(`${content}data: ${JSON.stringify({ error: nested })}\n\n`);
    });
    const { events, error, id } = await consume(sampleNamed('chat with usage') as StreamSample);
    expect(events).toHaveLength(1);
    expect(error).toMatchObject({ code: 'server_is_overloaded', message: 'Overloaded' });
    expect(await gateway.record(id)).toMatchObject({ outcome: 'error', errorCode: 'server_is_overloaded' });
  });
});

test('a model’s text about SSE and finish reasons does not count as an end', async () => {
  const says = { content: 'data: [DONE]\n"finish_reason":"stop" {"error":{"message":"x"}}' };
  const text = `data: ${JSON.stringify({ choices: [{ index: 0, delta: says, finish_reason: null }] })}\n\n`;
  const { text: got } = await relayed('/chat/completions', text, 'the stream just ends');
  expect(got).toContain('upstream_stream_broken');
});

test('a peer that writes the type of its events last is understood', async () => {
  const text = `data: {"text":"${'x'.repeat(600)}","type":"transcript.text.done","usage":{"seconds":1,"type":"duration"}}\n\n`;
  upstream.answer((_request, response) => {
    eventStream(response);
    response.end(text);
  });
  const response = await gateway.fetch(
    '/audio/transcriptions',
    askFor(sampleNamed('transcription without event lines') as StreamSample),
  );
  expect(await response.text()).toBe(text);
});

describe('an upstream that falls silent', () => {
  const sample = sampleNamed('chat with usage') as StreamSample;
  let impatient: TestGateway;
  beforeAll(async () => {
    const provider = mainProvider(upstream.baseUrl, { timeouts: { idleMs: 500 } });
    const groups = [{ id: 'default', policy: { retries: 0, rescue: 'off' as const } }];
    impatient = await startGateway({ config: { providers: [provider], groups } });
  });
  afterAll(() => impatient.stop());

  test('in mid-stream is a time-out, told in the stream', async () => {
    upstream.answer((_request, response) => {
      eventStream(response);
      response.write('data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n');
    });
    const { events, error, id } = await consume(sample, {}, impatient.client);
    expect(events).toHaveLength(1);
    expect(error).toMatchObject({ code: 'upstream_timeout' });
    expect(await impatient.record(id)).toMatchObject({ outcome: 'stream-broken', errorCode: 'upstream_timeout' });
  });

  test('after its headers is a time-out with a status of its own', async () => {
    upstream.answer((_request, response) => {
      eventStream(response);
      response.flushHeaders();
    });
    const { error, id } = await consume(sample, {}, impatient.client);
    expect(error).toMatchObject({ status: 504, code: 'upstream_timeout' });
    const attempts = [{ failure: 'silent' }];
    expect(await impatient.record(id)).toMatchObject({ outcome: 'error', status: 504, attempts });
  });
});

test('speech in events has its limit for the first content too', async () => {
  const timeouts = { firstContentMs: 200 };
  const strict = await startGateway({
    config: {
      providers: [mainProvider(upstream.baseUrl, { timeouts })],
      groups: [{ id: 'default', policy: { retries: 0 } }],
    },
  });
  upstream.answer((_request, response) => {
    eventStream(response);
    response.write(': thinking\n\n');
  });
  const body = '{"model":"gpt-x","input":"x","voice":"alloy","stream_format":"sse"}';
  const response = await strict.fetch('/audio/speech', { method: 'POST', body });
  expect([response.status, await response.text()]).toEqual([504, expect.stringContaining('no content within 200 ms')]);
  await strict.stop();
});

test('comments keep the connection alive while the upstream is silent, between events only', async () => {
  const patient = await startGateway({
    config: { providers: [mainProvider(upstream.baseUrl)], settings: { keepAliveCommentMs: 20 } },
  });
  const [first = '', ...rest] = chatWithUsage.split(/(?<=\n\n)/);
  upstream.answer((request, response) => {
    eventStream(response);
    const [second = '', ...others] = rest;
    response.write(first + second + others[0]?.slice(0, 10));
    upstreamContinue = () => response.end(others.join('').slice(10));
    expect(request.url).toBe('/v1/chat/completions');
  });
  let upstreamContinue = () => {};
  const response = await patient.fetch('/chat/completions', askFor(sampleNamed('chat with usage') as StreamSample));
  let text = '';
  for await (const piece of response.body as ReadableStream<Uint8Array>) {
    text += Buffer.from(piece).toString();
    if (text.endsWith(': keep-alive\n\n'.repeat(3))) upstreamContinue();
  }
  expect(text.replaceAll(': keep-alive\n\n', '')).toBe(chatWithUsage);
  expect(text).toContain(': keep-alive\n\n: keep-alive\n\n: keep-alive\n\ndata:');
  await patient.stop();
});

test.each([
  ['/chat/completions', chatWithUsage],
  ['/responses', (sampleNamed('responses in full order') as StreamSample).bytes.toString()],
] as const)('a complete stream of %s ends although its upstream keeps the connection open', async (path, whole) => {
  const patient = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] } });
  upstream.answer((_request, response) => {
    eventStream(response);
    response.write(whole);
  });
  const body = '{"model":"gpt-x","stream":true,"stream_options":{"include_usage":true}}';
  const response = await patient.fetch(path, { method: 'POST', body });
  expect(await response.text()).toBe(whole);
  expect(await patient.record()).toMatchObject({ outcome: 'ok', attempts: [{ failure: null }] });
  await patient.stop();
});

test('after finish_reason the rest of the stream is still awaited, through comments and half of an event', async () => {
  const whole = chatWithUsage;
  const usageAt = whole.indexOf('data:', whole.indexOf('"finish_reason":"'));
  const later = [': ping\n\n', whole.slice(usageAt, usageAt + 20), whole.slice(usageAt + 20)];
  const { promise: haveEnded, resolve: endThem } = Promise.withResolvers<void>();
  upstream.answer((_request, response) => {
    eventStream(response);
    response.write(whole.slice(0, usageAt));
    // Each pause is longer than the second that remains for a stream after its final event.
    const timer = setInterval(() => {
      const piece = later.shift();
      if (piece !== undefined) return response.write(piece);
      clearInterval(timer);
      endThem();
      return true;
    }, 1_200);
  });
  const response = await gateway.fetch('/chat/completions', askFor(sampleNamed('chat with usage') as StreamSample));
  expect((await response.text()).replace(': ping\n\n', '')).toBe(whole);
  expect(await gateway.record()).toMatchObject({ outcome: 'ok', usageCertainty: 'reported' });
  await haveEnded;
});

test('keep-alive comments are also sent while an upstream is silent after the start of its stream', async () => {
  const patient = await startGateway({
    config: { providers: [mainProvider(upstream.baseUrl)], settings: { keepAliveCommentMs: 20 } },
  });
  let upstreamContinue = () => {};
  upstream.answer((_request, response) => {
    eventStream(response);
    response.flushHeaders();
    upstreamContinue = () => response.end(chatWithUsage);
  });
  const response = await patient.fetch('/chat/completions', askFor(sampleNamed('chat with usage') as StreamSample));
  let text = '';
  for await (const piece of response.body as ReadableStream<Uint8Array>) {
    text += Buffer.from(piece).toString();
    if (text === ': keep-alive\n\n'.repeat(3)) upstreamContinue();
  }
  expect(text.replaceAll(': keep-alive\n\n', '')).toBe(chatWithUsage);
  await patient.stop();
});

test('a plain reply from an upstream in two pieces is not treated as a stream', async () => {
  upstream.answer((_request, response) => json(response, { ok: true }));
  const response = await gateway.fetch('/chat/completions', {
    method: 'POST',
    body: '{"model":"gpt-x","stream":true}',
  });
  expect(await response.json()).toEqual({ ok: true });
});
