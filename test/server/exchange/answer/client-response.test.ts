import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { sseFraming } from '../../../../server/apis/core/sse-framing.ts';
import { ClientResponse } from '../../../../server/exchange/answer/client-response.ts';

const server = createServer();
let response: ServerResponse;
let answer: Promise<Response>;

beforeEach(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const arrived = new Promise<ServerResponse>((resolve) => server.once('request', (_request, reply) => resolve(reply)));
  answer = fetch(`http://127.0.0.1:${port}`);
  answer.catch(() => {});
  response = await arrived;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  response.destroy();
  server.close();
});

function waitingReply(): ClientResponse {
  const reply = new ClientResponse({
    response,
    requestId: 'req_1',
    framing: sseFraming,
    keepAliveMs: 1_000,
    unreadMs: 1_000,
    showsAttempts: false,
    tap: null,
    outlet: null,
  });
  reply.keepAlive(true);
  return reply;
}

describe('the comments that keep a client waiting', () => {
  test('open a stream before anybody has answered', () => {
    const reply = waitingReply();
    vi.advanceTimersByTime(999);
    expect(response.headersSent).toBe(false);
    vi.advanceTimersByTime(1);
    expect(response.headersSent).toBe(true);
    expect(response.statusCode).toBe(200);
    reply.stop();
  });

  test.each<[string, (reply: ClientResponse) => void]>([
    ['an answer has ended', (reply) => reply.end('ok', null)],
    ['the client has left', (reply) => reply.left()],
    ['Sluice answers in its own words', (reply) => reply.stop()],
  ])('leave no timer once %s', (_case, act) => {
    const reply = waitingReply();
    expect(vi.getTimerCount()).toBe(1);
    act(reply);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test.each([256, 8 * 1024, 8 * 1024 + 256])(
  'an answer of %i bytes arrives as it is, whatever bytes it has',
  async (size) => {
    vi.useRealTimers();
    const bytes = Buffer.from(Array.from({ length: size }, (_, index) => index));
    const reply = waitingReply();
    reply.begin(200, { 'content-type': 'application/octet-stream' }, null);
    reply.end('ok', null, bytes);
    expect(Buffer.from(await (await answer).arrayBuffer()).equals(bytes)).toBe(true);
    expect(reply.summary.bytesOut).toBe(size);
  },
);
