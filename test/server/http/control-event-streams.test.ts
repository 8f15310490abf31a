import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GatewayError } from '../../../server/contract/errors.ts';
import type { EventMessage } from '../../../server/contract/events.ts';
import { createEventStreams } from '../../../server/http/control-routes.ts';

const listeners = new Set<(message: EventMessage) => void>();
const message: EventMessage = {
  revision: 7,
  event: {
    type: 'ledger-health',
    ledger: { ok: true, pending: 0, spooled: 0, dropped: 0, lastError: null, budgetsError: null, replaced: null },
  },
};
const streams = () =>
  createEventStreams((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  });
let mayHear = true;
let opened = streams();
/** What a request waits for before its stream is opened. */
let admitted: (response: ServerResponse) => Promise<void> = async () => {};
const server = createServer(async (_request, response) => {
  await admitted(response);
  opened.open(response, () => mayHear);
});

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  opened = streams();
  mayHear = true;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  vi.useRealTimers();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function openStream(): Promise<IncomingMessage> {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const [response] = await once(get({ port, agent: false }), 'response');
  return response;
}

const nextPiece = async (response: IncomingMessage) => String((await once(response, 'data'))[0]);

test('an event is sent with its revision as the id, a comment every 15 seconds keeps the connection', async () => {
  const response = await openStream();
  for (const listener of listeners) listener(message);
  expect(await nextPiece(response)).toBe(`id: 7\ndata: ${JSON.stringify(message)}\n\n`);
  vi.advanceTimersByTime(15_000);
  expect(await nextPiece(response)).toBe(':\n\n');
  response.destroy();
});

test('who has left before the stream is opened leaves nothing behind', async () => {
  const left = Promise.withResolvers<void>();
  admitted = async (response) => {
    request.destroy();
    await once(response, 'close');
    left.resolve();
  };
  const address = server.address();
  const request = get({ port: typeof address === 'object' ? address?.port : undefined, agent: false });
  request.on('error', () => {});
  await left.promise;
  admitted = async () => {};
  await new Promise((resolve) => setImmediate(resolve));
  expect([listeners.size, vi.getTimerCount()]).toEqual([0, 0]);
});

test('who leaves is told no more, and leaves no timer behind', async () => {
  const response = await openStream();
  expect([listeners.size, vi.getTimerCount()]).toEqual([1, 1]);
  response.destroy();
  await vi.waitUntil(() => listeners.size === 0);
  expect(vi.getTimerCount()).toBe(0);
});

test('closing ends all streams and refuses new ones', async () => {
  const response = await openStream();
  const ended = once(response, 'end');
  response.resume();
  opened.close();
  await ended;
  const unused = Object.create(null);
  expect(() => opened.open(unused, () => true)).toThrow(GatewayError);
});

test('a stream ends with the session that it was opened with, at the latest with the next comment', async () => {
  const response = await openStream();
  const text = once(response.resume(), 'end');
  mayHear = false;
  vi.advanceTimersByTime(15_000);
  await text;
  mayHear = true;
  const [kept, ended] = [await openStream(), await openStream()];
  opened.endRefused();
  for (const listener of listeners) listener(message);
  expect(await nextPiece(kept)).toContain('id: 7');
  mayHear = false;
  opened.endRefused();
  await once(ended.resume(), 'end');
  kept.destroy();
});
