import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import { Readable } from 'node:stream';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { createTransport } from '../../../server/transport/create-transport.ts';
import { readResponse } from '../../../server/transport/read-response.ts';
import { closedPort } from '../../support/ports.ts';
import { failureOf, type ListeningSocketServer, listen, listenRaw, observe, requestTo } from './harness.ts';

const transport = createTransport();
const servers: ListeningSocketServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});
afterAll(() => transport.close());

async function raw(...parameters: Parameters<typeof listenRaw>): Promise<ListeningSocketServer & { origin: string }> {
  const server = await listenRaw(...parameters);
  servers.push(server);
  return { ...server, origin: `http://127.0.0.1:${server.port}` };
}

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = await listen(http.createServer(answer));
  servers.push(server);
  return { ...server, origin: `http://127.0.0.1:${server.port}` };
}

async function* slowly(pieces: readonly string[], pauseMs: number) {
  for (const piece of pieces) {
    yield Buffer.from(piece);
    await sleep(pauseMs);
  }
}

const limits = { connectMs: 30_000, firstByteMs: 30_000, idleMs: 30_000 };

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

  test('of many chunks goes on in as many pieces as it was read in, not in as many as it has chunks', async () => {
    const upstream = await raw((socket) => socket.end(`${chunked(500)}0\r\n\r\n`));
    const { outcome } = observe(transport, requestTo(upstream.origin));
    const { body, pieces, error } = await outcome;
    expect({ body, error }).toEqual({ body: 'ab'.repeat(500), error: null });
    expect(pieces).toBeLessThan(20);
  });

  test('that breaks off is told up to its last whole chunk', async () => {
    const upstream = await raw((socket) => socket.end(chunked(50)));
    const { body, error } = await observe(transport, requestTo(upstream.origin)).outcome;
    expect({ body, fault: error?.fault }).toEqual({ body: 'ab'.repeat(50), fault: 'reset' });
  });

  test('goes on after its connections were left, and the next request opens a new one', async () => {
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

  test('breaks off at once what runs over a network that is gone, and nothing else', async ({ skip }) => {
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

  test('closes its connection ten minutes after the last request, when there is a request to another place', async () => {
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
      // The pool takes a connection back in the turn after the reply's end.
      await setImmediate();
    }
    expect(ports.size).toBe(1);
  });
});

describe('a failure before the connection stands', () => {
  test('is `refused` where nobody listens', async () => {
    const error = await failureOf(transport, requestTo(`http://127.0.0.1:${await closedPort()}`));
    expect(error).toMatchObject({ fault: 'refused', phase: 'connect' });
  });

  test('is `dns` where the name does not exist', async () => {
    const error = await failureOf(transport, requestTo('http://no-such-host.invalid'));
    expect(error).toMatchObject({ fault: 'dns', phase: 'connect' });
    expect(error.message).toContain('no-such-host.invalid');
  });

  test('is a `timeout` while connecting where the handshake gets no answer', async () => {
    const silent = await raw(() => {});
    const timeouts = { ...limits, connectMs: 150 };
    const error = await failureOf(transport, requestTo(`https://127.0.0.1:${silent.port}`, { timeouts }));
    expect(error).toMatchObject({ fault: 'timeout', phase: 'connect', message: 'no connection within 150 ms' });
  });
});

describe('a failure after the connection stands', () => {
  test('is a `timeout` of the headers where the upstream says nothing', async () => {
    const silent = await raw(() => {});
    const timeouts = { ...limits, firstByteMs: 100 };
    // undici's own limits come up to a second late. A timer of this process is as late as its limit on a busy machine; the
    // connection before may be late too, so one of several attempts tells enough.
    let isInTime = false;
    for (let attempt = 0; attempt < 10 && !isInTime; attempt++) {
      const failure = failureOf(transport, requestTo(silent.origin, { timeouts }));
      isInTime = await Promise.race([failure.then(() => true), sleep(300, false)]);
      expect(await failure).toMatchObject({ fault: 'timeout', phase: 'headers', message: 'no answer within 100 ms' });
    }
    expect(isInTime).toBe(true);
  });

  test('is none while a long upload is still on its way', async () => {
    const upstream = await serve((request, response) => request.resume().on('end', () => response.end('ok')));
    const body = Readable.from(slowly(['a', 'b', 'c', 'd'], 100));
    const timeouts = { ...limits, firstByteMs: 250 };
    const { outcome } = observe(transport, requestTo(upstream.origin, { method: 'POST', body, timeouts }));
    expect(await outcome).toMatchObject({ status: 200, body: 'ok', error: null });
  });

  test('is none while the reader itself is slow', async () => {
    const upstream = await serve((_request, response) => response.end('x'.repeat(200_000)));
    const silent = await serve((_request, response) => response.write('half'));
    const timeouts = { ...limits, idleMs: 100 };
    const { exchange, outcome, firstData } = observe(transport, requestTo(upstream.origin, { timeouts }));
    await firstData;
    exchange.pause();
    // One that begins only now runs into the limit, so by then the paused one would have, too.
    expect(await failureOf(transport, requestTo(silent.origin, { timeouts }))).toMatchObject({ phase: 'body' });
    exchange.resume();
    expect(await outcome).toMatchObject({ status: 200, error: null });
  });

  test('is a `timeout` of the body where the upstream falls silent', async () => {
    const upstream = await serve((_request, response) => response.write('half'));
    const timeouts = { ...limits, idleMs: 100 };
    const { status, body, error } = await observe(transport, requestTo(upstream.origin, { timeouts })).outcome;
    expect({ status, body }).toEqual({ status: 200, body: 'half' });
    expect(error).toMatchObject({ fault: 'timeout', phase: 'body' });
  });

  test('is a `timeout` of the whole where the reply never ends, however lively', async () => {
    const upstream = await serve((_request, response) => {
      const timer = setInterval(() => response.write('.'), 10);
      response.on('close', () => clearInterval(timer));
    });
    const timeouts = { ...limits, totalMs: 150 };
    const { error } = await observe(transport, requestTo(upstream.origin, { timeouts })).outcome;
    expect(error).toMatchObject({ fault: 'timeout', phase: 'body', message: 'no complete answer within 150 ms' });
  });

  test('is a `timeout` of the whole where there are no headers either', async () => {
    const silent = await raw(() => {});
    const error = await failureOf(transport, requestTo(silent.origin, { timeouts: { ...limits, totalMs: 100 } }));
    expect(error).toMatchObject({ fault: 'timeout', phase: 'headers' });
  });

  test('is a `reset` before the headers where the upstream hangs up', async () => {
    const upstream = await raw((socket) => socket.resetAndDestroy());
    expect(await failureOf(transport, requestTo(upstream.origin))).toMatchObject({ fault: 'reset', phase: 'headers' });
  });

  test('is a `reset` of the body where the upstream closes in the middle of a chunk', async () => {
    const upstream = await raw((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nhalf');
    });
    const { body, error } = await observe(transport, requestTo(upstream.origin)).outcome;
    expect(body).toBe('half');
    expect(error).toMatchObject({ fault: 'reset', phase: 'body' });
  });

  test('is a `reset` of the body where the upstream resets the connection', async () => {
    const upstream = await raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf');
    });
    const connected = upstream.nextSocket();
    const observed = observe(transport, requestTo(upstream.origin));
    await observed.firstData;
    (await connected).resetAndDestroy();
    expect((await observed.outcome).error).toMatchObject({ fault: 'reset', phase: 'body' });
  });

  test.each([
    ['no status line', 'hello\r\n\r\n'],
    ['a status that is none', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['a header with a space in its name', 'HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
  ])('is `malformed` where the reply has %s', async (_what, reply) => {
    const upstream = await raw((socket) => socket.write(reply));
    expect(await failureOf(transport, requestTo(upstream.origin))).toMatchObject({ fault: 'malformed' });
  });

  test('is `malformed` where the headers are endless', async () => {
    const upstream = await raw((socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`));
    expect(await failureOf(transport, requestTo(upstream.origin))).toMatchObject({ fault: 'malformed' });
  });

  test('is `malformed` in the body where a chunk has no length', async () => {
    const upstream = await raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n');
    });
    const { body, error } = await observe(transport, requestTo(upstream.origin)).outcome;
    expect(body).toBe('ok');
    expect(error).toMatchObject({ fault: 'malformed', phase: 'body' });
  });

  test('is told for a request that cannot be sent at all', async () => {
    const error = await failureOf(transport, requestTo('http://127.0.0.1:1', { headers: { 'x-a': 'line\nbreak' } }));
    expect(error).toMatchObject({ fault: 'malformed' });
  });
});

describe('abort', () => {
  test('closes the connection to the upstream at once, in the middle of a reply', async () => {
    const upstream = await serve((_request, response) => response.write('half'));
    const connected = upstream.nextSocket();
    const observed = observe(transport, requestTo(upstream.origin));
    const socket = await connected;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await observed.firstData;
    observed.exchange.abort();
    expect((await observed.outcome).error).toMatchObject({ fault: 'aborted', phase: 'body' });
    await closed;
  });

  test('closes the connection before the headers', async () => {
    const upstream = await raw(() => observed.exchange.abort());
    const connected = upstream.nextSocket();
    const observed = observe(transport, requestTo(upstream.origin));
    const closed = connected.then((socket) => new Promise((resolve) => socket.once('close', resolve)));
    expect((await observed.outcome).error).toMatchObject({ fault: 'aborted', phase: 'headers' });
    await closed;
  });

  test('before the connection stands is told at once, and nothing is sent later', async () => {
    const upstream = await serve((_request, response) => response.end('ok'));
    const { exchange, outcome } = observe(transport, requestTo(upstream.origin, { path: '/aborted' }));
    exchange.abort();
    expect((await outcome).error).toMatchObject({ fault: 'aborted', phase: 'connect' });
    expect((await observe(transport, requestTo(upstream.origin)).outcome).body).toBe('ok');
    expect([...upstream.sockets].reduce((sum, socket) => sum + socket.bytesRead, 0)).toBeLessThan(200);
  });

  test('of a reply that is complete changes nothing', async () => {
    const upstream = await serve((_request, response) => response.end('ok'));
    const { exchange, outcome } = observe(transport, requestTo(upstream.origin));
    expect((await outcome).error).toBeNull();
    exchange.abort();
    expect((await observe(transport, requestTo(upstream.origin)).outcome).body).toBe('ok');
  });

  test('does not touch another request to the same upstream', async () => {
    const waiting: ServerResponse[] = [];
    const upstream = await serve((request, response) => {
      if (request.url === '/stays') waiting.push(response);
      response.write('half');
    });
    const stays = observe(transport, requestTo(upstream.origin, { path: '/stays' }));
    const goes = observe(transport, requestTo(upstream.origin, { path: '/goes' }));
    await Promise.all([stays.firstData, goes.firstData]);
    goes.exchange.abort();
    await goes.outcome;
    for (const response of waiting) response.end('+half');
    expect(await stays.outcome).toMatchObject({ body: 'half+half', error: null });
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
            // Nothing drains for a while: the reader takes no more.
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

test('close ends what is under way as `aborted`, which nobody asks again', async () => {
  const own = createTransport();
  const upstream = await serve((_request, response) => response.write('half'));
  const observed = observe(own, requestTo(upstream.origin));
  await observed.firstData;
  await own.close();
  expect((await observed.outcome).error).toMatchObject({ fault: 'aborted' });
});
