import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { listen } from '../../../server/http/server.ts';

const anywhere = { host: '127.0.0.1', port: 0 };

/** A server that leaves its requests open, so that the test answers them. */
async function open() {
  const arrived = Promise.withResolvers<ServerResponse>();
  const server = await listen((_request, response) => arrived.resolve(response), anywhere);
  const request = http.get({ port: server.port, host: '127.0.0.1', agent: false });
  request.on('error', () => {});
  return { server, request, response: await arrived.promise };
}

describe('stopping', () => {
  test('waits for what is under way, and takes nothing new meanwhile', async () => {
    const { server, request, response } = await open();
    const stopped = server.stop(10_000);
    const [refused] = await once(connect(server.port, '127.0.0.1'), 'error');
    expect(refused.code).toBe('ECONNREFUSED');
    response.end('late');
    const [reply] = (await once(request, 'response')) as [IncomingMessage];
    let text = '';
    for await (const piece of reply) text += piece;
    await stopped;
    expect(text).toBe('late');
  });

  test('closes what has not ended in time', async () => {
    const { server, request } = await open();
    const failed = once(request, 'error');
    await server.stop(50);
    expect((await failed)[0].code).toBe('ECONNRESET');
  });

  test('does not wait for idle connections', async () => {
    const server = await listen((_request, response) => response.end(), anywhere);
    const agent = new http.Agent({ keepAlive: true });
    const request = http.get({ port: server.port, host: '127.0.0.1', agent });
    const [reply] = (await once(request, 'response')) as [IncomingMessage];
    reply.resume();
    await once(reply, 'end');
    const began = performance.now();
    await server.stop(30_000);
    expect(performance.now() - began).toBeLessThan(20_000);
    agent.destroy();
  });
});

test('a client that has left is not waited for', async () => {
  const { server, request, response } = await open();
  const closed = once(response, 'close');
  request.destroy();
  await closed;
  const began = performance.now();
  await server.stop(30_000);
  expect(performance.now() - began).toBeLessThan(20_000);
});

describe('what is no HTTP', () => {
  /** Resolves with everything that the client received, once the connection is closed. */
  async function talk(serve: http.RequestListener, begun: string, garbage: string): Promise<string> {
    const server = await listen(serve, anywhere);
    const socket = connect(server.port, '127.0.0.1');
    let got = '';
    socket.on('data', (bytes) => {
      got += bytes;
      if (begun !== '' && got.endsWith(begun)) socket.write(garbage);
    });
    socket.write(begun === '' ? garbage : 'GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'close');
    await server.stop(0);
    return got;
  }

  test('is answered', async () => {
    expect(await talk(() => {}, '', 'no HTTP\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 .*is not valid HTTP/s);
  });

  test('is answered after a response that has ended', async () => {
    const got = await talk((_request, response) => response.end('whole'), 'whole', 'no HTTP\r\n\r\n');
    expect(got).toMatch(/^HTTP\/1\.1 200 .*wholeHTTP\/1\.1 400 /s);
  });

  test('ends a running response, in which nothing else is written', async () => {
    const begin: http.RequestListener = (_request, response) => void response.write('begun');
    const got = await talk(begin, 'begun\r\n', 'no HTTP\r\n\r\n');
    expect(got).toMatch(/^HTTP\/1\.1 200 .*begun\r\n$/s);
  });
});

test('a client that asks for a tunnel and resets its connection ends nothing but that', async () => {
  const crashed = vi.fn();
  process.on('uncaughtException', crashed);
  const server = await listen((_request, response) => response.end('served'), anywhere);
  for (let count = 0; count < 20; count++) {
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('CONNECT api.example:443 HTTP/1.1\r\nhost: x\r\n\r\n', () => socket.resetAndDestroy());
    await once(socket, 'close');
    const [reply] = await once(http.get({ port: server.port, host: '127.0.0.1', agent: false }), 'response');
    expect(reply.resume().statusCode).toBe(200);
  }
  await server.stop(0);
  process.off('uncaughtException', crashed);
  expect(crashed).not.toHaveBeenCalled();
});

test('an upload may take longer than any time limit while it makes progress', async () => {
  const created = vi.spyOn(http, 'createServer');
  const echo: http.RequestListener = async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    response.end(text);
  };
  const server = await listen(echo, { ...anywhere, headersTimeoutMs: 50 });
  const httpServer: http.Server = created.mock.results[0]?.value;
  created.mockRestore();
  // Minutes would become milliseconds.
  httpServer.requestTimeout /= 1_000;
  const request = http.request({ port: server.port, host: '127.0.0.1', agent: false, method: 'POST' });
  const replied = once(request, 'response') as Promise<[IncomingMessage]>;
  const sending = setInterval(() => request.write('x'.repeat(1_000)), 20);
  setTimeout(() => {
    clearInterval(sending);
    request.end('end');
  }, 1_000);
  const [reply] = await replied;
  let text = '';
  for await (const chunk of reply) text += chunk;
  clearInterval(sending);
  await server.stop(0);
  expect([reply.statusCode, text.slice(-4)]).toEqual([200, 'xend']);
});

test('a port that is taken is the system’s error', async () => {
  const server = await listen((_request, response) => response.end(), anywhere);
  await expect(listen(() => {}, { host: '127.0.0.1', port: server.port })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
  await server.stop(0);
});
