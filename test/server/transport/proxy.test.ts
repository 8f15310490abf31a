import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createTransport } from '../../../server/transport/create-transport.ts';
import type { ProxySettings } from '../../../server/transport/proxy-choice.ts';
import { chooseProxy } from '../../../server/transport/proxy-choice.ts';
import { closedPort, unknownHost } from '../../support/ports.ts';
import {
  failureOf,
  type ListeningSocketServer,
  listen,
  listenRaw,
  observe,
  requestTo,
  selfSignedCertificate,
  type TestCertificate,
  trusting,
} from './harness.ts';

describe('chooseProxy', () => {
  const settings = { httpProxy: 'http://plain:1', httpsProxy: 'http://secure:2' };

  test.each<[string, string, string, ProxySettings, string | null]>([
    ['takes no proxy where none is set', 'system', 'https://a.example', {}, null],
    ['takes HTTPS_PROXY for https', 'system', 'https://a.example', settings, 'secure:2'],
    ['takes HTTP_PROXY for http', 'system', 'http://a.example', settings, 'plain:1'],
    ['does not take HTTP_PROXY for https', 'system', 'https://a.example', { httpProxy: 'http://plain:1' }, null],
    ['takes a proxy without a scheme', 'system', 'http://a.example', { httpProxy: 'plain:1' }, 'plain:1'],
    ['takes none for `direct`', 'direct', 'https://a.example', settings, null],
    ['takes the one chosen by hand', 'http://mine:3', 'https://a.example', settings, 'mine:3'],
    ['takes the one chosen by hand to loopback too', 'http://mine:3', 'http://127.0.0.1:9', settings, 'mine:3'],
    ['never takes the system’s for localhost', 'system', 'http://localhost:9', settings, null],
    ['never takes the system’s for a name below localhost', 'system', 'http://a.localhost', settings, null],
    ['never takes the system’s for 127.x', 'system', 'https://127.1.2.3', settings, null],
    ['never takes the system’s for [::1]', 'system', 'http://[::1]:9', settings, null],
  ])('%s', (_what, choice, origin, proxies, expected) => {
    const [proxy] = chooseProxy(choice, origin, proxies).hops;
    expect(proxy?.host ?? null).toBe(expected);
  });

  test.each<[string, string, boolean]>([
    ['*', 'https://a.example', true],
    ['example', 'https://a.example', true],
    ['.example', 'https://a.example', true],
    ['*.example', 'https://a.example', true],
    ['a.example', 'https://a.example', true],
    ['A.Example.', 'https://a.example', true],
    ['ample', 'https://a.example', false],
    ['b.example', 'https://a.example', false],
    ['b.example, a.example', 'https://a.example', true],
    ['b.example a.example', 'https://a.example', true],
    ['a.example:443', 'https://a.example', true],
    ['a.example:8443', 'https://a.example', false],
    ['a.example:8443', 'https://a.example:8443', true],
    ['10.0.0.7', 'http://10.0.0.7', true],
    ['0.0.7', 'http://10.0.0.7', false],
    ['fd00::7', 'http://[fd00::7]', true],
    ['[fd00::7]:80', 'http://[fd00::7]', true],
    ['[fd00::7]:81', 'http://[fd00::7]', false],
    ['localhost,127.0.0.1,10.0.0.0/8', 'http://10.99.1.2:6011', true],
    ['10.99.1.0/24', 'http://10.99.1.2', true],
    ['10.99.1.0/24', 'http://10.99.2.2', false],
    ['10.*', 'http://10.99.1.2', true],
    ['10.0.0.0/8:6011', 'http://10.99.1.2:6012', false],
    ['fd00::/8', 'http://[fd12::7]', true],
    ['', 'https://a.example', false],
    [' , ', 'https://a.example', false],
  ])('with NO_PROXY=%j %s is exempt: %s', (noProxy, origin, exempt) => {
    expect(chooseProxy('system', origin, { ...settings, noProxy }).hops[0] === null).toBe(exempt);
  });
});

describe('a request through a proxy', () => {
  let certificate: TestCertificate;
  const servers: ListeningSocketServer[] = [];
  const closing: { close(): Promise<void> }[] = [];

  beforeAll(() => {
    certificate = selfSignedCertificate('Proxy test authority', 'IP:127.0.0.1,DNS:localhost,DNS:api.example');
  });
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });
  afterAll(() => Promise.all(closing.map((transport) => transport.close())));

  function transportWith(options: Parameters<typeof createTransport>[0] = {}) {
    const transport = createTransport({ authorities: trusting(certificate.cert), ...options });
    closing.push(transport);
    return transport;
  }

  /** A small proxy that leads every name to one upstream on loopback, and records its requests. */
  async function startProxy(upstreamPort: number, secure = false) {
    const asked: { line: string; authorization: string | undefined }[] = [];
    const note = (request: http.IncomingMessage) =>
      asked.push({
        line: `${request.method} ${request.url}`,
        authorization: request.headers['proxy-authorization'],
      });
    const server = secure ? https.createServer(certificate) : http.createServer();
    server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
      note(request);
      const { pathname } = new URL(request.url ?? '');
      const { 'proxy-authorization': _own, ...headers } = request.headers;
      http
        .request({ port: upstreamPort, path: pathname, method: request.method, headers }, (reply) => {
          response.writeHead(reply.statusCode ?? 0, reply.headers);
          reply.pipe(response);
        })
        .on('error', () => response.destroy())
        .end();
    });
    server.on('connect', (request: http.IncomingMessage, client: net.Socket) => {
      note(request);
      const upstream = net.connect(upstreamPort, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        client.pipe(upstream).pipe(client);
      });
      upstream.on('error', () => client.destroy());
      client.on('error', () => upstream.destroy());
    });
    const listening = await listen(server);
    servers.push(listening);
    return { asked, host: `127.0.0.1:${listening.port}` };
  }

  async function startUpstream(secure: boolean): Promise<number> {
    const answer: http.RequestListener = (request, response) => {
      response.end(
        `${request.headers.host}${request.url} ${request.headers['proxy-authorization'] ?? 'no proxy header'}`,
      );
    };
    const server = await listen(secure ? https.createServer(certificate, answer) : http.createServer(answer));
    servers.push(server);
    return server.port;
  }

  test('to http asks for the whole URL', async () => {
    const proxy = await startProxy(await startUpstream(false));
    const transport = transportWith({ proxies: { httpProxy: `http://${proxy.host}` } });
    const { outcome } = observe(transport, requestTo('http://api.example', { proxy: 'system' }));
    expect(await outcome).toMatchObject({ status: 200, body: 'api.example/v1/models no proxy header' });
    expect(proxy.asked.map(({ line }) => line)).toEqual(['GET http://api.example/v1/models']);
  });

  test('to https asks for a tunnel, in which the certificate is the upstream’s', async () => {
    const proxy = await startProxy(await startUpstream(true));
    const transport = transportWith({ proxies: { httpsProxy: `http://${proxy.host}` } });
    const { outcome } = observe(transport, requestTo('https://api.example', { proxy: 'system' }));
    expect(await outcome).toMatchObject({ status: 200, body: 'api.example/v1/models no proxy header' });
    expect(proxy.asked.map(({ line }) => line)).toEqual(['CONNECT api.example:443']);
    expect((await transport.chainTo('https://api.example', 'system')).hops[0]?.host).toBe(proxy.host);
  });

  test.each([
    ['http', false, 80],
    ['https', true, 443],
  ])('that is for another protocol has a tunnel to %s, too', async (scheme, secure, port) => {
    const proxy = await startProxy(await startUpstream(secure));
    const to = { origin: `${scheme}://api.example`, proxy: `http://${proxy.host}`, timeouts: { connectMs: 10_000 } };
    const socket = await transportWith().connect(to);
    socket.write('GET /hello HTTP/1.1\r\nhost: api.example\r\nconnection: close\r\n\r\n');
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toContain('api.example/hello no proxy header');
    expect(proxy.asked.map(({ line }) => line)).toEqual([`CONNECT api.example:${port}`]);
  });

  test('for another protocol fails where the system names no proxy that can be used', async () => {
    const transport = transportWith({ proxies: { askSystem: async () => 'SOCKS 127.0.0.1:1' } });
    const to = { origin: 'https://api.example', proxy: 'system', timeouts: { connectMs: 10_000 } };
    await expect(transport.connect(to)).rejects.toMatchObject({ fault: 'proxy' });
  });

  test('keeps the tunnel for the next request', async () => {
    const proxy = await startProxy(await startUpstream(true));
    const transport = transportWith();
    for (let round = 0; round < 2; round++) {
      await observe(transport, requestTo('https://api.example', { proxy: `http://${proxy.host}` })).outcome;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(proxy.asked).toHaveLength(1);
  });

  test('that is itself reached over TLS works for http and https', async () => {
    for (const secure of [false, true]) {
      const proxy = await startProxy(await startUpstream(secure), true);
      const origin = secure ? 'https://api.example' : 'http://api.example';
      const { outcome } = observe(transportWith(), requestTo(origin, { proxy: `https://${proxy.host}` }));
      expect(await outcome).toMatchObject({ status: 200, body: 'api.example/v1/models no proxy header' });
    }
  });

  describe('that the operating system names', () => {
    const asking = (answer: string) => transportWith({ proxies: { askSystem: async () => answer } });

    test.each([true, false])('is taken (https: %s)', async (secure) => {
      const proxy = await startProxy(await startUpstream(secure));
      const origin = secure ? 'https://api.example' : 'http://api.example';
      const { outcome } = observe(asking(`PROXY ${proxy.host}`), requestTo(origin, { proxy: 'system' }));
      expect(await outcome).toMatchObject({ status: 200, body: 'api.example/v1/models no proxy header' });
      expect(proxy.asked).toHaveLength(1);
    });

    test('and that cannot be reached, is passed over for the next', async () => {
      const port = await startUpstream(true);
      const proxy = await startProxy(port);
      const dead = `127.0.0.1:${await closedPort()}`;
      const transport = asking(`PROXY ${dead}; PROXY ${proxy.host}`);
      const { outcome } = observe(transport, requestTo('https://api.example', { proxy: 'system' }));
      expect(await outcome).toMatchObject({ status: 200 });
      expect(proxy.asked).toHaveLength(1);
    });

    test('is queried again after a change of the network', async () => {
      const [first, second] = [
        await startProxy(await startUpstream(true)),
        await startProxy(await startUpstream(true)),
      ];
      let answer = `PROXY ${first.host}`;
      const transport = transportWith({ proxies: { askSystem: async () => answer } });
      const request = requestTo('https://api.example', { proxy: 'system' });
      expect((await observe(transport, request).outcome).status).toBe(200);
      answer = `PROXY ${second.host}`;
      transport.leaveConnections();
      expect((await observe(transport, request).outcome).status).toBe(200);
      expect([first.asked.length, second.asked.length]).toEqual([1, 1]);
    });

    test('and is a SOCKS proxy, is reported as such', async () => {
      const request = requestTo('https://api.example', { proxy: 'system' });
      const error = await failureOf(asking('SOCKS5 socks.example:1080'), request);
      expect(error).toMatchObject({ fault: 'proxy', phase: 'connect' });
      expect(error.message).toContain('SOCKS5 socks.example:1080');
    });

    test('is not called any more if the request was aborted in the meantime', async () => {
      const answer = Promise.withResolvers<string>();
      const transport = transportWith({ proxies: { askSystem: () => answer.promise } });
      const { exchange, outcome } = observe(transport, requestTo('https://api.example', { proxy: 'system' }));
      exchange.abort();
      expect((await outcome).error).toMatchObject({ fault: 'aborted' });
      answer.resolve('DIRECT');
      await new Promise((resolve) => setImmediate(resolve));
    });
  });

  test.each([
    ['p%40ss', 'p@ss'],
    // As people write it.
    ['100%', '100%'],
  ])('sends the name and password in its URL to the proxy, and only there: %s', async (written, password) => {
    const expected = `Basic ${Buffer.from(`me:${password}`).toString('base64')}`;
    for (const secure of [false, true]) {
      const proxy = await startProxy(await startUpstream(secure));
      const origin = secure ? 'https://api.example' : 'http://api.example';
      const { outcome } = observe(transportWith(), requestTo(origin, { proxy: `http://me:${written}@${proxy.host}` }));
      expect((await outcome).body).toContain('no proxy header');
      expect(proxy.asked.map(({ authorization }) => authorization)).toEqual([expected]);
    }
  });

  test('is bypassed for what NO_PROXY names, and for loopback', async () => {
    const port = await startUpstream(false);
    const proxy = await startProxy(port);
    const transport = transportWith({ proxies: { httpProxy: `http://${proxy.host}` } });
    const { outcome } = observe(transport, requestTo(`http://127.0.0.1:${port}`, { proxy: 'system' }));
    expect((await outcome).status).toBe(200);
    expect(proxy.asked).toEqual([]);
  });

  describe('fails as `proxy`, with its address and never its password,', () => {
    const through = async (proxy: string, origin: string, connectMs = 30_000) => {
      const timeouts = { connectMs, firstByteMs: 30_000, idleMs: 30_000 };
      const error = await failureOf(transportWith(), requestTo(origin, { proxy: `http://me:hush@${proxy}`, timeouts }));
      expect(error).toMatchObject({ fault: 'proxy', phase: 'connect' });
      expect(error.message).not.toContain('hush');
      return error.message;
    };

    test.each(['http://api.example', 'https://api.example'])('where nobody listens (%s)', async (origin) => {
      const proxy = `127.0.0.1:${await closedPort()}`;
      expect(await through(proxy, origin)).toContain(`proxy ${proxy}: connect ECONNREFUSED`);
    });

    test('where the name of the proxy does not exist', async () => {
      expect(await through(`${unknownHost}:3128`, 'https://api.example')).toContain(`${unknownHost}:3128`);
    });

    test.each([
      ['HTTP/1.1 407 Proxy Authentication Required', 'it asks for a name and password (407)'],
      ['HTTP/1.1 502 Bad Gateway', 'it answered 502 when asked for a connection'],
      ['SSH-2.0-OpenSSH_9.6', 'it did not answer like an HTTP proxy'],
    ])('where it answers %j', async (line, message) => {
      const proxy = await listenRaw((socket) => socket.write(`${line}\r\n\r\n`));
      servers.push(proxy);
      expect(await through(`127.0.0.1:${proxy.port}`, 'https://api.example')).toContain(message);
    });

    test.each([
      ['http', 'HTTP_PROXY'],
      ['https', 'HTTPS_PROXY'],
    ])('where the environment names one for %s that is not a URL', async (scheme, variable) => {
      const proxy = 'http://me:hu#sh@proxy.example:3128';
      const transport = transportWith({ proxies: { httpProxy: proxy, httpsProxy: proxy } });
      const to = { origin: `${scheme}://api.example`, proxy: 'system' };
      const error = await failureOf(transport, requestTo(to.origin, to));
      expect(error).toMatchObject({ fault: 'proxy', phase: 'connect' });
      expect(error.message).toContain(`an ${variable} that is not a URL`);
      expect(await transport.chainTo(to.origin, to.proxy)).toEqual({
        hops: [],
        unusable: [`an ${variable} that is not a URL`],
        by: 'environment',
      });
    });

    test('where it asks for a password for a plain request', async () => {
      const proxy = await listenRaw((socket) => {
        socket.write('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
      });
      servers.push(proxy);
      expect(await through(`127.0.0.1:${proxy.port}`, 'http://api.example')).toContain('name and password (407)');
    });

    test('where it hangs up', async () => {
      const proxy = await listenRaw((socket) => socket.destroy());
      servers.push(proxy);
      expect(await through(`127.0.0.1:${proxy.port}`, 'https://api.example')).toContain('closed');
    });

    test('where it never ends its answer', async () => {
      const proxy = await listenRaw((socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}`));
      servers.push(proxy);
      expect(await through(`127.0.0.1:${proxy.port}`, 'https://api.example')).toContain('too long');
      await expect.poll(() => proxy.sockets.size).toBe(0);
    });

    test('where it does not answer within the limit for a connection', async () => {
      const proxy = await listenRaw(() => {});
      servers.push(proxy);
      const message = await through(`127.0.0.1:${proxy.port}`, 'https://api.example', 150);
      expect(message).toContain('no connection within 150 ms');
    });
  });

  test('fails as `tls`, with the issuer, where the certificate in the tunnel is not trusted', async () => {
    const proxy = await startProxy(await startUpstream(true));
    const request = requestTo('https://api.example', { proxy: `http://${proxy.host}` });
    const error = await failureOf(transportWith({ authorities: trusting() }), request);
    expect(error).toMatchObject({ fault: 'tls', phase: 'connect' });
    expect(error.message).toContain('issued by "Proxy test authority"');
  });
});
