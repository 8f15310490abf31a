/** What undici does not do with connections: interim answers, connections closed between two requests, and reasons for people. */
import type { Socket } from 'node:net';
import net from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ResponseHandler } from '../../../server/transport/transport.ts';
import { TransportError } from '../../../server/transport/transport-error.ts';
import { failureOf, listen, observe, openTransportInSuite, requestTo } from './harness.ts';

const { transport, raw, serve, servers } = openTransportInSuite();

const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Answers each request of a connection; `then` is told of it. */
async function answering(then: (socket: Socket, request: string) => boolean = () => true) {
  const seen: string[] = [];
  const upstream = await listen(
    net.createServer((socket) => {
      socket.on('data', (bytes) => {
        seen.push(bytes.toString());
        if (then(socket, bytes.toString())) socket.write(answer);
      });
    }),
  );
  servers.push(upstream);
  return { seen, sockets: upstream.sockets, origin: `http://127.0.0.1:${upstream.port}` };
}

/** Sends a request, with a hook for the moment at which it is about to be written. */
function send(origin: string, onSending: () => void): Promise<string> {
  return new Promise((resolve, reject) => {
    let body = '';
    const handler: ResponseHandler = {
      onSending,
      onHeaders() {},
      onData: (chunk) => {
        body += chunk;
      },
      onEnd: () => resolve(body),
      onError: reject,
    };
    transport.send(requestTo(origin, { method: 'POST', body: Buffer.from('{"a":1}') }), handler);
  });
}

/** undici reuses a connection from the next turn of the event loop on. */
async function isKept(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

describe('a request on a kept connection', () => {
  test.each([
    ['ended', (socket: Socket) => socket.end()],
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
  ])('that the upstream has just %s is sent once, on a new one', async (_how, close) => {
    const upstream = await answering();
    expect(await send(upstream.origin, () => {})).toBe('ok');
    await isKept();
    let sendings = 0;
    const second = send(upstream.origin, () => {
      if (sendings++ === 0) for (const socket of upstream.sockets) close(socket);
    });
    expect(await second).toBe('ok');
    expect({ sendings, seen: upstream.seen.length }).toEqual({ sendings: 2, seen: 2 });
  });

  test('that had reached the upstream when it hung up is left to others to repeat', async () => {
    let count = 0;
    const upstream = await answering((socket) => {
      if (++count === 2) socket.destroy();
      return count !== 2;
    });
    expect(await send(upstream.origin, () => {})).toBe('ok');
    await isKept();
    const failure = await send(upstream.origin, () => {}).catch((error: unknown) => error);
    expect(failure).toMatchObject({ fault: 'reset', phase: 'headers', isStale: true, isUnsent: false });
    expect(upstream.seen).toHaveLength(2);
  });

  test('whose first request it is has no such excuse', async () => {
    const upstream = await answering((socket) => {
      socket.destroy();
      return false;
    });
    const failure = await send(upstream.origin, () => {}).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TransportError);
    expect(failure).toMatchObject({ fault: 'reset', isStale: false });
    expect(upstream.seen).toHaveLength(1);
  });

  test('that broke in the middle of the head has none either', async () => {
    let count = 0;
    const upstream = await answering((socket) => {
      if (++count === 2) socket.end('HTTP/1.1 200 OK\r\ncontent-');
      return count !== 2;
    });
    await send(upstream.origin, () => {});
    await isKept();
    const failure = await send(upstream.origin, () => {}).catch((error: unknown) => error);
    expect(failure).toMatchObject({ fault: 'reset', isStale: false });
  });
});

describe('interim answers that nobody asked for', () => {
  const interims = {
    'a 100': 'HTTP/1.1 100 Continue\r\n\r\n',
    'a 100 with headers': 'HTTP/1.1 100 Continue\r\ndate: x\r\n\r\n',
    'a 100 without a phrase': 'HTTP/1.1 100\r\n\r\n',
    'a 102': 'HTTP/1.1 102 Processing\r\n\r\n',
    hints: 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
    'one of each, many times':
      'HTTP/1.1 103 Hints\r\na: b\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 199 X\r\n\r\n'.repeat(50),
  };
  const pieces = { 'in one piece': Number.POSITIVE_INFINITY, 'one byte a chunk': 1, 'in pieces of seven bytes': 7 };
  const cases = Object.entries(interims).flatMap(([what, bytes]) =>
    Object.entries(pieces).map(([how, size]) => ({ what, bytes, how, size })),
  );

  test.each(cases)('$what, $how, are passed over, and the connection is kept', async ({ bytes, size }) => {
    const upstream = await answering((socket) => {
      void writeInPieces(socket, bytes + answer, size);
      return false;
    });
    expect(await observe(transport, requestTo(upstream.origin)).outcome).toMatchObject({ status: 200, body: 'ok' });
    await isKept();
    expect(await observe(transport, requestTo(upstream.origin)).outcome).toMatchObject({ status: 200, body: 'ok' });
    expect(upstream.sockets.size).toBe(1);
  });

  test('leave the body alone that looks like one', async () => {
    const body = interims['a 100'].repeat(3);
    const upstream = await answering((socket) => {
      void writeInPieces(socket, `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`, 1);
      return false;
    });
    expect(await observe(transport, requestTo(upstream.origin)).outcome).toMatchObject({ status: 200, body });
  });

  test('without end are an error, not memory', async () => {
    const upstream = await raw((socket) => {
      socket.write(`HTTP/1.1 100 Continue\r\na: ${'b'.repeat(200_000)}`);
    });
    expect((await failureOf(transport, requestTo(upstream.origin))).message).toBe('headers of more than 64 kB');
  });

  test('after which nothing comes are silence', async () => {
    const upstream = await raw((socket) => void socket.write(interims['a 100']));
    const timeouts = { connectMs: 30_000, firstByteMs: 200, idleMs: 30_000 };
    const failure = await failureOf(transport, requestTo(upstream.origin, { timeouts }));
    expect(failure).toMatchObject({ fault: 'timeout', phase: 'headers' });
  });
});

async function writeInPieces(socket: Socket, text: string, size: number): Promise<void> {
  socket.setNoDelay(true);
  for (let at = 0; at < text.length; at += size) {
    socket.write(text.slice(at, at + size));
    if (at < 100) await setImmediate();
  }
}

describe('a head that cannot be read', () => {
  const ok = 'HTTP/1.1 200 OK\r\n';
  test.each([
    ['a header that is folded over two lines', `${ok}x-a: b\r\n  c\r\ncontent-length: 2\r\n\r\nok`],
    ['a header "x-a" with a forbidden character', `${ok}x-a: b\0c\r\n\r\n`],
    ['a header without a colon', `${ok}nonsense\r\n\r\n`],
    ['a header whose name has a forbidden character', `${ok}x a: b\r\n\r\n`],
    ['the header Content-Length twice', `${ok}content-length: 2\r\nContent-Length: 2\r\n\r\nok`],
    ['the header Content-Length twice', `${ok}content-length: 2\r\ncontent-length: 3\r\n\r\nok`],
    ['both Content-Length and Transfer-Encoding', `${ok}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n`],
    ['a head with a line that ends without a carriage return', 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok'],
    ['a head with a line that ends without a carriage return', `${ok}x-a: b\ncontent-length: 2\r\n\r\nok`],
    ['headers of more than 64 kB', `${ok}x: ${'x'.repeat(70_000)}\r\n\r\n`],
    ['something that is no HTTP/1.1', 'SSH-2.0-OpenSSH_9.2p1\r\n'],
    ['something that is no HTTP/1.1', 'HTTP/1.1 abc OK\r\n\r\n'],
    [
      'a change of protocol (101) that was not asked for',
      'HTTP/1.1 101 X\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ],
    ['TLS where the address has http:, so it should begin with https:', '\x15\x03\x01\x00\x02\x02\x28'],
    ['HTTP/2, which was not asked for', '\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00\x40\x00'],
  ])('is told as %s, wherever its length stands', async (message, reply) => {
    for (const bytes of [reply, reply.replace(ok, `${ok}content-length: 2\r\n`)].slice(
      0,
      message.includes('Length') ? 1 : 2,
    )) {
      const upstream = await raw((socket) => void socket.write(Buffer.from(bytes, 'latin1')));
      expect(await failureOf(transport, requestTo(upstream.origin))).toMatchObject({
        ...{ fault: 'malformed', phase: 'headers', message },
      });
    }
  });

  test('is one that breaks off, if it breaks off', async () => {
    for (const part of ['H', 'HTTP/1.1 20', `${ok}x-a: b`, `${ok}x-a`]) {
      const upstream = await raw((socket) => socket.end(part));
      expect(await failureOf(transport, requestTo(upstream.origin))).toMatchObject({
        fault: 'reset',
        phase: 'headers',
      });
    }
  });

  test('is none with 60 kB of headers', async () => {
    const value = 'x'.repeat(60_000);
    const upstream = await serve((_request, response) => response.writeHead(200, { 'x-long': value }).end('ok'));
    const { headers, body } = await observe(transport, requestTo(upstream.origin)).outcome;
    expect({ body, length: headers['x-long']?.length }).toEqual({ body: 'ok', length: 60_000 });
  });
});
