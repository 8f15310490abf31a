import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sseFraming } from '../../../../server/apis/core/sse-framing.ts';
import { ClientResponse } from '../../../../server/exchange/answer/client-response.ts';
import { type Pace, type StoredAnswer, sendStored } from '../../../../server/exchange/answer/local-reply.ts';
import { type ClientResponseTap, joinTaps } from '../../../../server/exchange/record/response-taps.ts';

const server = createServer();
let response: ServerResponse;
let answer: Promise<Response>;
let gone: AbortController;

beforeEach(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const arrived = new Promise<ServerResponse>((resolve) => server.once('request', (_request, reply) => resolve(reply)));
  answer = fetch(`http://127.0.0.1:${port}`);
  answer.catch(() => {});
  response = await arrived;
  gone = new AbortController();
});
afterEach(() => {
  response.destroy();
  server.close();
});

const pieces = (...texts: string[]) =>
  texts.map((text, index) => ({ afterMs: (index + 1) * 20, bytes: Buffer.from(text) }));
const stream: StoredAnswer = {
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  pieces: pieces('data: a\n\n', 'data: b\n\n', 'data: [DONE]\n\n'),
  isCut: false,
};

function send(stored: StoredAnswer, pace: Pace, tap: ClientResponseTap | null = null): [ClientResponse, Promise<void>] {
  const client = new ClientResponse({
    ...{ response, requestId: 'req_1', framing: sseFraming, keepAliveMs: 0, unreadMs: 60_000, showsAttempts: false },
    tap,
    outlet: null,
  });
  return [
    client,
    sendStored(client, stored, {
      pace,
      answerer: { provider: 'store', attempts: 0, headers: { 'x-from': 'store' } },
      clientGone: gone.signal,
    }),
  ];
}

test('all pieces arrive at once, in one write, with a pace of 0', async () => {
  const [client, sent] = send(stream, 0);
  await sent;
  const received = await answer;
  expect(received.headers.get('x-from')).toBe('store');
  expect(await received.text()).toBe('data: a\n\ndata: b\n\ndata: [DONE]\n\n');
  expect(client.summary).toMatchObject({ outcome: 'ok', status: 200, bytesOut: 32 });
});

test('pieces arrive no earlier than they were recorded, times the pace', async () => {
  const startMs = performance.now();
  const [, sent] = send(stream, 2);
  expect(await (await answer).text()).toBe('data: a\n\ndata: b\n\ndata: [DONE]\n\n');
  await sent;
  // Timers may fire a millisecond early.
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(119);
});

test('an answer that was cut is cut after its last piece', async () => {
  const [client, sent] = send({ ...stream, isCut: true, pieces: pieces('data: a\n\n') }, 0);
  await sent;
  const reader = (await answer).body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: a\n\n');
  await expect(reader?.read()).rejects.toThrow('terminated');
  expect(client.summary.outcome).toBe('stream-broken');
});

test('an error is an error to the ledger', async () => {
  const [client, sent] = send({ ...stream, status: 429, headers: {}, pieces: pieces('{}') }, 0);
  await sent;
  expect((await answer).status).toBe(429);
  expect(client.summary).toMatchObject({ outcome: 'error', status: 429 });
});

test('nothing is waited for once the client has disconnected', async () => {
  const [client, sent] = send({ ...stream, pieces: [{ afterMs: 600_000, bytes: Buffer.from('late') }] }, 1);
  client.left();
  gone.abort();
  await sent;
  expect(response.headersSent).toBe(false);
});

test('all observers see the same bytes', async () => {
  const seen = [0, 1].map(() => ({ status: 0, text: '' }));
  const taps = seen.map((each) => ({
    begin: (status: number) => {
      each.status = status;
    },
    take: (bytes: Buffer) => {
      each.text += bytes.toString();
    },
  }));
  const [, sent] = send(stream, 0, joinTaps([null, ...taps]));
  await sent;
  await (await answer).text();
  expect(seen).toEqual([0, 1].map(() => ({ status: 200, text: 'data: a\n\ndata: b\n\ndata: [DONE]\n\n' })));
});
