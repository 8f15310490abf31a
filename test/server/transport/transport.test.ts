import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { createTransport } from '../../../server/transport/create-transport.ts';
import { readResponse } from '../../../server/transport/fetch.ts';
import { observe, openTransportInSuite, requestTo } from './harness.ts';

const { transport, raw, serve } = openTransportInSuite();

describe('a reply', () => {
  test('arrives with its status, headers and bytes', async () => {
    const upstream = await serve((request, response) => {
      response.writeHead(201, { 'x-path': request.url, 'x-auth': request.headers.authorization }).end('{"ok":true}');
    });
    const { outcome } = observe(transport, requestTo(upstream.origin, { path: '/v1/models?a=b' }));
    expect(await outcome).toMatchObject({
      status: 201,
      headers: { 'x-path': '/v1/models?a=b', 'x-auth': 'Bearer planted-secret' },
      body: '{"ok":true}',
      error: null,
    });
  });

  test('to a streamed body arrives', async () => {
    const upstream = await serve((request, response) => request.pipe(response));
    const body = Readable.from([Buffer.from('a'.repeat(100_000)), Buffer.from('b')]);
    const { outcome } = observe(transport, requestTo(upstream.origin, { method: 'POST', body }));
    expect((await outcome).body).toBe(`${'a'.repeat(100_000)}b`);
  });

  test('with an interim 1xx status is told once, with its real status', async () => {
    const upstream = await raw((socket) => {
      socket.end('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    });
    expect(await observe(transport, requestTo(upstream.origin)).outcome).toMatchObject({ status: 200, body: 'ok' });
  });

  const chunked = (count: number) =>
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'2\r\nab\r\n'.repeat(count)}`;

  test('of many chunks is passed on in as many pieces as were read, not one per chunk', async () => {
    const upstream = await raw((socket) => socket.end(`${chunked(500)}0\r\n\r\n`));
    const { outcome } = observe(transport, requestTo(upstream.origin));
    const { body, pieces, error } = await outcome;
    expect({ body, error }).toEqual({ body: 'ab'.repeat(500), error: null });
    expect(pieces).toBeLessThan(20);
  });

  test('that its reader cannot read has failed, and nothing else has', async () => {
    const upstream = await serve((_request, response) => void response.write('odd'));
    const failed = new Promise<unknown>((resolve, reject) => {
      transport.send(requestTo(upstream.origin), {
        onHeaders() {},
        onData() {
          throw new TypeError('Cannot convert object to primitive value');
        },
        onEnd: () => reject(new Error('it has ended')),
        onError: resolve,
      });
    });
    expect(await failed).toMatchObject({ fault: 'malformed', cause: expect.any(TypeError) });
  });

  test('that breaks off is passed on up to its last whole chunk', async () => {
    const upstream = await raw((socket) => socket.end(chunked(50)));
    const { body, error } = await observe(transport, requestTo(upstream.origin)).outcome;
    expect({ body, fault: error?.fault }).toEqual({ body: 'ab'.repeat(50), fault: 'reset' });
  });

  test('continues after its connections were dropped, and the next request opens a new one', async () => {
    const ports: (number | undefined)[] = [];
    const finish: (() => void)[] = [];
    const upstream = await serve((request, response) => {
      ports.push(request.socket.remotePort);
      response.write('begin ');
      finish.push(() => response.end('end'));
    });
    const own = createTransport();
    const running = observe(own, requestTo(upstream.origin));
    await expect.poll(() => finish.length).toBe(1);
    finish[0]?.();
    expect(await running.outcome).toMatchObject({ body: 'begin end' });
    await setImmediate();
    const kept = observe(own, requestTo(upstream.origin));
    await expect.poll(() => finish.length).toBe(2);
    own.leaveConnections();
    const next = observe(own, requestTo(upstream.origin));
    await expect.poll(() => finish.length).toBe(3);
    for (const end of finish.slice(1)) end();
    expect(await kept.outcome).toMatchObject({ body: 'begin end' });
    expect(await next.outcome).toMatchObject({ body: 'begin end' });
    expect(ports[1]).toBe(ports[0]);
    expect(ports[2]).not.toBe(ports[0]);
    await own.close();
  });

  test('is aborted at once if its network is gone, and no other one is', async ({ skip }) => {
    const outside = Object.values(os.networkInterfaces()).flatMap((list) =>
      (list ?? []).filter(({ internal, family }) => !internal && family === 'IPv4'),
    )[0];
    if (!outside) {
      process.stdout.write('skipped: this machine has no address besides loopback\n');
      return skip();
    }
    const open: http.ServerResponse[] = [];
    const server = http.createServer((_request, response) => open.push(response));
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    const { port } = server.address() as AddressInfo;
    const own = createTransport();
    const [gone, stays] = [outside.address, '127.0.0.1'].map((host) =>
      observe(own, requestTo(`http://${host}:${port}`)),
    );
    await expect.poll(() => open.length).toBe(2);
    own.leaveConnections();
    const before = os.networkInterfaces;
    os.networkInterfaces = () => ({ lo: before().lo });
    syncBuiltinESMExports();
    try {
      own.leaveConnections();
    } finally {
      os.networkInterfaces = before;
      syncBuiltinESMExports();
    }
    expect((await gone?.outcome)?.error).toMatchObject({ fault: 'reset', phase: 'headers' });
    for (const response of open) response.end('ok');
    expect(await stays?.outcome).toMatchObject({ status: 200, body: 'ok' });
    await own.close();
    server.close();
  });

  test('closes its connection ten minutes after the last request, at a request to another upstream', async () => {
    const own = createTransport();
    const serveOk = () => serve((_request, response) => response.end('ok'));
    const [idle, other, third] = [await serveOk(), await serveOk(), await serveOk()];
    const ask = async ({ origin }: { origin: string }) =>
      expect((await observe(own, requestTo(origin)).outcome).body).toBe('ok');
    await ask(idle);
    await ask(other);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 601_000 });
    try {
      await ask(other);
      expect(idle.sockets.size).toBe(1);
      await ask(third);
      await expect.poll(() => idle.sockets.size).toBe(0);
      expect(other.sockets.size).toBeGreaterThan(0);
      await ask(idle);
    } finally {
      vi.useRealTimers();
    }
    await own.close();
  });

  test('leaves its connection for the next request', async () => {
    const ports = new Set<number | undefined>();
    const upstream = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('ok');
    });
    for (let round = 0; round < 3; round++) {
      expect((await observe(transport, requestTo(upstream.origin)).outcome).body).toBe('ok');
      // The pool takes a connection back one turn after the end of the reply.
      await setImmediate();
    }
    expect(ports.size).toBe(1);
  });
});

describe('pause', () => {
  test('stops a fast upstream until resume, so that memory stays bounded', async () => {
    const piece = Buffer.alloc(64 * 1024, 'x');
    const pieces = 1024;
    let sent = 0;
    let stuck = () => {};
    const isStuck = new Promise<void>((resolve) => {
      stuck = resolve;
    });
    const upstream = await serve((_request, response) => {
      const pump = () => {
        while (sent < pieces) {
          sent++;
          if (!response.write(piece)) {
            // Nothing drains for a while, so the reader has stopped reading.
            const timer = setTimeout(stuck, 300);
            response.once('drain', () => {
              clearTimeout(timer);
              pump();
            });
            return;
          }
        }
        response.end();
      };
      pump();
    });
    let received = 0;
    await new Promise<void>((resolve, reject) => {
      const exchange = transport.send(requestTo(upstream.origin), {
        onHeaders() {},
        onData(chunk) {
          if (received === 0) {
            exchange.pause();
            void isStuck.then(() => {
              expect(received).toBeLessThan(1024 * 1024);
              expect(sent).toBeLessThan(pieces);
              exchange.resume();
            }, reject);
          }
          received += chunk.length;
        },
        onEnd: resolve,
        onError: reject,
      });
    });
    expect(received).toBe(pieces * piece.length);
  });
});

describe('a response of many chunks', () => {
  // Pieces of one read are joined in its memory, which must not change what was passed on earlier.
  test('passes on every byte once and unaltered, also with pauses in any place', async () => {
    const bytes = Buffer.alloc(6_000_000);
    for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
    const upstream = await serve((_request, response) => {
      for (let at = 0, length = 1; at < bytes.length; at += length, length = (length * 7 + 11) % 3_001) {
        response.write(bytes.subarray(at, at + length));
      }
      response.end();
    });
    const responses = await Promise.all([0, 2, 3, 5].map((pauseEvery) => readWithPauses(upstream.origin, pauseEvery)));
    for (const pieces of responses) expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  });
});

/** Resolves with the pieces as they were passed on. Pauses for a turn of the event loop after every so many; 0: never. */
function readWithPauses(origin: string, pauseEvery: number): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const call = transport.send(requestTo(origin), {
      onHeaders() {},
      onData(piece) {
        pieces.push(piece);
        if (pauseEvery === 0 || pieces.length % pauseEvery !== 0) return;
        call.pause();
        void setImmediate().then(() => call.resume());
      },
      onEnd: () => resolve(pieces),
      onError: reject,
    });
  });
}

describe('readResponse', () => {
  test('gathers a reply', async () => {
    const upstream = await serve((_request, response) => response.end('{"data":[]}'));
    const reply = await readResponse(transport, requestTo(upstream.origin));
    expect(reply.body.toString()).toBe('{"data":[]}');
  });

  test('gives up on a reply that is too long, and closes its connection', async () => {
    const upstream = await serve((_request, response) => response.write('x'.repeat(1000)));
    const connected = upstream.nextSocket();
    const reply = readResponse(transport, requestTo(upstream.origin), 999);
    const closed = connected.then((socket) => new Promise((resolve) => socket.once('close', resolve)));
    await expect(reply).rejects.toMatchObject({ fault: 'malformed', phase: 'body' });
    await closed;
  });
});

test('close ends running calls as `aborted`, which are not retried', async () => {
  const own = createTransport();
  const upstream = await serve((_request, response) => response.write('half'));
  const observed = observe(own, requestTo(upstream.origin));
  await observed.firstData;
  await own.close();
  expect((await observed.outcome).error).toMatchObject({ fault: 'aborted' });
});
