import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAuthorities } from '../../../server/transport/authorities.ts';
import { createTransport } from '../../../server/transport/create-transport.ts';
import {
  failureOf,
  type ListeningSocketServer,
  listen,
  observe,
  requestTo,
  selfSignedCertificate,
  type TestCertificate,
} from './harness.ts';

let folder: string;
let certificate: TestCertificate;
let server: ListeningSocketServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-authorities-'));
  certificate = selfSignedCertificate('Inside Company');
  server = await listen(https.createServer(certificate, (_request, response) => response.end('ok')));
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a file that is named later, or filled later, counts from then on, without a new start', async () => {
  const path = join(folder, 'late.pem');
  const authorities = createAuthorities(() => ({ system: false, files: [path] }));
  const transport = createTransport({ authorities });
  const request = requestTo(`https://127.0.0.1:${server.port}`);
  const before = authorities.fingerprint();
  expect((await failureOf(transport, request)).message).toContain('issued by "Inside Company"');
  writeFileSync(path, certificate.cert);
  expect(authorities.fingerprint()).not.toBe(before);
  transport.leaveConnections();
  expect((await observe(transport, request).outcome).body).toBe('ok');
  await transport.close();
});

test('a file that is written again has another fingerprint', () => {
  const path = join(folder, 'again.pem');
  const authorities = createAuthorities(() => ({ system: false, files: [path] }));
  writeFileSync(path, certificate.cert);
  const before = authorities.fingerprint();
  utimesSync(path, new Date(0), new Date(0));
  expect(authorities.fingerprint()).not.toBe(before);
});

test('what a file holds, or why it is not used, can be seen; the others count all the same', async () => {
  const [good, empty, broken] = ['good.pem', 'empty.pem', 'broken.pem'].map((name) => join(folder, name));
  writeFileSync(good ?? '', certificate.cert + certificate.cert);
  writeFileSync(empty ?? '', 'no certificate');
  writeFileSync(broken ?? '', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
  const files = [good ?? '', empty ?? '', broken ?? '', join(folder, 'missing.pem')];
  const authorities = createAuthorities(() => ({ system: false, files }));
  expect(await authorities.view()).toEqual({
    system: null,
    problem: null,
    files: [
      { path: good, certificates: 2, problem: null },
      { path: empty, certificates: 0, problem: 'it holds no certificate in PEM form' },
      { path: broken, certificates: 0, problem: expect.any(String) },
      { path: files[3], certificates: 0, problem: 'there is no such file (ENOENT)' },
    ],
  });
  expect(await authorities.secureContext()).not.toBeNull();
});

test('the operating system’s list is read, and not where it is switched off', async () => {
  const expected = tls.getCACertificates('system').length;
  const withSystem = createAuthorities(() => ({ system: true, files: [] }));
  expect(await withSystem.view()).toEqual({ system: expected, problem: null, files: [] });
  const without = createAuthorities(() => ({ system: false, files: [] }));
  expect(await without.view()).toEqual({ system: null, problem: null, files: [] });
  expect(await without.secureContext()).toBeNull();
});
