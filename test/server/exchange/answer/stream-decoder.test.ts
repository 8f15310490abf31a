import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sseFraming } from '../../../../server/apis/core/sse-framing.ts';
import { isPackedStream, StreamDecoder } from '../../../../server/exchange/answer/incoming-response.ts';

const headersOf = (encoding: string) => ({ 'content-type': 'text/event-stream', 'content-encoding': encoding });

/** Resolves with the output and the way it ended. */
function open(encoding: string, feed: (decoder: StreamDecoder) => void): Promise<{ text: string; how: string }> {
  return new Promise((resolve) => {
    let text = '';
    const decoder = new StreamDecoder(headersOf(encoding), {
      data: (chunk) => {
        text += chunk.toString();
      },
      end: () => resolve({ text, how: 'ends' }),
      error: ({ fault }) => resolve({ text, how: fault }),
    });
    feed(decoder);
  });
}

const events = 'data: {"n":1}\n\ndata: [DONE]\n\n';
const packed: [string, Buffer][] = [
  ['gzip', gzipSync(events)],
  ['deflate', deflateSync(events)],
  ['br', brotliCompressSync(events)],
  ['GZIP', gzipSync(events)],
  ['x-gzip', gzipSync(events)],
  ['gzip, gzip', gzipSync(gzipSync(events))],
  ['br,deflate', deflateSync(brotliCompressSync(events))],
];

test.each(packed)('a stream compressed with %s is decompressed, however it is split', async (encoding, bytes) => {
  expect(isPackedStream(headersOf(encoding), sseFraming)).toBe(true);
  const opened = await open(encoding, (decoder) => {
    for (const byte of bytes) decoder.push(Buffer.from([byte]));
    decoder.end();
  });
  expect(opened).toEqual({ text: events, how: 'ends' });
});

test('each compressed event is passed on when it arrives, not at the end', async () => {
  const gzip = createGzip();
  const opened: string[] = [];
  const to = { data: (chunk: Buffer) => opened.push(chunk.toString()), end() {}, error() {} };
  const decoder = new StreamDecoder(headersOf('gzip'), to);
  gzip.on('data', (chunk: Buffer) => decoder.push(chunk));
  gzip.write('data: 1\n\n');
  gzip.flush();
  await expect.poll(() => opened).toEqual(['data: 1\n\n']);
  decoder.dispose();
});

test.each(packed.filter(([name]) => name !== 'br'))(
  'a truncated stream compressed with %s is reported as malformed',
  async (encoding, bytes) => {
    const opened = await open(encoding, (decoder) => {
      decoder.push(bytes.subarray(0, bytes.length - 6));
      decoder.end();
    });
    expect(opened.how).toBe('malformed');
  },
);

test.each([
  {},
  { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  headersOf('identity'),
  headersOf('zz'),
])('a response with the headers %j is not decompressed', (headers) =>
  expect(isPackedStream(headers, sseFraming)).toBe(false),
);
