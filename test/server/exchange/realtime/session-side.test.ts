import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { SessionSide } from '../../../../server/exchange/realtime/session-relay.ts';

let server: WebSocketServer;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
});
afterEach(async () => {
  vi.useRealTimers();
  for (const client of server.clients) client.terminate();
  await new Promise((resolve) => server.close(resolve));
});

async function pair(autoPong: boolean): Promise<{ side: SessionSide; peer: WebSocket }> {
  const arrived = once(server, 'connection');
  const { port } = server.address() as AddressInfo;
  const peer = new WebSocket(`ws://127.0.0.1:${port}`, { autoPong });
  await once(peer, 'open');
  const [socket] = (await arrived) as [WebSocket];
  return { side: new SessionSide(socket), peer };
}

const beatMs = 30_000;

test('a peer that answers no ping for three minutes counts as gone', async () => {
  const { side, peer } = await pair(false);
  vi.advanceTimersByTime(6 * beatMs);
  expect(side.socket.readyState).toBe(WebSocket.OPEN);
  vi.advanceTimersByTime(beatMs);
  await side.closed;
  expect(peer.readyState).not.toBe(WebSocket.CONNECTING);
});

test('a peer that answers pings stays connected', async () => {
  const { side, peer } = await pair(true);
  for (let beat = 0; beat < 20; beat++) {
    const answered = once(side.socket, 'pong');
    vi.advanceTimersByTime(beatMs);
    await answered;
  }
  expect(side.socket.readyState).toBe(WebSocket.OPEN);
  peer.terminate();
  await side.closed;
});

test('no answer is expected from a peer that is not being read', async () => {
  const { side, peer } = await pair(false);
  side.hold();
  vi.advanceTimersByTime(20 * beatMs);
  expect(side.socket.readyState).toBe(WebSocket.OPEN);
  side.release();
  peer.terminate();
  await side.closed;
});
