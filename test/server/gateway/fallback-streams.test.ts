import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { begun, eventually } from '../../support/eventually.ts';
import { hashOf, testKey } from '../../support/gateway.ts';
import { eventStream, json, type Script } from '../../support/upstream.ts';
import { chunk } from './streams.ts';
import {
  answer,
  ask,
  chat,
  chunksOf,
  data,
  done,
  errorOf,
  plain,
  policy,
  startFallback,
  startTwo,
  streams,
  type TwoUpstreams,
  textOf,
} from './two-upstreams.ts';

let both: TwoUpstreams;

beforeEach(async () => {
  both = await startFallback();
});

afterEach(() => both.stop());

describe('a stream', () => {
  const role = data(chunk({ role: 'assistant', content: '' }));
  const overloaded = data({ error: { message: 'Overloaded', type: 'server_error', code: 'server_is_overloaded' } });
  beforeEach(() => streams(both.two, answer('two', 'Hello')));

  test.each<[string, string[], 'ends' | 'breaks' | 'stalls']>([
    ['ends after its role', [role], 'ends'],
    ['is empty', [], 'ends'],
    ['is nothing but [DONE]', [role, done], 'ends'],
    ['breaks before it says anything', [role], 'breaks'],
    ['says nothing', [role], 'stalls'],
    ['sends comments only', [': wait\n\n', ': wait\n\n'], 'stalls'],
    ['begins with an error', [overloaded], 'ends'],
    ['has an error after its role', [role, overloaded, done], 'ends'],
    ['is malformed from its beginning', ['data: {"id"\n\n', 'data: nothing\n\n'], 'ends'],
  ])('that %s is had from the next target', async (_name, events, then) => {
    streams(both.one, events, then);
    const { text, record } = await ask(both, chat({ stream_options: { include_usage: true } }));
    expect(text).toBe(answer('two', 'Hello').join(''));
    expect(record).toMatchObject({ outcome: 'ok', provider: 'two' });
  });

  test('that only consists of comments does not count as answering', async () => {
    both.one.answer((_request, response) => {
      eventStream(response);
      const timer = setInterval(() => response.write(': working\n\n'), 50);
      response.on('close', () => clearInterval(timer));
    });
    const { record } = await ask(both, chat());
    expect(record.attempts).toMatchObject([{ failure: 'silent', firstContentMs: null }, { failure: null }]);
  });

  test('loses events that are no JSON and nothing else', async () => {
    const events = answer('one', 'a', 'b', 'c');
    const odd = ['data: ping\n\n', 'data: x\n\n', 'data:\n\n', 'data: \u0000\n\n'];
    streams(both.one, [events[0] ?? '', ...odd, ...events.slice(1, 3), ...odd, ...events.slice(3)]);
    const { text, record } = await ask(both, chat({ stream_options: { include_usage: true } }));
    expect(text).toBe(events.join(''));
    expect(record).toMatchObject({ outcome: 'ok', attempts: [{ provider: 'one', droppedEvents: 8, failure: null }] });
  });

  // The damaged part is shorter than the data that makes a stream count as one at full speed.
  test.each(['"delta', '"delta":'])(
    'that lost a piece of its answer is continued by the next target (%s)',
    async (by) => {
      const words = Array.from({ length: 12 }, (_, index) => `word ${index} `);
      const events = answer('one', ...words);
      streams(both.one, events.toSpliced(9, 1, events[9]?.replace('"delta"', by) ?? ''));
      streams(both.two, answer('two', ...words));
      const { text, record } = await ask(both, chat());
      expect(textOf(text)).toBe(words.join(''));
      expect(record).toMatchObject({
        outcome: 'ok',
        attempts: [
          { droppedEvents: 1, failure: 'stream-broken' },
          { provider: 'two', cause: 'rescue', failure: null },
        ],
      });
    },
  );

  test('that lost a piece of its answer is never a success if nobody continues it', async () => {
    const words = Array.from({ length: 12 }, (_, index) => `word ${index} `);
    const events = answer('one', ...words);
    streams(both.one, events.toSpliced(9, 1, events[9]?.replace('"delta"', '"delta') ?? ''));
    streams(both.two, answer('two', 'Something else'));
    const { text, record } = await ask(both, chat());
    expect(text).toContain('"error"');
    expect(text).not.toContain('[DONE]');
    expect(record.outcome).toBe('stream-broken');
  });

  test('becomes an HTTP error if no target does better', async () => {
    streams(both.one, [overloaded]);
    streams(both.two, [overloaded]);
    const { response, text } = await ask(both, chat());
    expect([response.status, JSON.parse(text).error.code]).toEqual([503, 'server_is_overloaded']);
  });

  test.each([
    ['before', 0],
    ['after', 2],
  ])('whose request is at fault %s its first text is told so, and nobody else is asked', async (_when, count) => {
    const refusal = data({ error: { message: 'No.', code: 'bio_policy' } });
    streams(both.one, [...answer('one', 'Hello').slice(0, count), refusal]);
    const { response, text, record } = await ask(both, chat());
    expect([response.status, both.one.seen.length, both.two.seen.length]).toEqual([count === 0 ? 400 : 200, 1, 0]);
    expect(count === 0 ? JSON.parse(text).error : chunksOf(text).at(-1).error).toMatchObject({ code: 'bio_policy' });
    expect(record).toMatchObject({ outcome: 'error', errorCode: 'bio_policy', attempts: [{ failure: 'rejected' }] });
  });

  test('is kept alive with comments before any target has answered, and ends with an error event if none does', async () => {
    const patient = await startTwo(
      { ...policy, retries: 0 },
      {
        config: {
          settings: { keepAliveCommentMs: 100 },
          groups: [{ id: 'default', policy: { ...policy, retries: 0 } }],
          keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
        },
      },
    );
    patient.one.answer(() => {});
    patient.two.answer((_request, response) => json(response, errorOf('rate_limit_exceeded'), 429));
    const response = await patient.gateway.fetch('/chat/completions', chat());
    const text = await response.text();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(text.startsWith(': keep-alive\n\n')).toBe(true);
    expect(chunksOf(text)).toMatchObject([{ error: { code: 'rate_limit_exceeded' } }]);
    const record = await patient.gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({ outcome: 'error', status: 200, errorCode: 'rate_limit_exceeded' });

    streams(patient.two, answer('two', 'Hello'));
    const again = await patient.gateway.fetch('/chat/completions', chat());
    expect(textOf(await again.text())).toBe('Hello');
    await patient.stop();
  });
});

describe('a client that leaves', () => {
  const leave = async (init: RequestInit, until: () => boolean) => {
    const abort = new AbortController();
    const asked = both.gateway.fetch('/chat/completions', { ...init, signal: abort.signal }).catch(() => null);
    await eventually(until);
    abort.abort();
    await asked;
    return eventually(async () => {
      const row = await both.gateway.record();
      return row.outcome === 'client-gone' ? row : null;
    });
  };

  test('during a wait ends the request at once', async () => {
    await both.stop();
    both = await startTwo({ ...policy, fallbacks: 0 });
    both.one.answer((_request, response) => json(response, errorOf('slow_down'), 429, { 'retry-after': '8' }));
    const record = await leave(plain, () => both.one.seen.length === 1);
    expect(record.totalMs).toBeLessThan(8_000);
    expect(record.attempts).toMatchObject([{ failure: 'rate-limit' }]);
  });

  test('has its answer read to the end where the group wants exact usage', async () => {
    await both.stop();
    both = await startTwo({ ...policy, onClientGone: 'drain' });
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const events = answer('one', 'Hello', ' there');
    const rest = [...events.slice(2, -1), data({ ...chunk({}), choices: [], usage }), done].join('');
    let finish = () => {};
    both.one.answer((_request, response) => {
      eventStream(response);
      response.write(events.slice(0, 2).join(''));
      finish = () => response.end(rest);
    });
    const abort = new AbortController();
    const response = await both.gateway.fetch('/chat/completions', { ...chat(), signal: abort.signal });
    const id = response.headers.get('x-sluice-request-id') ?? '';
    abort.abort();
    // Once these are answered, the gateway has noticed that the client disconnected.
    for (let times = 0; times < 3; times++) await (await both.gateway.fetch('/models')).text();
    finish();
    expect(await both.gateway.record(id)).toMatchObject({
      outcome: 'client-gone',
      usage: { inputTokens: 3, outputTokens: 2 },
      attempts: [{ failure: null }],
    });
  });
});

describe('hedging', () => {
  const slow =
    (afterMs: number, who: string): Script =>
    (_request, response) => {
      setTimeout(() => {
        eventStream(response);
        response.end(answer(who, 'Hello').join(''));
      }, afterMs);
    };
  beforeEach(async () => {
    await both.stop();
    both = await startTwo({ ...policy, hedgeAfterMs: 100, timeouts: {} });
  });

  test('calls the next target too, takes the first that answers and cancels the other', async () => {
    const closed = Promise.withResolvers<void>();
    both.one.answer((_request, response) => void response.on('close', closed.resolve));
    both.two.answer(slow(20, 'two'));
    const { text, record } = await ask(both, chat());
    expect(text).toContain('chatcmpl-two');
    await closed.promise;
    expect(record).toMatchObject({ outcome: 'ok', provider: 'two' });
    expect(record.attempts).toMatchObject([
      { provider: 'one', cause: 'first', failure: null, error: expect.stringContaining('given up') },
      { provider: 'two', cause: 'hedge', failure: null },
    ]);
  });

  test('keeps the first if its answer is faster after all', async () => {
    let answerOfOne = () => {};
    both.one.answer((_request, response) => {
      answerOfOne = () => {
        eventStream(response);
        response.end(answer('one', 'Hello').join(''));
      };
    });
    both.two.answer(() => answerOfOne());
    const { text, record } = await ask(both, chat());
    expect(text).toContain('chatcmpl-one');
    expect(record).toMatchObject({ provider: 'one', attempts: [{ cause: 'first' }, { cause: 'hedge' }] });
  });

  test('calls a single target if that is fast', async () => {
    await both.stop();
    both = await startTwo({ ...policy, hedgeAfterMs: 30_000, timeouts: {} });
    both.one.answer(slow(0, 'one'));
    const { record } = await ask(both, chat());
    expect(record.attempts).toHaveLength(1);
    expect(both.two.seen).toHaveLength(0);
  });

  test('goes on as usual where both fail', async () => {
    let failOne = () => {};
    both.one.answer((_request, response) => {
      failOne = () => json(response, errorOf('a'), 503);
      // The retry.
      if (both.one.seen.length > 1) failOne();
    });
    both.two.answer((_request, response) =>
      json(response, errorOf('rate_limit_exceeded'), 429, { 'retry-after': '60' }),
    );
    const asked = begun(ask(both, chat()));
    await eventually(async () => {
      const providers = await both.gateway.gateway.query({ type: 'providers' });
      return providers.find(({ id }) => id === 'two')?.health.state === 'cooling';
    });
    failOne();
    const { response, record } = await asked;
    expect(response.status).toBe(429);
    expect(record.attempts.map(({ cause }) => cause)).toEqual(['first', 'hedge', 'retry']);
  });
});
