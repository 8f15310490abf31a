import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import express from 'express';
import { expect, test } from 'vitest';
import { receiveMultipart } from '../../../../server/http/body/multipart.ts';
import { readBody } from '../../../../server/http/body/read-body.ts';
import { listen } from '../../transport/harness.ts';
import { field, file, multipart, rawRequest } from './upload-server.ts';

const MEGABYTE = 1024 * 1024;
const unbounded = { reserve() {}, add() {} };
const boundary = 'memory-boundary';

/** The peak memory outside V8's heap during `work`, beyond the amount before. */
async function growthDuring(work: (look: () => void) => Promise<void>): Promise<number> {
  const before = process.memoryUsage().arrayBuffers;
  let most = before;
  await work(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers);
  });
  return most - before;
}

/** Sends the same piece repeatedly, so that the sender itself creates no garbage. */
async function send(port: number, head: string, [first, repeated, last]: [Buffer, Buffer, Buffer], times: number) {
  const length = first.length + repeated.length * times + last.length;
  const { socket, reply } = await rawRequest(port, `${head}\r\nContent-Length: ${length}\r\nConnection: close`);
  socket.write(first);
  for (let time = 0; time < times; time++) if (!socket.write(repeated)) await once(socket, 'drain');
  socket.write(last);
  await once(socket, 'close');
  return reply();
}

test('the buffers of an upload do not wait for the garbage collector, nor do those into which it is read', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-memory-'));
  const app = express();
  const sizes: number[] = [];
  const growth = await growthDuring(async (look) => {
    app.post('/', async (request, response) => {
      const body = await receiveMultipart(request, response, { folder, maxBytes: 256 * MEGABYTE });
      look();
      const opened = body.spool.whole().open();
      if (Buffer.isBuffer(opened)) throw new Error('Not in a file.');
      const sink = new Writable({ highWaterMark: 1, write: (_piece, _encoding, done) => setImmediate(done) });
      await finished(opened.pipe(sink));
      look();
      sizes.push(body.size);
      await body.spool.dispose();
      response.end('received');
    });
    const server = await listen(http.createServer(app));
    const parts = multipart(boundary, [field('model', 'm'), file('file', 'a.wav', '|'), field('prompt', 'p')]);
    const at = parts.indexOf('|');
    const [first, last] = [parts.subarray(0, at), parts.subarray(at + 1)];
    const type = `Content-Type: multipart/form-data; boundary=${boundary}`;
    expect(await send(server.port, type, [first, randomBytes(64 * 1024), last], 640)).toContain('received');
    await server.stop();
  });
  expect(sizes).toEqual([expect.toSatisfy((bytes: number) => bytes > 40 * MEGABYTE)]);
  expect(growth).toBeLessThan(8 * MEGABYTE);
  await rm(folder, { recursive: true });
});

test.each([
  ['of less than a megabyte', 12],
  ['of many', 640],
])('the buffers of a JSON body do not wait either: one %s', async (_what, times) => {
  const piece = randomBytes(64 * 1024);
  let isWhole = false;
  const growth = await growthDuring(async (look) => {
    const server = await listen(
      http.createServer(async (request, response) => {
        const body = await readBody(request, response, { maxBytes: 64 * MEGABYTE, account: unbounded });
        look();
        isWhole = body.equals(Buffer.concat(Array.from({ length: times }, () => piece)));
        response.end('received');
      }),
    );
    const nothing = Buffer.alloc(0);
    const reply = await send(server.port, 'Content-Type: application/json', [nothing, piece, nothing], times);
    expect(reply).toContain('received');
    await server.stop();
  });
  expect(isWhole).toBe(true);
  expect(growth).toBeLessThan(piece.length * times + MEGABYTE / 2);
});
