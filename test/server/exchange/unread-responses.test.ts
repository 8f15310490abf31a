/** Clients that send requests but do not read the responses. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sseFraming } from '../../../server/apis/core/sse-framing.ts';
import { ClientResponse } from '../../../server/exchange/answer/client-response.ts';
import type { UpstreamCall } from '../../../server/transport/transport.ts';

const server = createServer();
const piece = Buffer.alloc(256 * 1024);
let client: Socket;
let response: ServerResponse;

/** An upstream that only records whether it is paused. */
class Waiting implements UpstreamCall {
  isPaused = false;
  readonly resumed = Promise.withResolvers<void>();
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
    this.resumed.resolve();
  }
  abort(): void {}
}

beforeEach(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  client = net.connect({ port, host: '127.0.0.1' });
  client.on('error', () => {});
  client.pause();
  client.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
  [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
});
afterEach(() => {
  client.destroy();
  response.destroy();
  server.close();
});

function replyOf(unreadMs: number): ClientResponse {
  return new ClientResponse({
    response,
    requestId: 'req_1',
    framing: sseFraming,
    keepAliveMs: 0,
    unreadMs,
    showsAttempts: false,
    tap: null,
    outlet: null,
  });
}

/** Writes more than all buffers in between can hold. */
function fill(reply: ClientResponse, upstream: Waiting): void {
  reply.begin(200, { 'content-type': 'application/octet-stream' }, null);
  for (let count = 0; count < 256; count++) reply.write(piece, upstream);
  expect(upstream.isPaused).toBe(true);
}

test('a client that reads nothing is cut off', async () => {
  fill(replyOf(50), new Waiting());
  await once(response, 'close');
  expect(response.destroyed).toBe(true);
});

test('a client that reads nothing of a finished reply is cut off too', async () => {
  const reply = replyOf(50);
  reply.begin(200, { 'content-type': 'application/json' }, null);
  reply.end('ok', null, Buffer.alloc(256 * piece.length));
  await once(response, 'close');
  expect(response.destroyed).toBe(true);
});

test('a client that reads on has unlimited time, as long as nothing waits for it', async () => {
  const upstream = new Waiting();
  fill(replyOf(60_000), upstream);
  expect(response.socket?.timeout).toBe(60_000);
  client.resume();
  await upstream.resumed.promise;
  expect(response.socket?.timeout).toBe(0);
});

test('a reply that is sent at once sets no timer', () => {
  const reply = replyOf(60_000);
  reply.begin(200, { 'content-type': 'application/json' }, null);
  reply.end('ok', null, Buffer.from('{}'));
  expect(response.listenerCount('timeout')).toBe(0);
});

test('time during which the machine slept does not count', () => {
  fill(replyOf(60_000), new Waiting());
  // The socket does this if its clock has advanced in the meantime.
  response.emit('timeout');
  expect([response.destroyed, response.socket?.timeout]).toEqual([false, 60_000]);
});
