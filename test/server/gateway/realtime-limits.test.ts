/** The usage of realtime sessions: their rows in the ledger, and the limits of their keys. */
import { afterEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import type { RequestView } from '../../../server/contract/request-views.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, type TestGateway, testKey } from '../../support/gateway.ts';
import {
  connectRealtime,
  type RealtimeClient,
  type RealtimeUpstream,
  refusedHandshake,
  type SeenSession,
  startRealtimeUpstream,
} from '../../support/realtime-upstream.ts';
import { startControlGateway } from '../control/control-gateway.ts';

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.stop();
});

type KeyInput = NonNullable<ConfigInput['keys']>[number];

interface Started {
  upstream: RealtimeUpstream;
  gateway: TestGateway;
}

const prices = {
  'gpt-realtime': { input: 4, cachedInput: 0.4, output: 16, audioInput: 32, audioOutput: 64, maxOutput: 4096 },
  'gpt-4o-transcribe': { input: 2.5, audioInput: 6, output: 10 },
};

async function start(limits: KeyInput['limits'] = {}): Promise<Started> {
  const upstream = await startRealtimeUpstream();
  const gateway = await startControlGateway({
    config: {
      providers: [mainProvider(upstream.baseUrl)],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey), limits }],
      settings: { prices },
    },
    secrets: { 'provider/main/c1': 'upstream-secret' },
  });
  running.push(upstream, gateway);
  return { upstream, gateway };
}

async function open({ gateway, upstream }: Started): Promise<{ client: RealtimeClient; session: SeenSession }> {
  const before = upstream.sessions.length;
  const client = await connectRealtime(gateway);
  return { client, session: await upstream.session(before) };
}

const usage = {
  total_tokens: 1_500,
  input_tokens: 1_000,
  output_tokens: 500,
  input_token_details: {
    text_tokens: 300,
    audio_tokens: 700,
    image_tokens: 0,
    cached_tokens: 600,
    cached_tokens_details: { text_tokens: 100, audio_tokens: 500 },
  },
  output_token_details: { text_tokens: 100, audio_tokens: 400 },
};
/**
 * Input: 200 of text at 4, 200 of sound at 32, 600 cached at 0.4. Output: 100 of text at 16, 400 of sound at 64. Prices
 * are per million.
 */
const costUsd = (200 * 4 + 200 * 32 + 600 * 0.4 + 100 * 16 + 400 * 64) / 1e6;

const created = (id: string) => JSON.stringify({ type: 'response.created', event_id: 'e', response: { id } });
const done = (id: string, more: object = { status: 'completed', usage }) =>
  JSON.stringify({ type: 'response.done', event_id: 'e', response: { id, ...more } });
const create = JSON.stringify({ type: 'response.create', event_id: 'mine' });

/** The rows of this route, oldest first, once there are this many. */
async function rowsOf({ gateway }: Started, part: string, count: number): Promise<RequestView[]> {
  return eventually(async () => {
    const page = await gateway.gateway.query({ type: 'requests', limit: 50 });
    const rows = page.requests.filter(({ route, outcome }) => route === `/v1/realtime${part}` && outcome !== null);
    return rows.length >= count ? rows.reverse() : null;
  });
}

describe('the ledger', () => {
  test('has a row for each response, with its tokens and cost, and one of the session without', async () => {
    const started = await start();
    const { client, session } = await open(started);
    for (const id of ['r1', 'r2']) {
      client.socket.send(create);
      session.socket.send(created(id));
      session.socket.send(done(id));
    }
    await eventually(() => client.messages.length === 4);
    const responses = await rowsOf(started, '#response', 2);
    for (const row of responses) {
      expect(row).toMatchObject({
        outcome: 'ok',
        keyId: 'k1',
        capability: 'realtime',
        modelAsked: 'gpt-realtime',
        modelServed: 'gpt-realtime',
        provider: 'main',
        credential: 'c1',
        usageCertainty: 'reported',
        usage: {
          inputTokens: 1_000,
          outputTokens: 500,
          cachedInputTokens: 600,
          // Of 700, 500 were cached.
          audioInputTokens: 200,
          audioOutputTokens: 400,
        },
      });
      expect(row.costUsd).toBeCloseTo(costUsd, 9);
    }
    client.socket.close();
    const [row] = await rowsOf(started, '', 1);
    expect(row).toMatchObject({ outcome: 'ok', status: 101, method: 'GET', usage: null, costUsd: 0 });
    expect(row?.bytesIn).toBe(2 * create.length);
    expect(row?.bytesOut).toBe(2 * (created('r1').length + done('r1').length));
  });

  test('tells a response that failed, with its code', async () => {
    const started = await start();
    const { client, session } = await open(started);
    session.socket.send(created('r1'));
    const error = { type: 'server_error', code: 'rate_limit_exceeded' };
    session.socket.send(done('r1', { status: 'failed', status_details: { type: 'failed', error } }));
    const [row] = await rowsOf(started, '#response', 1);
    expect(row).toMatchObject({ outcome: 'error', errorCode: 'rate_limit_exceeded', usage: null, costUsd: 0 });
    client.socket.close();
  });

  test('counts a response that was interrupted by the user’s speech as a good one', async () => {
    const started = await start();
    const { client, session } = await open(started);
    session.socket.send(created('r1'));
    const details = { type: 'cancelled', reason: 'turn_detected' };
    session.socket.send(done('r1', { status: 'cancelled', status_details: details, usage }));
    const [row] = await rowsOf(started, '#response', 1);
    expect(row).toMatchObject({ outcome: 'ok', usageCertainty: 'reported' });
    client.socket.close();
  });

  test('reports the cost of a response that was cut as unknown', async () => {
    const started = await start();
    const { client, session } = await open(started);
    session.socket.send(created('r1'));
    await client.event();
    client.socket.terminate();
    const [row] = await rowsOf(started, '#response', 1);
    expect(row).toMatchObject({ outcome: 'client-gone', usage: null, costUsd: null });
  });

  test.each(['client', 'upstream'] as const)(
    'estimates a response that broke off at the %s, as it does a stream',
    async (side) => {
      const started = await start({ budgets: [{ unit: 'tokens', amount: 50, per: 'day' }] });
      const { client, session } = await open(started);
      const item = {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'Tell me of gulls. '.repeat(10) }],
      };
      client.socket.send(JSON.stringify({ type: 'conversation.item.create', item }));
      await eventually(() => session.messages.length === 1);
      session.socket.send(created('r1'));
      for (let count = 0; count < 40; count++) {
        session.socket.send(JSON.stringify({ type: 'response.output_text.delta', response_id: 'r1', delta: 'gulls ' }));
      }
      await eventually(() => client.messages.length === 41);
      (side === 'client' ? client : session).socket.terminate();
      const [row] = await rowsOf(started, '#response', 1);
      expect(row?.usageCertainty).toBe('estimated');
      expect(row?.usage?.outputTokens).toBeGreaterThanOrEqual(40);
      expect(row?.usage?.inputTokens).toBeGreaterThan(20);
      expect(row?.costUsd).toBeGreaterThan(0);
      expect(await refusedHandshake(started.gateway)).toMatchObject({ status: 429 });
    },
  );

  test('has a row for a response that was never announced, once, and a spent budget ends the session then', async () => {
    const started = await start({ budgets: [{ unit: 'tokens', amount: 2_000, per: 'day' }] });
    const { client, session } = await open(started);
    for (const id of ['r1', 'r1', 'r2']) session.socket.send(done(id));
    const rows = await rowsOf(started, '#response', 2);
    expect(rows.map(({ usage: each }) => each?.inputTokens)).toEqual([1_000, 1_000]);
    expect((await eventually(() => session.closed)).code).toBe(1001);
    expect(client.messages.length).toBe(4);
  });

  test('has a row for each transcript, at the price of the model that made it', async () => {
    const started = await start();
    const { client, session } = await open(started);
    const transcription = { model: 'gpt-4o-transcribe' };
    session.socket.send(JSON.stringify({ type: 'session.updated', session: { audio: { input: { transcription } } } }));
    const used = { type: 'tokens', input_tokens: 100, output_tokens: 10, input_token_details: { audio_tokens: 90 } };
    const type = 'conversation.item.input_audio_transcription.completed';
    session.socket.send(JSON.stringify({ type, item_id: 'i', transcript: 'Hi "response.done"', usage: used }));
    const [row] = await rowsOf(started, '#transcription', 1);
    expect(row).toMatchObject({ modelServed: 'gpt-4o-transcribe', usage: { inputTokens: 100, audioInputTokens: 90 } });
    expect(row?.costUsd).toBeCloseTo((10 * 2.5 + 90 * 6 + 10 * 10) / 1e6, 9);
    client.socket.close();
  });
});

describe('a limit', () => {
  test('of requests at the same time counts sessions, and not their responses', async () => {
    const started = await start({ concurrent: 1 });
    const { client, session } = await open(started);
    client.socket.send(create);
    session.socket.send(created('r1'));
    expect(await client.event()).toMatchObject({ type: 'response.created' });
    const { status, body } = await refusedHandshake(started.gateway);
    expect([status, body.error.code]).toEqual([429, 'rate_limit_exceeded']);
    client.socket.close();
    await rowsOf(started, '', 2);
    const next = await open(started);
    next.client.socket.close();
  });

  test('of requests a minute refuses a response with an error event, and the session stays', async () => {
    const started = await start({ requestsPerMinute: 2 });
    const { client, session } = await open(started);
    client.socket.send(create);
    await eventually(() => session.messages.length === 1);
    session.socket.send(created('r1'));
    session.socket.send(done('r1'));
    await client.event(1);
    client.socket.send(create);
    expect(await client.event(2)).toMatchObject({
      type: 'error',
      error: { type: 'requests', code: 'rate_limit_exceeded', event_id: 'mine' },
    });
    client.socket.send('{"type":"input_audio_buffer.commit"}');
    await eventually(() => session.messages.length === 2);
    expect(session.messages.map(({ bytes }) => JSON.parse(bytes.toString()).type)).toEqual([
      'response.create',
      'input_audio_buffer.commit',
    ]);
    client.socket.close();
  });

  test('is told with the handshake', async () => {
    const started = await start({ requestsPerMinute: 9 });
    const { status, headers } = await refusedHandshake(started.gateway, { path: '/v1/realtime?model=a&model=b' });
    expect([status, headers['x-ratelimit-limit-requests']]).toEqual([400, undefined]);
    const { client } = await open(started);
    client.socket.close();
  });

  const hard = (amount: number) => ({ budgets: [{ unit: 'usd', amount, per: 'day', hard: true } as const] });

  test('in dollars that is spent ends the session at the next response', async () => {
    const started = await start(hard(costUsd));
    const { client, session } = await open(started);
    client.socket.send(create);
    session.socket.send(created('r1'));
    session.socket.send(done('r1'));
    await client.event(1);
    client.socket.send(create);
    expect(await client.event(2)).toMatchObject({
      type: 'error',
      error: { type: 'insufficient_quota', code: 'insufficient_quota', event_id: 'mine' },
    });
    expect((await client.ended()).code).toBe(1008);
    expect((await eventually(() => session.closed)).code).toBe(1001);
    expect(session.messages.length).toBe(1);
    const { status, body } = await refusedHandshake(started.gateway);
    expect([status, body.error.code]).toEqual([429, 'insufficient_quota']);
  });

  test('in dollars that is spent ends the session when the upstream begins a response by itself', async () => {
    const started = await start(hard(costUsd));
    const { client, session } = await open(started);
    session.socket.send(created('r1'));
    session.socket.send(done('r1'));
    session.socket.send(created('r2'));
    expect((await client.ended()).code).toBe(1008);
    expect(await client.event(2)).toMatchObject({ type: 'error', error: { code: 'insufficient_quota' } });
    expect((await eventually(() => session.closed)).code).toBe(1001);
  });

  test('in dollars counts a response that was cut as the most that it may have cost', async () => {
    const started = await start(hard(100));
    const { client, session } = await open(started);
    session.socket.send(created('r1'));
    await client.event();
    session.socket.terminate();
    const [row] = await rowsOf(started, '#response', 1);
    expect(row).toMatchObject({ outcome: 'error', usageCertainty: 'reserved' });
    expect(row?.costUsd).toBeCloseTo((128_000 * 32 + 4_096 * 64) / 1e6, 9);
  });

  test('in dollars needs a price', async () => {
    const started = await start(hard(1));
    const { status, body } = await refusedHandshake(started.gateway, { path: '/v1/realtime?model=unpriced' });
    expect([status, body.error.code]).toEqual([403, 'price_unknown']);
    expect(started.upstream.handshakes).toEqual([]);
  });

  test('is not what ends the session of a disabled key: it ends at the next response anyway', async () => {
    const started = await start();
    const { client, session } = await open(started);
    await started.gateway.gateway.execute({ type: 'key.update', id: 'k1', changes: { enabled: false } });
    client.socket.send(create);
    expect(await client.event()).toMatchObject({ type: 'error', error: { code: 'key_disabled' } });
    expect((await client.ended()).code).toBe(1008);
    expect(session.messages).toEqual([]);
  });
});
