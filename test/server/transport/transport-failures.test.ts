import dns from 'node:dns';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { stretched } from '../../support/cpu-work.ts';
import { closedPort, unknownHost } from '../../support/ports.ts';
import { failureOf, observe, openTransportInSuite, requestTo } from './harness.ts';

const { transport, raw, serve } = openTransportInSuite();

async function* slowly(pieces: readonly string[], pauseMs: number) {
  for (const piece of pieces) {
    yield Buffer.from(piece);
    await sleep(pauseMs);
  }
}

const limits = { connectMs: 30_000, firstByteMs: 30_000, idleMs: 30_000 };

describe('a failure before the connection stands', () => {
  test('is `refused` where nobody listens', async () => {
    const error = await failureOf(transport, requestTo(`http://127.0.0.1:${await closedPort()}`));
    expect(error).toMatchObject({ fault: 'refused', phase: 'connect' });
  });

  test('is `dns` where the name does not exist', async () => {
    const error = await failureOf(transport, requestTo(`http://${unknownHost}`));
    expect(error).toMatchObject({ fault: 'dns', phase: 'connect' });
    expect(error.message).toContain(unknownHost);
  });

  test('is a `dns-timeout` where no name server answers', async () => {
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation((() => {}) as never);
    const timeouts = { ...limits, connectMs: 150 };
    const error = await failureOf(transport, requestTo('http://api.example', { timeouts }));
    lookup.mockRestore();
    expect(error).toMatchObject({ fault: 'dns-timeout', message: 'no address of api.example within 150 ms' });
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
    // undici's own timeouts fire up to a second late. On a busy machine, this process's own timer is late as well, and
    // connecting may take longer. One of several attempts in time is therefore enough.
    let isInTime = false;
    for (let attempt = 0; attempt < 10 && !isInTime; attempt++) {
      const failure = failureOf(transport, requestTo(silent.origin, { timeouts }));
      isInTime = await Promise.race([failure.then(() => true), sleep(300, false)]);
      expect(await failure).toMatchObject({ fault: 'timeout', phase: 'headers', message: 'no answer within 100 ms' });
    }
    expect(isInTime).toBe(true);
  });

  test('does not occur while a long upload is in progress', async () => {
    const upstream = await serve((request, response) => request.resume().on('end', () => response.end('ok')));
    const pauseMs = stretched(200);
    const body = Readable.from(slowly([...'abcdefgh'], pauseMs));
    const timeouts = { ...limits, firstByteMs: 5 * pauseMs };
    const { outcome } = observe(transport, requestTo(upstream.origin, { method: 'POST', body, timeouts }));
    expect(await outcome).toMatchObject({ status: 200, body: 'ok', error: null });
  });

  test('does not occur while the reader itself is slow', async () => {
    const upstream = await serve((_request, response) => response.end('x'.repeat(200_000)));
    const silent = await serve((_request, response) => response.write('half'));
    const timeouts = { ...limits, idleMs: 100 };
    const { exchange, outcome, firstData } = observe(transport, requestTo(upstream.origin, { timeouts }));
    await firstData;
    exchange.pause();
    // A request that begins now reaches the timeout. By then the paused one would have reached it as well.
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
    // Long enough for the headers to arrive within it on a busy machine.
    const timeouts = { ...limits, totalMs: 1_000 };
    const { error } = await observe(transport, requestTo(upstream.origin, { timeouts })).outcome;
    expect(error).toMatchObject({ fault: 'timeout', phase: 'body', message: 'no complete answer within 1000 ms' });
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

  test('is reported for a request that cannot be sent at all', async () => {
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

  test('before the connection is established is reported at once, and nothing is sent later', async () => {
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
