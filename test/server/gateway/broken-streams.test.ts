import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream, writePieces } from '../../support/upstream.ts';
import { askFor, chatUsage, chatWithUsage, responsesEvents, type StreamSample, samples } from './streams.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  const timeouts = { idleMs: 1_500 };
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl, { timeouts })] } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

/** Reads a stream to its end with the official client. */
async function consume(sample: StreamSample, headers: Record<string, string> = {}) {
  const events: unknown[] = [];
  let id = '';
  try {
    const { data, request_id } = await ask(sample, headers).withResponse();
    id = request_id ?? '';
    for await (const event of data as AsyncIterable<unknown>) events.push(event);
    return { events, id, error: null };
  } catch (error) {
    return { events, id: id || (error instanceof OpenAI.APIError && error.requestID) || '', error };
  }
}

function ask(sample: StreamSample, headers: Record<string, string>) {
  const { audio } = gateway.client;
  const file = new File(['RIFF'], 'a.wav');
  return sample.form
    ? audio.transcriptions.create({ file, model: 'gpt-x', stream: true }, { headers })
    : gateway.client.post(sample.path, { headers, body: { ...sample.body, stream: true }, stream: true });
}

type Break = 'the connection breaks' | 'the stream just ends';

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

const blankLine = /\r?\n\r?\n/g;
const eventEnds = (text: string) => [...text.matchAll(blankLine)].map((match) => match.index + match[0].length);

/** From where on the stream counts as complete: the end of the event that says so. */
function completeAt(text: string, how: Break): number {
  const mark =
    /"finish_reason":"|event: (response|image_generation|image_edit)\.completed|transcript\.text\.done"|audio\.done"/;
  // Only an orderly end stands for the `[DONE]` of a chat stream.
  const isUncertain = how === 'the connection breaks' && text.includes('"finish_reason"');
  const index = text.search(isUncertain ? /^data: ?\[DONE\]/m : mark);
  return eventEnds(text).find((end) => end > index) ?? Number.POSITIVE_INFINITY;
}

const countData = (text: string) => text.split(/\r?\n\r?\n/).filter((part) => /^data:(?! ?\[DONE)/m.test(part)).length;

describe.each<Break>(['the connection breaks', 'the stream just ends'])('where %s', (how) => {
  test.each(samples)('$name, the client is told of it, whatever the place', async (sample) => {
    sampleBytes = sample.bytes;
    breakAt(how);
    const text = sample.bytes.toString('latin1');
    const closed = completeAt(text, how);
    // A clean end stands for the blank line that should follow the last event.
    const wholeAt = (end: number) => (how === 'the stream just ends' ? text.slice(0, end).trimEnd().length : end);
    const complete = wholeAt(closed);
    const [firstEnd = 0] = eventEnds(text);
    expect(complete).toBeGreaterThan(0);
    const step = sample.bytes.length > 1_500 ? 11 : 4;
    const cuts = Array.from({ length: Math.ceil(sample.bytes.length / step) }, (_, index) => index * step);
    if (complete < sample.bytes.length) cuts.push(complete - 1, complete, complete + 1);
    const check = async (cut: number) => {
      const { events, error } = await consume(sample, { 'x-cut': String(cut) });
      const code = error instanceof OpenAI.APIError ? error.code : error;
      const last = eventEnds(text).findLast((end) => wholeAt(end) <= cut) ?? 0;
      // Half an event is no orderly end, unless the end was told before.
      const rest = text.slice(last, cut).trim();
      const isCut = text.includes('"finish_reason"') && rest !== '' && !rest.endsWith('[DONE]');
      const isComplete = cut >= complete && !isCut;
      const wanted = cut < firstEnd ? 'upstream_unreachable' : 'upstream_stream_broken';
      const delivered = eventEnds(text).findLast((end) => (isComplete ? wholeAt(end) : end) <= cut) ?? 0;
      const count = countData(text.slice(0, delivered));
      expect({ cut, code, events: events.length }).toEqual({ cut, code: isComplete ? null : wanted, events: count });
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
      usage: null,
      usageCertainty: 'none',
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
    const large = `event: response.completed\ndata: {"type":"response.completed","response":{"x":"${'y'.repeat(200_000)}`;
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
    ['is broken by a reset', '/chat/completions', {}, [text(0), finish(0)], 'the connection breaks', true],
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

describe('an error event of the upstream passes once, and nothing is added', () => {
  const nested = { message: 'Overloaded', type: 'server_error', param: null, code: 'server_is_overloaded' };
  const failed = { type: 'response.failed', response: { id: 'resp_1', status: 'failed', error: { code: 'x' } } };
  test.each([
    ['/chat/completions', `data: ${JSON.stringify({ error: nested })}\n\n`],
    ['/chat/completions', `data: ${JSON.stringify({ id: 'c', choices: [], error: nested })}\n\n`],
    ['/chat/completions', `data: ${JSON.stringify({ error: nested })}\n\ndata: [DONE]\n\n`],
    ['/responses', `event: error\ndata: ${JSON.stringify({ type: 'error', error: nested })}\n\n`],
    ['/responses', `event: response.failed\ndata: ${JSON.stringify({ ...failed, code: nested.code })}\n\n`],
    ['/images/generations', `data: ${JSON.stringify({ error: nested })}\n\n`],
    ['/audio/speech', `event: error\ndata: ${JSON.stringify({ type: 'error', error: nested })}\n\n`],
  ])('%s %s', async (path, bytes) => {
    const { text, id } = await relayed(path, bytes, 'the stream just ends');
    expect(text).toBe(bytes);
    expect(await gateway.record(id)).toMatchObject({ outcome: 'error', status: 200 });
  });

  test('and is raised by the client with its own code', async () => {
    upstream.answer((_request, response) => {
      eventStream(response);
      response.end(`data: ${JSON.stringify({ error: nested })}\n\n`);
    });
    const sample = sampleNamed('chat with usage');
    const { error, id } = await consume(sample as StreamSample);
    expect(error).toMatchObject({ code: 'server_is_overloaded', message: 'Overloaded' });
    expect(await gateway.record(id)).toMatchObject({ outcome: 'error', errorCode: 'server_is_overloaded' });
  });
});

test('what a model says about SSE and finish reasons is not taken for an end', async () => {
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

test('an upstream that falls silent in mid-stream is a time-out, told in the stream', async () => {
  upstream.answer((_request, response) => {
    eventStream(response);
    response.write('data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n');
  });
  const { events, error, id } = await consume(sampleNamed('chat with usage') as StreamSample);
  expect(events).toHaveLength(1);
  expect(error).toMatchObject({ code: 'upstream_timeout' });
  expect(await gateway.record(id)).toMatchObject({ outcome: 'stream-broken', errorCode: 'upstream_timeout' });
});

test('an upstream that sends headers and then nothing is a time-out with a status of its own', async () => {
  upstream.answer((_request, response) => {
    eventStream(response);
    response.flushHeaders();
  });
  const { error, id } = await consume(sampleNamed('chat with usage') as StreamSample);
  expect(error).toMatchObject({ status: 504, code: 'upstream_timeout' });
  expect(await gateway.record(id)).toMatchObject({ outcome: 'error', status: 504, attempts: [{ failure: 'silent' }] });
});

test('a stream that breaks before its first event is asked for again, unseen by the client', async () => {
  const before = upstream.seen.length;
  upstream.answer(async (_request, response) => {
    eventStream(response);
    if (upstream.seen.length === before + 1) {
      await writePieces(response, Buffer.from('data: {"id"'), []);
      response.destroy();
    } else response.end(chatWithUsage);
  });
  const { events, error, id } = await consume(sampleNamed('chat with usage') as StreamSample);
  expect([events.length, error]).toEqual([5, null]);
  const record = await gateway.record(id);
  expect(record).toMatchObject({ outcome: 'ok', usageCertainty: 'reported' });
  expect(record.usage).toMatchObject({ inputTokens: chatUsage.prompt_tokens, outputTokens: 10, reasoningTokens: 4 });
  expect(record.attempts).toMatchObject([{ failure: 'transient' }, { failure: null }]);
});

test('a plain reply that breaks off breaks the connection to the client', async () => {
  upstream.answer(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    await writePieces(response, Buffer.from('{"id":"x",'), []);
    response.destroy();
  });
  const response = await gateway.fetch('/embeddings', { method: 'POST', body: '{"model":"gpt-x","input":"x"}' });
  const id = response.headers.get('x-request-id') ?? '';
  await expect(response.text()).rejects.toThrow('terminated');
  expect(await gateway.record(id)).toMatchObject({ outcome: 'stream-broken', errorCode: 'upstream_stream_broken' });
});

test('comments keep the connection alive while the upstream is silent, between events only', async () => {
  const patient = await startGateway({
    config: { providers: [mainProvider(upstream.baseUrl)], settings: { keepAliveCommentMs: 20 } },
  });
  const [first = '', ...rest] = chatWithUsage.split(/(?<=\n\n)/);
  upstream.answer((request, response) => {
    eventStream(response);
    response.write(first.slice(0, 10));
    upstreamContinue = () => response.end(first.slice(10) + rest.join(''));
    expect(request.url).toBe('/v1/chat/completions');
  });
  let upstreamContinue = () => {};
  const response = await patient.fetch('/chat/completions', askFor(sampleNamed('chat with usage') as StreamSample));
  let text = '';
  for await (const piece of response.body as ReadableStream<Uint8Array>) {
    text += Buffer.from(piece).toString();
    if (text === ': keep-alive\n\n'.repeat(3)) upstreamContinue();
  }
  expect(text.replaceAll(': keep-alive\n\n', '')).toBe(chatWithUsage);
  expect(text).toContain(': keep-alive\n\n: keep-alive\n\n: keep-alive\n\ndata:');
  await patient.stop();
});

test('a plain reply from an upstream in two pieces is no stream and is not judged as one', async () => {
  upstream.answer((_request, response) => json(response, { ok: true }));
  const response = await gateway.fetch('/chat/completions', {
    method: 'POST',
    body: '{"model":"gpt-x","stream":true}',
  });
  expect(await response.json()).toEqual({ ok: true });
});
