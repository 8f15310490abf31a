import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { GatewayError } from '../../../../server/contract/errors.ts';
import { type MessageWatch, SessionRelay } from '../../../../server/exchange/realtime/session-relay.ts';

let server: WebSocketServer;
beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
});
afterEach(async () => {
  for (const client of server.clients) client.terminate();
  await new Promise((resolve) => server.close(resolve));
});

/** The relay's end and the other end of a connection. */
async function connection(): Promise<[socket: WebSocket, peer: WebSocket]> {
  const arrived = once(server, 'connection');
  const peer = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await once(peer, 'open');
  const [socket] = (await arrived) as [WebSocket];
  return [socket, peer];
}

const fault = new Error('broken');
const fail = () => {
  throw fault;
};
const watch: MessageWatch = { ofClient: () => null, ofUpstream: () => null };

async function start(broken: Partial<MessageWatch & { upstreamDisconnected(): GatewayError }>) {
  const [client, clientPeer] = await connection();
  const [upstream, upstreamPeer] = await connection();
  upstream.pause();
  const reportError = vi.fn();
  const relay = new SessionRelay({
    client,
    upstream,
    watch: { ...watch, ...broken },
    writeError: () => '{}',
    upstreamDisconnected: () => new GatewayError('upstream_stream_broken', 'gone'),
    redacted: (text) => text,
    reportError,
    ...broken,
  });
  return { relay, clientPeer, upstreamPeer, reportError };
}

type Started = Awaited<ReturnType<typeof start>>;

test.each<[string, Parameters<typeof start>[0], (started: Started) => void]>([
  ['a client’s message', { ofClient: fail }, ({ clientPeer }) => clientPeer.send('x')],
  ['an upstream’s message', { ofUpstream: fail }, ({ upstreamPeer }) => upstreamPeer.send('x')],
  ['the end of the upstream', { upstreamDisconnected: fail }, ({ upstreamPeer }) => upstreamPeer.terminate()],
])('an exception at %s ends the session only', async (_what, broken, act) => {
  const started = await start(broken);
  const closed = once(started.clientPeer, 'close');
  act(started);
  expect(await started.relay.ended).toEqual({ outcome: 'error', errorCode: 'internal' });
  const [code, reason] = await closed;
  expect([code, String(reason)]).toEqual([1011, 'Sluice failed during this session. Its log says why.']);
  expect(started.reportError.mock.calls).toEqual([[fault]]);
});
