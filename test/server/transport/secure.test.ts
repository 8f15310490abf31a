import { X509Certificate } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createTransport } from '../../../server/transport/create-transport.ts';
import type { Transport } from '../../../server/transport/transport.ts';
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

const closing: { close(): Promise<void> }[] = [];
const servers: ListeningSocketServer[] = [];
let certificate: TestCertificate;

beforeAll(() => {
  certificate = selfSignedCertificate('Sluice test authority');
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});
afterAll(() => Promise.all(closing.map((transport) => transport.close())));

function transportWith(...options: Parameters<typeof createTransport>): Transport {
  const transport = createTransport(...options);
  closing.push(transport);
  return transport;
}

async function serveSecurely(options: https.ServerOptions = certificate): Promise<ListeningSocketServer> {
  const server = await listen(https.createServer(options, (_request, response) => response.end('secret reply')));
  servers.push(server);
  return server;
}

describe('an upstream with a certificate of its own', () => {
  test('is refused, and the failure names the issuer', async () => {
    const upstream = await serveSecurely();
    const error = await failureOf(transportWith(), requestTo(`https://127.0.0.1:${upstream.port}`));
    expect(error).toMatchObject({ fault: 'tls', phase: 'connect' });
    expect(error.message).toContain('issued by "Sluice test authority"');
    expect(error.message).not.toContain('Node.js');
    expect(error.message).toContain('127.0.0.1');
  });

  test('is accepted where its fingerprint is the one that is trusted, for those requests alone', async () => {
    const upstream = await serveSecurely();
    const origin = `https://127.0.0.1:${upstream.port}`;
    const transport = transportWith();
    const { certificate: shown } = await failureOf(transport, requestTo(origin));
    expect(shown).toMatchObject({ issuer: 'Sluice test authority' });
    const trusted = { ...requestTo(origin), certificate: shown?.fingerprint ?? '' };
    expect((await observe(transport, trusted).outcome).body).toBe('secret reply');
    expect(await failureOf(transport, requestTo(origin))).toMatchObject({ fault: 'tls' });
  });

  test('is refused once it shows another than the trusted one, even of a trusted authority, before anything is sent', async () => {
    let requests = 0;
    const other = selfSignedCertificate('Somebody else');
    const server = await listen(https.createServer(other, () => requests++));
    servers.push(server);
    const trusted = new X509Certificate(certificate.cert).fingerprint256;
    const request = { ...requestTo(`https://127.0.0.1:${server.port}`), certificate: trusted };
    for (const transport of [transportWith(), transportWith({ authorities: trusting(other.cert) })]) {
      const error = await failureOf(transport, request);
      expect(error).toMatchObject({ fault: 'tls', certificate: { issuer: 'Somebody else' } });
      expect(error.message).toContain('another certificate than the one that is trusted for it');
    }
    expect(requests).toBe(0);
  });

  test('is sent nothing before it is refused', async () => {
    let requests = 0;
    const server = await listen(https.createServer(certificate, () => requests++));
    servers.push(server);
    await failureOf(transportWith(), requestTo(`https://127.0.0.1:${server.port}`));
    expect(requests).toBe(0);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'is trusted with extraCa, by address and by name (%s)',
    async (version) => {
      const server = https.createServer({ ...certificate, maxVersion: version }, (_request, response) =>
        response.end('ok'),
      );
      const resumed: boolean[] = [];
      server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()));
      const upstream = await listen(server);
      servers.push(upstream);
      const transport = transportWith({ authorities: trusting(certificate.cert) });
      for (const host of ['127.0.0.1', 'localhost']) {
        for (let round = 0; round < 2; round++) {
          const request = requestTo(`https://${host}:${upstream.port}`, { headers: { connection: 'close' } });
          expect((await observe(transport, request).outcome).body).toBe('ok');
        }
      }
      expect(resumed).toEqual([false, true, false, true]);
    },
  );

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'is refused where it is for another name, each time (%s)',
    async (version) => {
      const other = selfSignedCertificate('Elsewhere', 'DNS:elsewhere.example');
      const upstream = await serveSecurely({ ...other, maxVersion: version });
      const transport = transportWith({ authorities: trusting(other.cert) });
      for (const host of ['127.0.0.1', '127.0.0.1', 'localhost', 'localhost']) {
        const error = await failureOf(transport, requestTo(`https://${host}:${upstream.port}`));
        expect(error).toMatchObject({ fault: 'tls', phase: 'connect' });
        expect(error.message).toContain("does not match certificate's altnames");
      }
    },
  );
});

describe('a secure connection', () => {
  test('that is late because the authorities are read slowly fails, and ends nothing else', async () => {
    const upstream = await listenRaw(() => {});
    servers.push(upstream);
    const authorities = { ...trusting(), secureContext: () => sleep(150, null) };
    const timeouts = { connectMs: 50, firstByteMs: 30_000, idleMs: 30_000 };
    // A socket error without a listener would end the process, and this test with it.
    const error = await failureOf(
      transportWith({ authorities }),
      requestTo(`https://127.0.0.1:${upstream.port}`, { timeouts }),
    );
    expect(error).toMatchObject({ fault: 'timeout', phase: 'connect' });
  });

  test('fails as `tls` where the upstream speaks plain HTTP', async () => {
    const upstream = await listen(http.createServer());
    servers.push(upstream);
    const error = await failureOf(transportWith(), requestTo(`https://127.0.0.1:${upstream.port}`));
    expect(error).toMatchObject({ fault: 'tls', phase: 'connect' });
  });

  test('fails as `tls` where the upstream hangs up in the handshake', async () => {
    const upstream = await listenRaw((socket) => socket.destroy());
    servers.push(upstream);
    const error = await failureOf(transportWith(), requestTo(`https://127.0.0.1:${upstream.port}`));
    expect(error).toMatchObject({ fault: 'tls', phase: 'connect' });
  });

  test('does not fail for all after one certificate was refused', async () => {
    const bad = await serveSecurely();
    const transport = transportWith();
    const request = requestTo(`https://127.0.0.1:${bad.port}`);
    const errors = await Promise.all([failureOf(transport, request), failureOf(transport, request)]);
    expect(errors.map((error) => error.fault)).toEqual(['tls', 'tls']);
    expect((await failureOf(transport, request)).fault).toBe('tls');
  });
});
