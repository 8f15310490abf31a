/** @suite long */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { spoolCounts } from '../../../server/http/body/spool.ts';
import { eventually } from '../../support/eventually.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream, oddCuts, writePieces } from '../../support/upstream.ts';
import { chatWithoutUsage, chatWithUsage } from './streams.ts';

// A thousand clients in one process take time on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let handle: Handler = () => {};
const upstream = http.createServer((request, response) => {
  request.on('error', () => {});
  response.on('error', () => {});
  handle(request, response);
});
let gateway: TestGateway;

beforeAll(async () => {
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  const providers = [mainProvider(`http://127.0.0.1:${port}/v1`)];
  // Without keep-alive comments, the stream arrives as the upstream sent it, however long a busy machine delays it.
  gateway = await startGateway({ config: { providers, settings: { keepAliveCommentMs: 0 } } });
});
afterAll(async () => {
  await gateway.stop();
  upstream.closeAllConnections();
  upstream.close();
});

const chat = '{"model":"gpt-x","stream":true}';

test('500 streams at the same time all come complete', async () => {
  const bytes = Buffer.from(chatWithUsage);
  let open = 0;
  let most = 0;
  const allOpen = Promise.withResolvers<void>();
  handle = async (request, response) => {
    request.resume();
    eventStream(response);
    most = Math.max(most, ++open);
    if (open === 500) allOpen.resolve();
    const half = Math.floor(bytes.length / 2);
    await writePieces(response, bytes.subarray(0, half), oddCuts(half, 100 + open));
    await allOpen.promise;
    await writePieces(response, bytes.subarray(half), []);
    response.end();
    open--;
  };
  const texts = await Promise.all(
    Array.from({ length: 500 }, async () => {
      const response = await gateway.fetch('/chat/completions', { method: 'POST', body: chat });
      return response.text();
    }),
  );
  expect(most).toBe(500);
  expect(new Set(texts)).toEqual(new Set([chatWithoutUsage]));
});

/** Resolves after the client has disconnected, at the moment that its kind determines. */
type Client = (name: string) => Promise<void>;

function begin(path: string, name: string, headers: http.OutgoingHttpHeaders = {}): http.ClientRequest {
  const request = http.request(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${testKey}`, 'x-client': name, ...headers },
  });
  request.on('error', () => {});
  return request;
}

const arrivals = new Map<string, () => void>();
const arrived = (name: string) => new Promise<void>((resolve) => arrivals.set(name, resolve));
const form = Buffer.concat([
  Buffer.from('--b\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt-x\r\n--b\r\n'),
  Buffer.from('Content-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'),
  Buffer.alloc(400_000),
  Buffer.from('\r\n--b--\r\n'),
]);
const formType = { 'content-type': 'multipart/form-data; boundary=b' };

const kinds: Record<string, Client> = {
  async 'before the first byte'(name) {
    const request = begin('/chat/completions', name);
    const reached = arrived(name);
    request.end(chat);
    await reached;
    request.destroy();
  },
  async 'in mid-stream'(name) {
    const request = begin('/chat/completions', name);
    request.end(chat);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.on('error', () => {});
    await once(response, 'data');
    request.destroy();
  },
  async 'in mid-upload'(name) {
    const request = begin('/audio/transcriptions', name, { ...formType, 'content-length': form.length });
    await new Promise<void>((resolve) => request.write(form.subarray(0, 350_000), () => resolve()));
    request.destroy();
  },
  async 'after its upload'(name) {
    const request = begin('/audio/transcriptions', name, { ...formType, 'content-length': form.length });
    const reached = arrived(name);
    request.end(form);
    await reached;
    request.destroy();
  },
};

/** The resources that keep the process alive, counted by kind. */
function resources(): { sockets: number; timers: number; files: number } {
  const names = process.getActiveResourcesInfo();
  const count = (pattern: RegExp) => names.filter((name) => pattern.test(name)).length;
  return { sockets: count(/^TCP/), timers: count(/^(Timeout|Immediate)$/), files: count(/^(FS|File)/) };
}

test('1,000 clients that hang up leave no socket, file, timer or request behind', async () => {
  handle = (request, response) => {
    const name = String(request.headers['x-client']);
    request.resume();
    if (name.startsWith('in mid-stream')) {
      eventStream(response);
      response.write('data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n');
    }
    arrivals.get(name)?.();
    arrivals.delete(name);
  };
  // Runs each kind once first, so that everything created once and reused (pools, caches) exists.
  for (const [kind, client] of Object.entries(kinds)) await client(`${kind} warm-up`);
  const settled = async () => {
    upstream.closeIdleConnections();
    await setImmediate();
    const open = await new Promise<number>((resolve) => upstream.getConnections((_error, count) => resolve(count)));
    const uploads = readdirSync(gateway.folder).filter((name) => name.endsWith('.upload')).length;
    return open + uploads + spoolCounts.spools + spoolCounts.files === 0 ? resources() : null;
  };
  const before = await eventually(settled);
  const work = Array.from({ length: 1000 }, (_, index) => index);
  const worker = async () => {
    for (let index = work.pop(); index !== undefined; index = work.pop()) {
      const [kind = '', client] = Object.entries(kinds)[index % 4] ?? [];
      await client?.(`${kind} ${index}`);
    }
  };
  await Promise.all(Array.from({ length: 50 }, worker));
  const after = await eventually(async () => {
    const now = await settled();
    return now && now.sockets <= before.sockets && now.timers <= before.timers && now.files <= before.files
      ? now
      : null;
  });
  expect(after.sockets).toBeLessThanOrEqual(before.sockets);
  expect(arrivals.size).toBe(0);
  // No request is running, so stopping need not wait.
  const began = performance.now();
  await gateway.gateway.stop(60_000);
  expect(performance.now() - began).toBeLessThan(30_000);
});
