/** How often, for how long and with which timeouts upstreams are called, whatever they play. */
import { afterEach, describe, expect, test } from 'vitest';
import { stretched } from '../../support/cpu-work.ts';
import { begun, eventually } from '../../support/eventually.ts';
import * as plays from '../../support/fault-plays.ts';
import { type FaultUpstream, healthy, isWhole, type Play, startFaultUpstream } from '../../support/fault-upstream.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { requestFor } from '../../support/openai-calls.ts';
import { callNamed, type Pair, startPair } from './cells.ts';

const chat = callNamed('chat/completions');
const chatStream = callNamed('chat/completions (stream)');
const silenceMs = stretched(600);
const limits = { connectMs: 30_000, firstByteMs: silenceMs, firstContentMs: silenceMs, idleMs: silenceMs };
const policy = { retries: 2, fallbacks: 1, timeouts: limits };

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function start(more: object = {}): Promise<Pair> {
  const pair = await startPair({ ...policy, ...more });
  stops.push(pair.stop);
  return pair;
}

describe('a wait that the upstream requests', () => {
  const soon = () => new Date(Date.now() + 2_000).toUTCString();
  /** The date is computed when the call has arrived, however long that takes. */
  const untilSoon: Play = {
    name: 'Retry-After: a date in two seconds',
    act: (scene) => plays.rateLimit({ 'retry-after': soon() }).act(scene),
  };
  const waits: (() => [Play, number])[] = [
    () => [plays.rateLimit({ 'retry-after-ms': '300' }, 'retry-after-ms: 300'), 300],
    () => [plays.rateLimit({ 'retry-after': '1' }, 'Retry-After: 1'), 1_000],
    // A date contains whole seconds, so two seconds from now may be little more than one.
    () => [untilSoon, 900],
    () => [plays.googleRateLimit('0.4s'), 400],
    () => [plays.status(503, { headers: { 'retry-after': '1' }, name: '503, Retry-After: 1' }), 1_000],
  ];

  test.each(waits.map((make) => [make()[0].name, make] as const))('is observed: %s', async (_name, make) => {
    const { primary, fallback, ask } = await start();
    const [play, waitMs] = make();
    primary.plays(play, healthy);
    const received = await ask(chat);
    expect(isWhole(chat, received), received.body.toString()).toBe(true);
    const [first, second] = primary.seen;
    if (second) expect(second.atMs - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(waitMs - 5);
    else expect(fallback.seen).toHaveLength(1);
    // Waits of up to two seconds are short enough to retry.
    expect(primary.seen).toHaveLength(2);
  });

  test('is not observed if it is long: the next target is called at once', async () => {
    const { primary, fallback, ask } = await start();
    primary.plays(plays.rateLimit({ 'retry-after': '60' }));
    const startedMs = performance.now();
    expect(isWhole(chat, await ask(chat))).toBe(true);
    expect(performance.now() - startedMs).toBeLessThan(20_000);
    expect([primary.seen.length, fallback.seen.length]).toEqual([1, 1]);
  });
});

describe.each([plays.status(503), plays.resetBeforeHeaders, plays.silence, plays.status(401), plays.htmlPage])(
  'of ten targets that all play $name',
  (play) => {
    test('no more are asked than the policy allows', async () => {
      const { gateway, upstream } = await startMany(10, play);
      const response = await gateway.fetch('/chat/completions', requestFor(chat, 'gpt-x').init);
      expect(response.status).toBeGreaterThanOrEqual(400);
      await response.arrayBuffer();
      const asked = Array.from({ length: 10 }, (_, index) => upstream.lane(`p${index}`).seen.length);
      expect(asked.filter((count) => count > 0).length).toBe(2);
      expect(asked.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(1 + policy.retries + policy.fallbacks);
    });
  },
);

async function startMany(count: number, play: Play): Promise<{ gateway: TestGateway; upstream: FaultUpstream }> {
  const upstream = await startFaultUpstream();
  stops.push(upstream.stop);
  const providers = Array.from({ length: count }, (_, index) => {
    const lane = upstream.lane(`p${index}`);
    lane.plays(play);
    return { id: `p${index}`, baseUrl: lane.baseUrl, models: ['gpt-x'] };
  });
  const gateway = await startGateway({ config: { providers, groups: [{ id: 'default', policy }] } });
  stops.push(gateway.stop);
  return { gateway, upstream };
}

test.each([plays.status(503), plays.resetBeforeHeaders, plays.rateLimit()])(
  'an only target that plays $name is asked as often as configured by the first request, and once by each that follows',
  async (play) => {
    const { gateway, upstream } = await startMany(1, play);
    const { init } = requestFor(chat, 'gpt-x');
    const ask = async () => {
      const response = await gateway.fetch('/chat/completions', init);
      await response.arrayBuffer();
      return response.status;
    };
    const only = upstream.lane('p0');
    await ask();
    expect(only.seen.length).toBe(1 + policy.retries);
    const beganMs = performance.now();
    for (let count = 0; count < 14; count++) expect(await ask()).toBeGreaterThanOrEqual(429);
    // On a slow machine a request becomes the trial after the cooldown, which is a second or longer.
    const trials = Math.ceil((performance.now() - beganMs) / 1_000);
    expect(only.seen.length).toBeLessThanOrEqual(1 + policy.retries + 14 + policy.retries * trials);
    only.plays(healthy);
    expect(await ask()).toBe(200);
    only.plays(play, healthy);
    expect(await ask()).toBe(200);
  },
);

test('after the time budget only the first fallback is started', async () => {
  const { primary, fallback, ask } = await start({ budgetMs: 300, retries: 5 });
  primary.plays(plays.silence);
  expect(await ask(chat)).toMatchObject({ status: 200, isBroken: false });
  primary.forget();
  fallback.forget();
  fallback.plays(plays.silence);
  expect((await ask(chat)).status).toBe(504);
  expect(primary.seen.length + fallback.seen.length).toBe(2);
});

test('a stream that breaks off after the time budget is continued', async () => {
  const { primary, fallback, ask } = await start({ budgetMs: 300 });
  primary.plays(plays.stallAt({ events: 4 }));
  const received = await ask(chatStream);
  expect(received.isBroken).toBe(false);
  expect(isWhole(chatStream, received)).toBe(true);
  expect([primary.seen.length, fallback.seen.length]).toEqual([1, 1]);
});

test.each([plays.resetBeforeHeaders, plays.status(503), plays.silence, plays.cutAt({ share: 0.5 })])(
  'an upload that was spooled to disk reaches each target byte for byte: $name',
  async (play) => {
    const { primary, fallback, gateway } = await start();
    primary.plays(play);
    const form = new FormData();
    form.set('model', 'gpt-x');
    form.set('file', new File([Buffer.alloc(1_500_000, 'sound\r\n--')], 'long.wav'));
    const response = await gateway.fetch('/audio/transcriptions', { method: 'POST', body: form });
    expect(response.status).toBe(200);
    const bodies = [...primary.seen, ...fallback.seen].map(({ body }) => body);
    expect(bodies.length).toBeGreaterThanOrEqual(2);
    expect(bodies[0]?.length).toBeGreaterThan(1_500_000);
    expect(bodies.every((body) => body.equals(bodies[0] ?? Buffer.alloc(0)))).toBe(true);
  },
);

test('when a client disconnects during silence or before a retry, no further call is made', async () => {
  const { primary, fallback, gateway } = await start({ timeouts: { ...limits, firstByteMs: 60_000 } });
  const leave = async (play: Play) => {
    primary.forget();
    primary.plays(play);
    const leaving = new AbortController();
    const { init } = requestFor(chat, 'gpt-x');
    begun(gateway.fetch('/chat/completions', { ...init, signal: leaving.signal }));
    await eventually(() => primary.seen.length > 0);
    leaving.abort();
    await eventually(() => primary.seen[0]?.state !== 'open');
  };
  await leave(plays.silence);
  expect(primary.seen[0]?.state).toBe('gone');
  await leave(plays.rateLimit({ 'retry-after': '2' }));
  const row = await gateway.record();
  expect(row.outcome).toBe('client-gone');
  expect(fallback.seen).toHaveLength(0);
  expect(primary.seen).toHaveLength(1);
});

test('models are listed whatever providers play', async () => {
  const { primary, gateway } = await start();
  primary.plays(plays.silence);
  const { data } = await gateway.client.models.list();
  expect(data.map(({ id }) => id)).toEqual(['gpt-x']);
  expect(primary.seen).toHaveLength(0);
});
