import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import {
  connectRealtime,
  type RealtimeUpstream,
  sdkClient,
  startRealtimeUpstream,
} from '../../support/realtime-upstream.ts';

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.stop();
});

async function start(): Promise<{ upstream: RealtimeUpstream; gateway: TestGateway }> {
  const upstream = await startRealtimeUpstream();
  const gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] } });
  running.push(upstream, gateway);
  return { upstream, gateway };
}

describe('a realtime session', () => {
  test('of the official SDK sends and receives events', async () => {
    const { upstream, gateway } = await start();
    upstream.onSession(({ socket }) => {
      socket.send('{"type":"session.created","event_id":"e1","session":{"type":"realtime","model":"gpt-realtime"}}');
      socket.on('message', () => socket.send('{"type":"response.done","event_id":"e2","response":{"id":"r1"}}'));
    });
    const client = sdkClient(gateway, 'gpt-realtime');
    const events: string[] = [];
    client.on('event', ({ type }) => events.push(type));
    client.on('error', () => {});
    await new Promise((resolve) => client.once('session.created', resolve));
    client.send({ type: 'response.create' });
    await new Promise((resolve) => client.once('response.done', resolve));
    expect(events).toEqual(['session.created', 'response.done']);
    const session = await upstream.session();
    expect(session.url).toBe('/v1/realtime?model=gpt-realtime');
    expect(JSON.parse(String(session.messages[0]?.bytes))).toEqual({ type: 'response.create' });
    client.close({ code: 1000, reason: 'OK' });
    expect(await eventually(() => session.closed)).toEqual({ code: 1000, reason: 'OK' });
  });

  test('passes text and bytes as they are, both ways and in order', async () => {
    const { upstream, gateway } = await start();
    upstream.onSession(({ socket }) =>
      socket.on('message', (bytes, isBinary) => socket.send(bytes, { binary: isBinary })),
    );
    const client = await connectRealtime(gateway);
    const sent = [
      { bytes: Buffer.from('{ "type" : "input_audio_buffer.append", "audio":"\\u00e9é😀" }'), isBinary: false },
      { bytes: Buffer.from([0, 255, 128, 1, 2, 3]), isBinary: true },
      { bytes: Buffer.alloc(0), isBinary: false },
      { bytes: Buffer.alloc(3 * 1024 * 1024, 'a'), isBinary: false },
      { bytes: Buffer.from('no JSON'), isBinary: false },
    ];
    for (const { bytes, isBinary } of sent) client.socket.send(bytes, { binary: isBinary });
    await eventually(() => client.messages.length === sent.length);
    expect(client.messages.map(hashed)).toEqual(sent.map(hashed));
    client.socket.close();
  });
});

function hashed({ bytes, isBinary }: { bytes: Buffer; isBinary: boolean }) {
  return { isBinary, length: bytes.length, hash: createHash('sha256').update(bytes).digest('hex') };
}
