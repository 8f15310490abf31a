import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { spoolCounts } from '../../../server/http/body/spool.ts';
import { eventually } from '../../support/eventually.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => json(response, { ok: true }));
  gateway = await startGateway({ config: { providers: [mainProvider(upstream.baseUrl)] } });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterAll(async () => {
  vi.useRealTimers();
  await gateway.stop();
  await upstream.stop();
});

async function begin(path: string, type: string, first: string, length: number): Promise<ClientRequest> {
  const request = http.request(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${testKey}`, 'content-type': type, 'content-length': length },
  });
  request.on('error', () => {});
  await new Promise<void>((resolve) => request.write(first, () => resolve()));
  // By now the gateway has begun to read the request.
  await fetch(`${gateway.origin}/healthz`);
  return request;
}

/** Simulates this many checks of the gateway's watch, each preceded by a little of the body. */
async function send(request: ClientRequest, looks: number, piece: string): Promise<void> {
  for (let look = 0; look < looks; look++) {
    await new Promise<void>((resolve) => request.write(piece, () => resolve()));
    await fetch(`${gateway.origin}/healthz`);
    vi.advanceTimersByTime(10_000);
  }
}

const form = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';

test.each([
  ['JSON', '/chat/completions', 'application/json', '{"model":"'],
  ['a form', '/audio/transcriptions', 'multipart/form-data; boundary=b', form],
])('a sender of %s that drips is cut off after half a minute, with the reason', async (_what, path, type, first) => {
  const request = await begin(path, type, first, 1_000_000);
  const replied = once(request, 'response') as Promise<[IncomingMessage]>;
  await send(request, 3, 'x');
  const [reply] = await replied;
  let text = '';
  for await (const piece of reply) text += piece;
  expect([reply.statusCode, JSON.parse(text).error.code]).toEqual([408, 'request_timeout']);
  expect(reply.headers['x-should-retry']).toBe('false');
  expect(await gateway.record(String(reply.headers['x-request-id']))).toMatchObject({ status: 408, attempts: [] });
  await eventually(() => spoolCounts.spools === 0);
  expect(upstream.seen).toHaveLength(0);
});

test('one that sends at an ordinary pace may take as long as it needs', async () => {
  const piece = 'x'.repeat(12 * 1024);
  const [head, tail] = ['{"model":"gpt-x","user":"', '"}'];
  const request = await begin('/chat/completions', 'application/json', head, head.length + 8 * piece.length + 2);
  await send(request, 8, piece);
  request.end(tail);
  const [reply] = (await once(request, 'response')) as [IncomingMessage];
  reply.resume();
  expect(reply.statusCode).toBe(200);
});

test('one whose body is not needed, and drips after its answer, is disconnected', async () => {
  const socket = connect(Number(new URL(gateway.origin).port), '127.0.0.1').on('error', () => {});
  socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n');
  const [reply] = await once(socket, 'data');
  // `once` would reject at an error: what the gateway has not read by then makes its system reset the connection.
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (let look = 0; look < 4; look++) {
    expect(socket.closed).toBe(false);
    await new Promise<void>((resolve) => socket.write('x', () => resolve()));
    await fetch(`${gateway.origin}/healthz`);
    vi.advanceTimersByTime(10_000);
  }
  await closed;
  expect(String(reply)).toMatch(/^HTTP\/1\.1 200 /);
});
