import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SpoolReader } from '../../../../server/http/body/spool.ts';
import { createTransport } from '../../../../server/transport/create-transport.ts';
import { listen, observe, requestTo, selfSignedCertificate, trusting } from '../../transport/harness.ts';

const bytes = randomBytes(20_000_000);
const inserted = Buffer.from('a new model');
/** Some segments are shorter than a piece and some are longer. The inserted ones are written without a pause. */
const segments = [
  { start: 0, end: 100 },
  inserted,
  { start: 100, end: 5_000_000 },
  Buffer.alloc(0),
  { start: 5_000_010, end: 5_000_010 },
  inserted,
  { start: 5_000_010, end: 20_000_000 },
];
const expected = Buffer.concat([
  bytes.subarray(0, 100),
  inserted,
  bytes.subarray(100, 5_000_000),
  inserted,
  bytes.subarray(5_000_010),
]);

let folder: string;
let path: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-reader-'));
  path = join(folder, 'bytes');
  writeFileSync(path, bytes);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Compares here, so that a failure prints one line instead of megabytes. */
function expectWhole(actual: Buffer): void {
  expect(actual.length).toBe(expected.length);
  expect(actual.equals(expected)).toBe(true);
}

test('a reader that keeps the pieces finds them unchanged', async () => {
  expectWhole(await buffer(new SpoolReader(path, segments)));
});

test('a reader that never pauses finds them unchanged', async () => {
  const pieces: Buffer[] = [];
  const reader = new SpoolReader(path, segments);
  reader.on('data', (piece: Buffer) => pieces.push(piece));
  await finished(reader);
  expectWhole(Buffer.concat(pieces));
});

test('a reader that pauses for each piece gets all of them in one buffer', async () => {
  const range = [{ start: 0, end: bytes.length }];
  const memory = new Set<ArrayBufferLike>();
  const copies: Buffer[] = [];
  const slow = new Writable({
    highWaterMark: 1,
    write(piece: Buffer, _encoding, done) {
      memory.add(piece.buffer);
      // Copied only after other work could run, because nothing may have changed the piece in the meantime.
      setImmediate(() => {
        copies.push(Buffer.from(piece));
        done();
      });
    },
  });
  await finished(new SpoolReader(path, range).pipe(slow));
  expect(Buffer.concat(copies).equals(bytes)).toBe(true);
  expect(memory.size).toBe(1);
});

test.each(['http', 'https'] as const)('an upstream that reads slowly gets every byte (%s)', async (protocol) => {
  const received: Buffer[] = [];
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    request.on('data', (chunk: Buffer) => {
      received.push(chunk);
      request.pause();
      setImmediate(() => request.resume());
    });
    request.on('end', () => response.end('received'));
  };
  const certificate = selfSignedCertificate('Sluice test authority');
  const server = protocol === 'http' ? http.createServer(onRequest) : https.createServer(certificate, onRequest);
  const upstream = await listen(server);
  const transport = createTransport({ authorities: trusting(certificate.cert) });
  const request = requestTo(`${protocol}://127.0.0.1:${upstream.port}`, {
    method: 'POST',
    headers: { 'content-length': String(expected.length) },
    body: new SpoolReader(path, segments),
  });
  expect((await observe(transport, request).outcome).body).toBe('received');
  expectWhole(Buffer.concat(received));
  await transport.close();
  await upstream.stop();
});
