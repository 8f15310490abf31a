import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { CacheRecorder } from '../../../server/exchange/cache/cache-companion.ts';

const comment = Buffer.from(': keep-alive\n\n');

function tapOf(maxBytes: number): CacheRecorder {
  return new CacheRecorder(new ServerResponse(new IncomingMessage(new Socket())), { maxBytes, comment });
}

test('an answer is kept as a copy, without the comments of silence and the headers of its request', () => {
  const tap = tapOf(100);
  tap.begin(200, { 'content-type': 'text/event-stream', 'x-request-id': 'r', 'x-ratelimit-remaining': '1' });
  const bytes = Buffer.from('data: a\n\n');
  tap.take(comment);
  tap.take(bytes);
  bytes.fill(0);
  expect(tap.read()).toEqual({
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: Buffer.from('data: a\n\n'),
  });
});

test('an answer that is too long, and one that is no success, are not kept', () => {
  const [long, failed] = [tapOf(3), tapOf(3)];
  long.begin(200, {});
  for (const piece of ['ab', 'cd']) long.take(Buffer.from(piece));
  failed.begin(500, {});
  failed.take(Buffer.from('no'));
  expect([long.read(), failed.read()]).toEqual([null, null]);
});
