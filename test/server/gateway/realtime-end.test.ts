/**
 * How a realtime session ends: a close by either side, a broken connection, Sluice's own shutdown; and how much data
 * waits in the meantime.
 */
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { mebibyte } from '../../../server/contract/units.ts';
import { eventually } from '../../support/eventually.ts';
import { mainProvider, type TestGateway } from '../../support/gateway.ts';
import {
  connectRealtime,
  type RealtimeClient,
  type RealtimeUpstream,
  type SeenSession,
  startRealtimeUpstream,
} from '../../support/realtime-upstream.ts';
import { startControlGateway } from '../control/control-gateway.ts';

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.stop();
});

interface Started {
  upstream: RealtimeUpstream;
  gateway: TestGateway;
  client: RealtimeClient;
  session: SeenSession;
}

async function start(): Promise<Started> {
  const upstream = await startRealtimeUpstream();
  const gateway = await startControlGateway({
    config: { providers: [mainProvider(upstream.baseUrl)] },
    secrets: { 'provider/main/c1': 'upstream-secret' },
  });
  running.push(upstream, gateway);
  const client = await connectRealtime(gateway);
  return { upstream, gateway, client, session: await upstream.session() };
}

describe('a realtime session', () => {
  test.each([
    [1000, 'OK'],
    [1001, ''],
    [3000, 'done'],
    [4999, 'é'.repeat(61)],
  ])('that its client closes with %d is closed so at the upstream', async (code, reason) => {
    const { gateway, client, session } = await start();
    client.socket.close(code, reason);
    expect(await eventually(() => session.closed)).toEqual({ code, reason });
    expect(await gateway.record()).toMatchObject({ outcome: 'ok', status: 101 });
  });

  test('that its client closes without a code is closed without one', async () => {
    const { client, session } = await start();
    client.socket.close();
    expect(await eventually(() => session.closed)).toEqual({ code: 1005, reason: '' });
  });

  test('whose client vanishes is ended at once', async () => {
    const { gateway, client, session } = await start();
    client.socket.terminate();
    expect(await eventually(() => session.closed)).toEqual({ code: 1001, reason: '' });
    expect(await gateway.record()).toMatchObject({ outcome: 'client-gone', status: 101 });
  });

  test.each([
    [1000, '', 'ok', null],
    [1001, 'Your session hit the maximum duration of 60 minutes.', 'ok', null],
    [1011, 'internal error', 'error', 'websocket_1011'],
    [4000, 'invalid_request_error.model_not_found', 'error', 'websocket_4000'],
  ])('that the upstream closes with %d is closed so for the client', async (code, reason, outcome, errorCode) => {
    const { gateway, client, session } = await start();
    session.socket.close(code, reason);
    expect(await client.ended()).toEqual({ code, reason });
    expect(client.messages).toEqual([]);
    expect(await gateway.record()).toMatchObject({ outcome, errorCode, status: 101 });
  });

  test('does not pass on the provider’s credential in a close reason', async () => {
    const { client, session } = await start();
    session.socket.close(4001, 'bad key upstream-secret');
    expect(await client.ended()).toEqual({ code: 4001, reason: 'bad key [redacted]' });
  });

  test('that breaks off ends with an error event and 1011', async () => {
    const { gateway, client, session } = await start();
    session.socket.terminate();
    const { code, reason } = await client.ended();
    expect([code, reason]).toEqual([1011, 'Provider "main" disconnected during the session.']);
    expect(await client.event()).toMatchObject({
      type: 'error',
      event_id: expect.stringMatching(/^event_/),
      error: { type: 'server_error', code: 'upstream_stream_broken', message: reason, param: null, event_id: null },
    });
    expect(await gateway.record()).toMatchObject({ outcome: 'stream-broken', errorCode: 'upstream_stream_broken' });
  });

  test('passes on what was sent just before the close', async () => {
    const { client, session } = await start();
    const long = Buffer.alloc(4 * mebibyte, 'x');
    session.socket.send(long);
    session.socket.close(1000);
    await client.ended();
    expect(client.messages.map(({ bytes }) => bytes.length)).toEqual([long.length]);
  });

  test('with a message beyond the longest closes its sender’s connection with 1009', async () => {
    const { client, session } = await start();
    client.socket.send(Buffer.alloc(33 * mebibyte));
    expect((await client.ended()).code).toBe(1009);
    expect(await eventually(() => session.closed)).toMatchObject({ code: 1001 });
  });

  test('answers pings on both sides', async () => {
    const { client, session } = await start();
    for (const socket of [client.socket, session.socket]) {
      const answered = once(socket, 'pong');
      socket.ping('hello');
      expect(String((await answered)[0])).toBe('hello');
    }
    client.socket.close();
  });

  test('ends with Sluice: 1001 on both sides', async () => {
    const { gateway, client, session } = await start();
    await gateway.gateway.stop(10_000);
    expect((await client.ended()).code).toBe(1001);
    expect((await eventually(() => session.closed)).code).toBe(1001);
  });

  test('goes on when its provider is switched off', async () => {
    const { gateway, client, session } = await start();
    await gateway.gateway.execute({ type: 'provider.set-enabled', id: 'main', enabled: false });
    session.socket.send('{"type":"x"}');
    expect(await client.event()).toEqual({ type: 'x' });
    client.socket.close();
  });
});

describe('a peer that reads slowly', () => {
  const count = 64;

  /** The number of bytes waiting at the sender once they no longer move. */
  async function stuckBytes(sender: { readonly bufferedAmount: number }): Promise<number> {
    let last = -1;
    let same = 0;
    while (same < 200) {
      await setImmediate();
      same = sender.bufferedAmount === last ? same + 1 : 0;
      last = sender.bufferedAmount;
    }
    return last;
  }

  test.each(['client', 'upstream'] as const)('as %s slows down the other side, and loses nothing', async (slow) => {
    const { client, session } = await start();
    const [reader, sender] = slow === 'client' ? [client, session] : [session, client];
    reader.socket.pause();
    for (let index = 0; index < count; index++) sender.socket.send(Buffer.alloc(mebibyte, index));
    // The rest is in the system's buffers for two connections, and less than two messages are in Sluice.
    expect(await stuckBytes(sender.socket)).toBeGreaterThan((count / 2) * mebibyte);
    reader.socket.resume();
    await eventually(() => reader.messages.length === count);
    expect(reader.messages.every(({ bytes }, index) => bytes.length === mebibyte && bytes[0] === index)).toBe(true);
    client.socket.close();
  });
});
