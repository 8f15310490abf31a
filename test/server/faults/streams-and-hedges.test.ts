/** Streams that break after their beginning was sent, and two targets that are called in parallel. */
import { afterEach, describe, expect, test } from 'vitest';
import { stretched } from '../../support/cpu-work.ts';
import * as plays from '../../support/fault-plays.ts';
import { isWhole, type Play, readStream } from '../../support/fault-upstream.ts';
import { eventStream, writePieces } from '../../support/upstream.ts';
import { chunk } from '../gateway/streams.ts';
import { callNamed, type Pair, startPair } from './cells.ts';

const timeouts = { connectMs: 30_000, firstByteMs: 30_000, firstContentMs: 30_000, idleMs: stretched(400) };
const textStreams = ['chat/completions (stream)', 'completions (stream)', 'responses (stream)'];
const breaks = [plays.cutAt({ events: 5 }), plays.stallAt({ events: 5 }), plays.endAt({ events: 5 })];

let pair: Pair | undefined;
afterEach(async () => {
  await pair?.stop();
  pair = undefined;
});

describe.each(textStreams.map((name) => callNamed(name)))('$name', (call) => {
  test.each(breaks)('that $name is rescued: one stream, whole, and both attempts in the ledger', async (fault) => {
    pair = await startPair({ retries: 2, fallbacks: 1, timeouts });
    pair.primary.plays(fault);
    const received = await pair.ask(call);
    expect(isWhole(call, received), received.body.toString()).toBe(true);
    const { attempts, outcome } = await pair.gateway.record(received.id);
    expect(outcome).toBe('ok');
    expect(attempts.map(({ provider, cause, failure }) => [provider, cause, failure])).toEqual([
      ['primary', 'first', 'stream-broken'],
      ['fallback', 'rescue', null],
    ]);
  });

  test.each(breaks)('that $name is told as broken where rescue is off', async (fault) => {
    pair = await startPair({ retries: 2, fallbacks: 1, timeouts, rescue: 'off' });
    pair.primary.plays(fault);
    const received = await pair.ask(call);
    const { error, content } = readStream(received.body.toString());
    expect(error).not.toBeNull();
    expect(content).not.toBe('');
    expect(pair.fallback.seen).toHaveLength(0);
    expect((await pair.gateway.record(received.id)).outcome).toBe('stream-broken');
  });
});

describe('a stream that cannot be continued ends with an error', () => {
  const call = callNamed('chat/completions (stream)');
  const cutAfter = (name: string, bytes: string): Play => ({
    name,
    async act({ call: seen, response }) {
      eventStream(response);
      await writePieces(response, Buffer.from(bytes), []);
      seen.state = 'broken';
      response.socket?.end();
    },
  });

  test('if the next target sends something else', async () => {
    pair = await startPair({ retries: 2, fallbacks: 1, timeouts });
    pair.primary.plays(plays.cutAt({ events: 5 }));
    pair.fallback.plays({
      name: 'another text',
      act({ response, answer }) {
        eventStream(response);
        response.end(answer.bytes.toString().replace('gateway', 'harbour'));
      },
    });
    const { body } = await pair.ask(call);
    const { content, error } = readStream(body.toString());
    expect(content).toBe('Every good gateway keeps ');
    expect(error).not.toBeNull();
  });

  const toolCall = {
    tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'w', arguments: '{"a' } }],
  };
  test('if a tool call has begun', async () => {
    pair = await startPair({ retries: 2, fallbacks: 1, timeouts });
    const event = chunk({ role: 'assistant', content: null, ...toolCall });
    pair.primary.plays(cutAfter('a begun tool call', `data: ${JSON.stringify(event)}\n\n`));
    const { body, isBroken } = await pair.ask(call);
    expect(isBroken).toBe(false);
    expect(readStream(body.toString()).error).not.toBeNull();
    expect(pair.fallback.seen).toHaveLength(0);
  });
});

const chat = callNamed('chat/completions');
const chatStream = callNamed('chat/completions (stream)');

describe.each([chat, chatStream])('a hedged $name', (call) => {
  const hedged = { retries: 2, fallbacks: 1, timeouts: { ...timeouts, idleMs: 30_000 }, hedgeAfterMs: 100 };

  test('asks the next target beside a slow one, takes the faster answer and lets go of the other', async () => {
    pair = await startPair(hedged);
    pair.primary.plays(plays.slowFirstByte(20_000));
    const startedMs = performance.now();
    const received = await pair.ask(call);
    expect(performance.now() - startedMs).toBeLessThan(15_000);
    expect(isWhole(call, received), received.body.toString()).toBe(true);
    const { primary, fallback } = pair;
    expect([primary.seen.length, fallback.seen.length]).toEqual([1, 1]);
    await expect.poll(() => primary.seen[0]?.state).toBe('gone');
    const { attempts } = await pair.gateway.record(received.id);
    expect(attempts.map(({ provider, cause }) => [provider, cause])).toEqual([
      ['primary', 'first'],
      ['fallback', 'hedge'],
    ]);
  });

  test('calls no other target beside one that is fast', async () => {
    pair = await startPair({ ...hedged, hedgeAfterMs: 30_000 });
    const received = await pair.ask(call);
    expect(isWhole(call, received)).toBe(true);
    expect(pair.fallback.seen).toHaveLength(0);
  });

  test('takes the slow one after all where the other fails', async () => {
    pair = await startPair(hedged);
    pair.primary.plays(plays.slowFirstByte(400));
    pair.fallback.plays(plays.status(503));
    const received = await pair.ask(call);
    expect(isWhole(call, received), received.body.toString()).toBe(true);
  });
});
