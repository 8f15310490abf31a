import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { yieldToEventLoop } from '../../../../server/ground/promises.ts';
import { StreamedBody, streamedBytes } from '../../../../server/http/body/passthrough-body.ts';

const chunkBytes = 16 * 1024;

/** A client that sends endlessly, as fast as its data is read. */
function endlessRequest() {
  let sent = 0;
  const request = new Readable({
    highWaterMark: chunkBytes,
    read() {
      // Like a socket, it never delivers data within the call.
      setImmediate(() => {
        sent += chunkBytes;
        this.push(Buffer.alloc(chunkBytes));
      });
    },
  });
  Object.assign(request, { headers: { expect: '100-continue' }, httpVersion: '1.1', socket: { bytesRead: 0 } });
  return { request: request as unknown as IncomingMessage, sent: () => sent };
}

function open(maxBytes: number) {
  const { request, sent } = endlessRequest();
  let continues = 0;
  const response = { writeContinue: () => continues++ } as unknown as ServerResponse;
  let broken = 0;
  const bodyBroke = () => broken++;
  const check = { take() {}, end() {} };
  const body = new StreamedBody(request, response, { length: null, maxBytes, contentType: '', bodyBroke, check });
  return { body, sent, told: () => ({ continues, broken, code: body.fault?.code }) };
}

const settled = async () => {
  for (let turn = 0; turn < 100; turn++) await yieldToEventLoop();
};

test('a streamed body is read only once somebody wants it, and no faster than it is taken', async () => {
  const { body, sent, told } = open(Number.POSITIVE_INFINITY);
  await settled();
  expect([body.size, told()]).toEqual([0, { continues: 0, broken: 0, code: undefined }]);
  const stream = (await body.sendable()).open() as Readable;
  stream.on('data', () => stream.pause());
  await settled();
  expect(body.size).toBeGreaterThan(0);
  expect(sent()).toBeLessThanOrEqual(streamedBytes + 4 * chunkBytes);
  const before = body.size;
  stream.resume();
  await settled();
  expect(body.size).toBeGreaterThan(before);
  expect(told()).toEqual({ continues: 1, broken: 0, code: undefined });
  body.dispose();
});

test('a streamed body that grows too long says so once, and takes no more', async () => {
  const { body, told } = open(100 * 1024);
  const stream = (await body.sendable()).open() as Readable;
  stream.resume();
  await settled();
  expect(body.size).toBe(7 * chunkBytes);
  expect(told()).toEqual({ continues: 1, broken: 1, code: 'too_large' });
  body.dispose();
});
